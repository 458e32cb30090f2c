//! A clean drill to plant defects in.
//!
//! Each of `users` intents is asked for by `threads` attempts that are in flight together; the first
//! one places the order, the others get it again. Times of user n begin at n x 10 ms.

use std::time::Duration;

use dupeproof::audit::{Case, Finding, Gate, Judgement, Verdict, judge};
use dupeproof::codes::Severity;
use dupeproof::history::{
    Attempt, AttemptId, Body, BodyId, Cause, ClockFacts, Constraint, ConstraintKind, Contended,
    DrainFacts, History, InstanceFacts, InstanceId, Intent, IntentId, KeyForm, OrderRow, Outcome,
    PhaseFacts, PhaseId, RunFacts, RunId, RunTime, SCHEMA_VERSION, Sent, Snapshot, StockRow,
};
use dupeproof::profile::{
    Actor, Arrival, Attached, AuditTables, Budget, Burst, ClientSettings, Contract, Crowd,
    LabSettings, Limits, OrdersTable, Phase, Products, Profile, Redis, Release, Retries,
    Statements, StockTable, Target, Wires,
};

/// The wall clock at run time 0, in microseconds since 1970.
pub const STARTED_US: i64 = 1_796_034_667_000_000;
pub const STOCK: i64 = 1_000;
pub const PRODUCT: i64 = 90_000_000_000_000;

#[derive(Clone, Debug)]
pub struct Drill {
    pub profile: Profile,
    pub history: History,
    pub baseline: Snapshot,
    pub before_repair: Option<Snapshot>,
    pub after: Option<Snapshot>,
}

pub fn user(number: u32) -> String {
    format!("u-7c1e-{number:03}")
}

pub fn key(number: u32) -> String {
    format!("k-7c1e-{number:03}")
}

pub fn order_id(number: u32) -> String {
    (1_000 + number).to_string()
}

pub const fn ms(time: u64) -> RunTime {
    RunTime(time * 1_000)
}

impl Drill {
    pub fn clean(users: u32, threads: u32) -> Self {
        let mut drill = Self::empty();
        let mut bodies = Vec::new();
        for number in 0..users {
            drill.add_intent(number, number, 1);
            let at = u64::from(number) * 10;
            for thread in 0..threads {
                let attempt = drill.add_attempt(number, ms(at), ms(at + 2 + u64::from(thread)));
                attempt.cause = Cause::Burst;
                acknowledge(attempt, number);
            }
            drill.after().orders.push(row(number, 1));
            bodies.push(body(number, &format!("{{\"orderId\":\"{}\"}}", order_id(number))));
        }
        drill.history.bodies = bodies.into_iter().map(|body| (body.id, body)).collect();
        drill.history.phases[0].planned = u64::from(users * threads);
        drill.after().stock.get_mut(&PRODUCT.to_string()).unwrap().available -= i64::from(users);
        drill.before_repair = drill.after.clone();
        drill.end();
        drill
    }

    /// A drill that hasn't asked for anything yet.
    pub fn empty() -> Self {
        let mut history = History::new(run());
        history.phases.push(PhaseFacts {
            id: PhaseId(0),
            name: "double click".to_owned(),
            burst: "same-key".to_owned(),
            arrival: "at-once".to_owned(),
            contended: Some(Contended::Key),
            overlap_share: 0.5,
            planned: 0,
            at: RunTime(0),
        });
        for number in 0..2 {
            history.instances.push(InstanceFacts {
                id: InstanceId(number),
                name: format!("orders-{}", number + 1),
                url: format!("http://127.0.0.1:{}", 8080 + number),
            });
        }
        history.sealed = true;
        history.clock = Some(ClockFacts { at: RunTime(60_000_000), drift_us: 900 });
        let stock = StockRow { available: STOCK, fence: None };
        let baseline = Snapshot {
            schema_version: 1,
            stock: [(PRODUCT.to_string(), stock)].into(),
            constraints: vec![unique_index(false), stock_check()],
            ..Snapshot::default()
        };
        let after = Some(baseline.clone());
        Self { profile: profile(), history, baseline, before_repair: None, after }
    }

    /// Puts drain and final audit behind the last attempt.
    pub fn end(&mut self) {
        let last = self.history.attempts.iter().filter_map(|attempt| attempt.completed).max();
        let last = last.unwrap_or_default();
        self.history.drains = vec![DrainFacts {
            began: last,
            ended: last.plus(Duration::from_millis(100)),
            drained: true,
            about: "nothing left".to_owned(),
        }];
        if let Some(before) = &mut self.before_repair {
            before.taken = last.plus(Duration::from_millis(150));
        }
        if let Some(after) = &mut self.after {
            after.taken = last.plus(Duration::from_millis(200));
        }
    }

