//! What proxies would have written down of the reference shop, step by step: the correct one with each
//! of its strategies, and each defect that can be seen on the wire.

use std::time::Duration;

use dupeproof::history::{
    InstanceId, IntentId, LinkFacts, LinkId, Role, RunTime, Standing, StatementFacts, StatementId,
    Step, StepEnd, Wire, WireFacts,
};

use crate::fixture::{Drill, PRODUCT, ms};

macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("../../src/shop/sql/", $name, ".sql"))
    };
}
pub(crate) use sql;

pub const LEASE_MS: u64 = 3_000;
/// How far apart the requests of a drill begin.
pub const APART_MS: u64 = 10_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lock {
    #[default]
    Fenced,
    /// By `SET NX PX`, without a fence.
    Alone,
    Reentrant,
    Advisory,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stock {
    #[default]
    Conditional,
    Version,
    ForUpdate,
    /// D29.
    ReadThenWrite,
    /// D35.
    ForUpdateOutside,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unlock {
    #[default]
    Script,
    PlainDel,
    GetThenDel,
}

/// A shop, correct unless told otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Shop {
    pub lock: Lock,
    pub stock: Stock,
    pub unlock: Unlock,
    /// D01.
    pub unlocks_early: bool,
    /// D04.
    pub setnx: bool,
    /// D06.
    pub constant_token: bool,
    pub lease_ms: u64,
    pub work_ms: u64,
    pub renewals: Renewals,
    pub begins_before_lock: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewals {
    /// Every third of a term, by token.
    Good,
    /// D07.
    WithoutToken,
    /// Answered 0, and nobody looks (D09).
    Refused,
    Unanswered,
    None,
}

impl Default for Shop {
    fn default() -> Self {
        Self {
            lock: Lock::default(),
            stock: Stock::default(),
            unlock: Unlock::default(),
            unlocks_early: false,
            setnx: false,
            constant_token: false,
            lease_ms: LEASE_MS,
            work_ms: 1,
            renewals: Renewals::Good,
            begins_before_lock: false,
        }
    }
}

/// A drill of single requests, each alone in its ten seconds, watched by two wires.
pub fn watched(requests: u32) -> Drill {
    let mut drill = Drill::clean(requests, 1);
    drill.history.phases[0].contended = None;
    for (number, attempt) in drill.history.attempts.iter_mut().enumerate() {
        let begin = ms(number as u64 * APART_MS);
        (attempt.first_byte, attempt.last_byte, attempt.released) =
            (Some(begin), Some(begin), Some(begin));
        attempt.completed = Some(begin.plus(Duration::from_millis(APART_MS - 1)));
    }
    drill.end();
    for (number, wire) in [Wire::Redis, Wire::Postgres].into_iter().enumerate() {
        drill.history.links.push(link(number as u32, wire, None));
        drill.history.wires.push(wire_facts(wire));
    }
    drill
}

pub fn link(id: u32, wire: Wire, instance: Option<u16>) -> LinkFacts {
    LinkFacts {
        id: LinkId(id),
        wire,
        instance: instance.map(InstanceId),
        driver: None,
        backend: None,
        opened: RunTime(0),
    }
}

pub fn wire_facts(wire: Wire) -> WireFacts {
    WireFacts {
        wire,
        links: 1,
        steps: 10,
        of_the_run: 5,
        noise: 0,
        unnamed: std::collections::BTreeMap::new(),
        unread: 0,
        refused: 0,
        unreached: 0,
        lost: 0,
    }
}

/// A drill of `requests` to this shop, one after the other.
pub fn served_by(shop: Shop, requests: u32) -> Drill {
    let mut drill = watched(requests);
    for number in 0..requests {
        shop.serve(&mut Hand::new(&mut drill, number));
    }
    drill
}

/// Writes down the steps of one request after the other, each as if it took 200 us.
pub struct Hand<'d> {
    pub drill: &'d mut Drill,
    pub intent: u32,
    pub now: u64,
    pub links: [u32; 2],
    transaction: Option<u32>,
    transactions: u32,
}

impl<'d> Hand<'d> {
    /// Begins a millisecond after the first byte of an intent's attempt.
    pub fn new(drill: &'d mut Drill, intent: u32) -> Self {
        let now = (u64::from(intent) * APART_MS + 1) * 1_000;
        let transactions = 100 * intent;
        Self { drill, intent, now, links: [0, 1], transaction: None, transactions }
    }

    /// A step that names the intent.
    pub fn step(&mut self, wire: Wire, verb: &str, object: &str, answer: &str) -> &mut Step {
        let link = self.links[usize::from(wire == Wire::Postgres)];
        let asked = self.now;
        self.now += 400;
        let at = |after| Some(RunTime(asked + after));
        let is_sql = wire == Wire::Postgres;
        let standing = if self.transaction.is_some() { Standing::Open } else { Standing::Idle };
        self.drill.history.steps.push(Step {
            wire,
            link: LinkId(link),
            verb: verb.into(),
            object: (!object.is_empty()).then(|| object.into()),
            subject: (!object.is_empty()).then(|| object.into()),
            statement: None,
            role: None,
            intent: Some(IntentId(self.intent)),
            product: None,
            transaction: self.transaction.filter(|_| is_sql),
            standing: is_sql.then_some(standing),
            token: None,
            lease_ms: None,
            compares: false,
            resent: false,
            asked: RunTime(asked),
            held: None,
            forwarded: at(10),
            answered: at(200),
            delivered: at(210),
            end: StepEnd::Done,
            answer: Some(answer.into()),
        });
        self.drill.history.steps.last_mut().unwrap()
    }

    /// A step on the product's lock, which names the product alone.
    pub fn on_lock(&mut self, verb: &str, script: &str, role: Role, answer: &str) -> &mut Step {
        let step = self.step(Wire::Redis, verb, "lock:stock", answer);
        step.object = Some(format!("{script} lock:stock").trim_start().into());
        step.subject = Some(lock_key().into());
        (step.role, step.intent, step.product) = (Some(role), None, Some(PRODUCT));
        step
    }

    pub fn sql(&mut self, text: &str, role: Option<Role>, answer: &str) -> &mut Step {
        let statements = &mut self.drill.history.statements;
        let place = statements.iter().position(|it| it.sql == text).unwrap_or_else(|| {
            let id = StatementId(statements.len() as u32);
            statements.push(StatementFacts { id, sql: text.to_owned() });
            statements.len() - 1
        });
        let verb = text.split_whitespace().next().unwrap().to_owned();
        let table = ["product_stock", "stock_movements", "orders"];
        let object = table.into_iter().find(|table| text.contains(table)).unwrap_or_default();
        let step = self.step(Wire::Postgres, &verb, object, answer);
        (step.statement, step.role) = (Some(StatementId(place as u32)), role);
        if object == "product_stock" {
            (step.intent, step.product) = (None, Some(PRODUCT));
        }
        step
    }

    pub fn begin_with(&mut self, text: &str) {
        self.transactions += 1;
        self.transaction = Some(self.transactions);
        self.sql(text, None, "BEGIN").intent = None;
    }

    pub fn begin(&mut self) {
        self.begin_with("BEGIN ISOLATION LEVEL READ COMMITTED");
    }

    pub fn end(&mut self, text: &str) -> &mut Step {
        let role = (text == "COMMIT").then_some(Role::Commit);
        let step = self.sql(text, role, text);
        (step.intent, step.standing) = (None, Some(Standing::Idle));
        self.transaction = None;
        self.drill.history.steps.last_mut().unwrap()
    }
}

pub fn lock_key() -> String {
    format!("lock:stock:{PRODUCT}")
}

impl Shop {
    /// Places one order.
    pub fn serve(self, hand: &mut Hand<'_>) {
        let token = if self.constant_token { 7 } else { 1_000 + u64::from(hand.intent) };
        hand.step(Wire::Redis, "EVALSHA", "claim idem:orders", "nil").role = Some(Role::Claim);
        if self.begins_before_lock {
            hand.begin();
        }
        self.take(hand, token);
        if !self.begins_before_lock {
            hand.begin();
        }
        if self.lock == Lock::Reentrant {
            self.grant(hand, token);
        }
        self.take_stock(hand);
        if self.lock == Lock::Reentrant {
            self.release(hand, token, "1");
        }
        hand.sql(sql!("insert_order"), Some(Role::OrderInsert), "INSERT 0 1");
        hand.sql(sql!("insert_movement"), None, "INSERT 0 1");
        self.work(hand, token);
        let is_over = self.lease_ms < self.work_ms && self.renewals == Renewals::None;
        let removed = if is_over || self.renewals == Renewals::Refused { "0" } else { "1" };
        if self.unlocks_early {
            self.release(hand, token, removed);
            hand.end("COMMIT");
        } else {
            hand.end("COMMIT");
            self.release(hand, token, removed);
        }
        hand.step(Wire::Redis, "EVALSHA", "succeed idem:orders", "1").role = Some(Role::Success);
    }

    fn take(self, hand: &mut Hand<'_>, token: u64) {
        if self.setnx {
            hand.on_lock("SETNX", "", Role::Lock, "1").token = Some(token);
            let term = hand.on_lock("PEXPIRE", "", Role::Renew, "1");
            term.lease_ms = Some(self.lease_ms);
            hand.on_lock("EVALSHA", "draw", Role::Fence, "41").token = Some(token);
            return;
        }
        self.grant(hand, token);
    }

    fn grant(self, hand: &mut Hand<'_>, token: u64) {
        let step = match self.lock {
            Lock::Fenced => hand.on_lock("EVALSHA", "grant", Role::Lock, "41"),
            Lock::Reentrant => hand.on_lock("EVALSHA", "enter", Role::Lock, "41"),
            Lock::Alone => hand.on_lock("SET", "", Role::Lock, "OK"),
            Lock::Advisory => {
                hand.sql("SELECT pg_try_advisory_lock($1)", Some(Role::Lock), "SELECT 1");
                return;
            }
        };
        (step.token, step.lease_ms) = (Some(token), Some(self.lease_ms));
    }

    fn release(self, hand: &mut Hand<'_>, token: u64, answer: &str) {
        match (self.lock, self.unlock) {
            (Lock::Advisory, _) => {
                hand.sql("SELECT pg_advisory_unlock($1)", Some(Role::Unlock), "SELECT 1");
                return;
            }
            (_, Unlock::PlainDel) => {
                hand.on_lock("DEL", "", Role::Unlock, answer);
                return;
            }
            (_, Unlock::GetThenDel) => {
                hand.on_lock("GET", "", Role::Unlock, "token").role = None;
                hand.on_lock("DEL", "", Role::Unlock, answer);
                return;
            }
            (_, Unlock::Script) => {}
        }
        let script = if self.lock == Lock::Reentrant { "leave" } else { "unlock" };
        let step = hand.on_lock("EVALSHA", script, Role::Unlock, answer);
        (step.token, step.compares) = (Some(token), true);
    }

    fn take_stock(self, hand: &mut Hand<'_>) {
        let write = Some(Role::StockWrite);
        let read = Some(Role::StockRead);
        match self.stock {
            Stock::Conditional => {
                hand.sql(sql!("take_stock"), write, "UPDATE 1");
            }
            Stock::Version => {
                hand.sql(sql!("read_stock"), read, "SELECT 1");
                hand.sql(sql!("take_stock_of_version"), write, "UPDATE 0");
                hand.sql(sql!("read_stock"), read, "SELECT 1");
                hand.sql(sql!("take_stock_of_version"), write, "UPDATE 1");
            }
            Stock::ForUpdate => {
                hand.sql(sql!("read_stock_for_update"), read, "SELECT 1");
                hand.sql(sql!("take_stock"), write, "UPDATE 1");
            }
            Stock::ReadThenWrite => {
                hand.sql(sql!("read_stock"), read, "SELECT 1");
                hand.sql(sql!("write_stock"), write, "UPDATE 1");
            }
            Stock::ForUpdateOutside => {
                hand.end("ROLLBACK");
                hand.sql(sql!("read_stock_for_update"), read, "SELECT 1");
                hand.begin();
                hand.sql(sql!("write_stock"), write, "UPDATE 1");
            }
        }
    }

    fn work(self, hand: &mut Hand<'_>, token: u64) {
        let end = hand.now + self.work_ms * 1_000;
        let pause = self.lease_ms * 1_000 / 3;
        while self.renewals != Renewals::None && hand.now + pause < end {
            hand.now += pause;
            self.renew(hand, token);
        }
        hand.now = end;
    }

    fn renew(self, hand: &mut Hand<'_>, token: u64) {
        let step = match self.renewals {
            Renewals::WithoutToken => hand.on_lock("PEXPIRE", "", Role::Renew, "1"),
            _ => hand.on_lock("EVALSHA", "renew", Role::Renew, "1"),
        };
        step.lease_ms = Some(self.lease_ms);
        if self.renewals != Renewals::WithoutToken {
            (step.token, step.compares) = (Some(token), true);
        }
        match self.renewals {
            Renewals::Refused => step.answer = Some("0".into()),
            Renewals::Unanswered => {
                (step.end, step.answer, step.answered, step.delivered) =
                    (StepEnd::Unanswered, None, None, None);
            }
            _ => {}
        }
    }
}