    pub fn add_intent(&mut self, user_number: u32, key_number: u32, quantity: u32) -> IntentId {
        let id = IntentId(self.history.intents.len() as u32);
        self.history.intents.push(Intent {
            id,
            phase: PhaseId(0),
            user: user(user_number),
            key: key(key_number),
            product: PRODUCT,
            quantity,
            fingerprint: format!("{PRODUCT}/{quantity}"),
            request: "place".to_owned(),
            entity: None,
            key_form: KeyForm::Good,
        });
        id
    }

    /// An attempt that was sent as a whole and whose outcome is unknown.
    pub fn add_attempt(&mut self, intent: u32, begin: RunTime, end: RunTime) -> &mut Attempt {
        let id = AttemptId(self.history.attempts.len() as u32);
        self.history.attempts.push(Attempt {
            id,
            intent: IntentId(intent),
            cause: Cause::Retry,
            instance: InstanceId((id.0 % 2) as u16),
            variant: None,
            planned: None,
            sent: Sent::Whole,
            first_byte: Some(begin),
            last_byte: Some(begin),
            released: Some(begin),
            completed: Some(end),
            outcome: Outcome::Unknown,
            status: None,
            body: None,
            order: None,
            replay_marker: None,
            waiting: None,
            refusal: None,
            failure: Some("timeout".into()),
        });
        self.history.attempts.last_mut().unwrap()
    }

    pub fn after(&mut self) -> &mut Snapshot {
        self.after.as_mut().unwrap()
    }

    pub fn available(&mut self) -> &mut i64 {
        &mut self.after().stock.get_mut(&PRODUCT.to_string()).unwrap().available
    }

    /// Adds an order that holds stock, and takes the stock.
    pub fn add_order(&mut self, row: OrderRow) {
        *self.available() -= row.quantity.unwrap_or(0);
        self.after().orders.push(row);
    }

    pub fn case(&self) -> Case<'_> {
        Case {
            profile: &self.profile,
            history: &self.history,
            baseline: &self.baseline,
            before_repair: self.before_repair.as_ref(),
            after: self.after.as_ref(),
        }
    }

    pub fn judge(&self) -> Judgement {
        judge(&self.case())
    }
}

/// Makes an attempt an acknowledgement of an order.
pub fn acknowledge(attempt: &mut Attempt, number: u32) {
    attempt.outcome = Outcome::Acknowledged;
    attempt.status = Some(201);
    attempt.body = Some(BodyId(number));
    attempt.order = Some(order_id(number).into());
    attempt.failure = None;
}

pub fn refuse(attempt: &mut Attempt, status: u16, why: &str) {
    attempt.outcome = Outcome::Refused;
    attempt.status = Some(status);
    attempt.refusal = Some(why.into());
    attempt.failure = None;
    (attempt.order, attempt.body) = (None, None);
}

pub fn put_off(attempt: &mut Attempt) {
    attempt.outcome = Outcome::Pending;
    attempt.status = Some(202);
    attempt.failure = None;
    (attempt.order, attempt.body) = (None, None);
}

pub fn forget(attempt: &mut Attempt) {
    attempt.outcome = Outcome::Unknown;
    attempt.failure = Some("connection reset".into());
    (attempt.status, attempt.order, attempt.body) = (None, None, None);
}

pub fn row(number: u32, quantity: i64) -> OrderRow {
    OrderRow {
        id: order_id(number).into(),
        user: Some(user(number).into()),
        key: Some(key(number).into()),
        product: Some(PRODUCT.to_string().into()),
        quantity: Some(quantity),
        fingerprint: None,
        status: Some("CREATED".into()),
        created_us: Some(STARTED_US + i64::from(number) * 10_000 + 1_000),
        paid_us: None,
        closed_us: None,
    }
}

pub fn body(number: u32, text: &str) -> Body {
    Body {
        id: BodyId(number),
        text: text.to_owned(),
        sha256: format!("sha-of-{text}"),
        bytes: text.len() as u64,
    }
}

pub fn unique_index(partial: bool) -> Constraint {
    Constraint {
        table: "orders".to_owned(),
        name: "orders_one_per_key".to_owned(),
        kind: ConstraintKind::Unique,
        columns: vec!["user_id".to_owned(), "idempotency_key".to_owned()],
        definition: "CREATE UNIQUE INDEX ...".to_owned(),
        partial,
        nullable: Vec::new(),
    }
}

pub fn stock_check() -> Constraint {
    Constraint {
        table: "product_stock".to_owned(),
        name: "product_stock_available_check".to_owned(),
        kind: ConstraintKind::Check,
        columns: Vec::new(),
        definition: "CHECK ((available >= 0))".to_owned(),
        partial: false,
        nullable: Vec::new(),
    }
}

pub fn ids(judgement: &Judgement) -> Vec<&'static str> {
    judgement.findings.iter().map(|finding| finding.code.id).collect()
}

/// The only finding, which must have this id.
pub fn only<'a>(judgement: &'a Judgement, id: &str) -> &'a Finding {
    assert_eq!(ids(judgement), [id], "{judgement:#?}");
    &judgement.findings[0]
}

pub fn gate<'a>(judgement: &'a Judgement, id: &str) -> &'a Gate {
    judgement.gates.iter().find(|gate| gate.code.id == id).unwrap()
}

/// The ids of all doubts.
pub fn doubts(judgement: &Judgement) -> Vec<&str> {
    judgement.doubts.iter().map(|doubt| doubt.code.as_str()).collect()
}

/// Asserts that a drill is inconclusive for this one reason.
pub fn assert_doubted(drill: &Drill, id: &str) -> String {
    let judgement = drill.judge();
    assert_eq!(doubts(&judgement), [id], "{judgement:#?}");
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
    judgement.doubts[0].what.clone()
}

pub fn loud(judgement: &Judgement) -> Vec<&Finding> {
    judgement.findings.iter().filter(|it| it.severity > Severity::Protected).collect()
}

fn run() -> RunFacts {
    RunFacts {
        schema_version: SCHEMA_VERSION,
        run: RunId::from_bits(0x7c1e),
        seed: 42,
        version: "0.1.0".to_owned(),
        profile: "checkout.toml".to_owned(),
        started: jiff::Timestamp::from_microsecond(STARTED_US).unwrap(),
        defects: Vec::new(),
        environment: std::collections::BTreeMap::new(),
    }
}

fn profile() -> Profile {
    Profile {
        head: Vec::new(),
        path: "checkout.toml".into(),
        title: None,
        seed: 42,
        lab: LabSettings {
            instances: 2,
            defects: Vec::new(),
            idempotency: "redis+postgres",
            redis_down: "arbitrate",
            lock: "redis",
            lock_per: "product",
            lease_kind: "plain",
            begin: "after-lock",
            isolation: "read-committed",
            one_order_per: "key",
            pool_size: 10,
            stock: "conditional",
            lock_poll: Duration::from_millis(5),
            lock_wait: Duration::ZERO,
            lease: Duration::from_secs(3),
            processing_lease: None,
            owners_at_most: 3,
            record_ttl: Duration::from_secs(86_400),
            token_ttl: Duration::from_secs(600),
            redis_timeout: Duration::from_secs(5),
            work_time: Duration::ZERO,
            order_window: None,
            proxies: true,
            payments: None,
        },
        // One that others use too, unless a test says otherwise.
        target: Target::Attached(Attached { urls: Vec::new(), ready: None }),
        postgres: None,
        redis: Redis::default(),
        payments: None,
        wires: Wires::default(),
        actor: Actor::default(),
        allow_hosts: Vec::new(),
        setup: Statements::default(),
        teardown: Statements::default(),
        products: Products { count: 1, stock: STOCK as u32 },
        contract: Contract::order_strict(),
        client: ClientSettings {
            timeout: Duration::from_secs(2),
            connect_timeout: Duration::from_secs(1),
            longest_reply: 1 << 20,
            retries: Retries {
                at_most: 3,
                first_wait: Duration::from_millis(50),
                longest_wait: Duration::from_secs(1),
            },
        },
        requests: Vec::new(),
        audit: AuditTables {
            orders: orders_table(),
            stock: Some(stock_table()),
            movements: None,
            sql: Vec::new(),
        },
        phases: vec![Phase {
            name: "double click".to_owned(),
            burst: Burst::SameKey(Crowd {
                arrival: Arrival::AtOnce,
                users: 1,
                threads: 2,
                quantity: 1,
                request: 0,
                release: Release::Frozen,
                overlap_share: 0.5,
            }),
            faults: Vec::new(),
        }],
        budget: Budget::default(),
        limits: Limits { drain: Duration::from_secs(10), quiet: Duration::from_millis(200) },
        published: None,
    }
}

fn orders_table() -> OrdersTable {
    let column = |name: &str| Some(name.to_owned());
    OrdersTable {
        table: "orders".to_owned(),
        id: "order_id".to_owned(),
        user: column("user_id"),
        key: column("idempotency_key"),
        product: column("product_id"),
        quantity: column("quantity"),
        fingerprint: None,
        status: column("status"),
        created: column("created_at"),
        sold: vec!["CREATED".to_owned(), "PAID".to_owned()],
        paid_at: None,
        closed_at: None,
    }
}

fn stock_table() -> StockTable {
    StockTable {
        table: "product_stock".to_owned(),
        product: "product_id".to_owned(),
        available: "available".to_owned(),
        fence: None,
    }
}
