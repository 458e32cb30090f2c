//! Random drills against a simulated order service, correct unless told otherwise.
//!
//! Time is simulated, event by event, so every interleaving that it produces is one that a real
//! service could produce: replies and requests get lost, requests arrive after their client has given
//! up, work fails and rolls back, commits and then fails to answer, sells out, waits for a lease that
//! another key holds, is killed in the middle and taken over.

use std::collections::{BTreeMap, BinaryHeap, HashMap};

use dupeproof::history::{
    Attempt, BodyId, Cause, Exit, InstanceId, OrderRow, Outcome, RunTime, Sent,
};
use dupeproof::profile::BusinessColumn;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::fixture::{Drill, PRODUCT, STARTED_US, body, forget, key, put_off, refuse, user};
use crate::shape::{Defects, Shape};

const CLIENT_TIMEOUT: u64 = 60_000;
const LEASE: u64 = 80_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Crash,
    Send(usize),
    Arrive(usize),
    Finish(usize),
}

#[derive(Clone, Debug)]
enum Record {
    InProgress { owner: Option<usize>, intent: u32, until: u64 },
    Done { order: String, body: BodyId, intent: u32 },
}

struct World {
    rng: ChaCha8Rng,
    shape: Shape,
    defects: Defects,
    drill: Drill,
    /// Soonest first, ties in the order in which they were planned.
    events: BinaryHeap<std::cmp::Reverse<(u64, u64, Event)>>,
    planned: u64,
    records: HashMap<(u32, u32), Record>,
    /// Who holds the product's lease, and until when.
    lease: Option<(usize, u64)>,
    stock: i64,
    retries: BTreeMap<u32, u32>,
    orders: u32,
    bodies: u32,
    seats: Vec<(u32, u32)>,
    calm: bool,
    now: u64,
}

/// Runs a drill to its end, the resolver included.
pub fn simulate(seed: u64, shape: Shape, defects: Defects) -> Drill {
    let mut drill = Drill::empty();
    drill.history.phases[0].contended = None;
    if shape.per_user {
        drill.profile.contract.one_order_per = vec![BusinessColumn::User];
    }
    for snapshot in [Some(&mut drill.baseline), drill.after.as_mut()].into_iter().flatten() {
        snapshot.stock.get_mut(&PRODUCT.to_string()).unwrap().available = shape.stock;
    }
    let mut world = World {
        rng: ChaCha8Rng::seed_from_u64(seed),
        shape,
        defects,
        drill,
        events: BinaryHeap::new(),
        planned: 0,
        records: HashMap::new(),
        lease: None,
        stock: shape.stock,
        retries: BTreeMap::new(),
        orders: 0,
        bodies: 0,
        seats: Vec::new(),
        calm: false,
        now: 0,
    };
    world.plan_burst();
    world.run();
    world.resolve();
    world.finish()
}

impl World {
    fn chance(&mut self, share: f64) -> bool {
        !self.calm && self.rng.random_bool(share)
    }

    fn at(&mut self, time: u64, event: Event) {
        assert!(time >= self.now, "nothing is planned for the past");
        self.planned += 1;
        self.events.push(std::cmp::Reverse((time, self.planned, event)));
    }

    fn plan_burst(&mut self) {
        for number in 0..self.shape.users {
            let keys = if self.shape.per_user { 2 } else { 1 };
            let mut intents = Vec::new();
            for which in 0..keys {
                intents.push(self.intent(number, number + which * 500, 1));
            }
            if self.shape.mutated > 0.0 && !self.shape.per_user {
                intents.push(self.intent(number, number, 2));
            }
            let begin = self.rng.random_range(0..40_000);
            for thread in 0..self.shape.threads {
                let changed = self.chance(self.shape.mutated) && intents.len() > 1;
                let spread = self.shape.per_user && thread % 2 == 1;
                let intent = intents[usize::from(changed || spread)];
                let time = begin + self.rng.random_range(0..12_000);
                let attempt = self.attempt(intent, Cause::Burst);
                self.at(time, Event::Send(attempt));
            }
        }
        let planned = self.drill.history.attempts.len() as u64;
        self.drill.history.phases[0].planned = planned;
        if self.shape.crash {
            let time = self.rng.random_range(5_000..60_000);
            self.at(time, Event::Crash);
        }
    }

    fn intent(&mut self, user_number: u32, key_number: u32, quantity: u32) -> u32 {
        self.seats.push((user_number, key_number));
        self.drill.add_intent(user_number, key_number, quantity).0
    }

    fn attempt(&mut self, intent: u32, cause: Cause) -> usize {
        let attempt = self.drill.add_attempt(intent, RunTime(0), RunTime(0));
        attempt.cause = cause;
        self.drill.history.attempts.len() - 1
    }

    fn run(&mut self) {
        while let Some(std::cmp::Reverse((time, _, event))) = self.events.pop() {
            self.now = time;
            match event {
                Event::Send(attempt) => self.send(attempt),
                Event::Arrive(attempt) => self.arrive(attempt),
                Event::Finish(attempt) => self.commit(attempt),
                Event::Crash => self.crash(),
            }
        }
    }

    fn send(&mut self, at: usize) {
        let (now, not_sent) = (self.now, self.chance(self.shape.trouble * 0.3));
        let intent = self.drill.history.attempts[at].intent.0;
        let attempt = &mut self.drill.history.attempts[at];
        attempt.first_byte = Some(RunTime(now));
        (attempt.last_byte, attempt.released) = (attempt.first_byte, attempt.first_byte);
        attempt.completed = Some(RunTime(now + CLIENT_TIMEOUT));
        if not_sent {
            (attempt.outcome, attempt.sent) = (Outcome::NotSent, Sent::Nothing);
            (attempt.first_byte, attempt.released, attempt.last_byte) = (None, None, None);
            attempt.completed = Some(RunTime(now + 100));
            return self.retry(at, intent);
        }
        if self.chance(self.shape.trouble) {
            return self.retry(at, intent); // The request is lost on its way.
        }
        let late = self.chance(self.shape.trouble * 0.5);
        let delay = if late { CLIENT_TIMEOUT + 20_000 } else { self.rng.random_range(50..2_000) };
        self.at(now + delay, Event::Arrive(at));
        if late {
            self.retry(at, intent);
        }
    }

    /// Plans the client's next try, after it has given up on this one or was put off.
    fn retry(&mut self, at: usize, intent: u32) {
        let done = self.retries.entry(intent).or_default();
        if self.calm || *done >= 3 {
            return;
        }
        *done += 1;
        let end = self.drill.history.attempts[at].completed.unwrap_or_default().0;
        let next = self.attempt(intent, Cause::Retry);
        let wait = self.rng.random_range(1_000..30_000);
        self.at(end + wait, Event::Send(next));
    }

    /// What a record is kept for: the key, or the user under a business key.
    fn subject(&self, intent: u32) -> (u32, u32) {
        let (user, key) = self.seats[intent as usize];
        if self.shape.per_user { (user, 0) } else { (user, key) }
    }

    fn arrive(&mut self, at: usize) {
        let intent = self.drill.history.attempts[at].intent.0;
        if self.chance(self.shape.trouble * 0.2) {
            return self.answer(at, |attempt| refuse(attempt, 429, "shed"));
        }
        let subject = self.subject(intent);
        let differs = |other: u32, world: &Self| {
            let print = |intent: u32| &world.drill.history.intents[intent as usize].fingerprint;
            print(other) != print(intent) && !world.defects.no_fingerprint
        };
        match self.records.get(&subject).cloned() {
            Some(Record::InProgress { intent: other, until, .. }) if until > self.now => {
                if differs(other, self) {
                    self.answer(at, |attempt| refuse(attempt, 409, "mismatch"));
                } else {
                    self.answer(at, put_off);
                }
            }
            Some(Record::Done { intent: other, .. }) if differs(other, self) => {
                self.answer(at, |attempt| refuse(attempt, 409, "mismatch"));
            }
            Some(Record::Done { order, body, .. }) if !self.defects.second_order => {
                let body = if self.defects.other_body { self.body(&order, "again") } else { body };
                self.answer(at, |attempt| told(attempt, order, body));
            }
            _ => self.claim(at, subject),
        }
    }

    fn claim(&mut self, at: usize, subject: (u32, u32)) {
        if self.lease.is_some_and(|(_, until)| until > self.now) {
            return self.answer(at, put_off); // The claim is given up again.
        }
        let until = self.now + LEASE;
        self.lease = Some((at, until));
        let intent = self.drill.history.attempts[at].intent.0;
        self.records.insert(subject, Record::InProgress { owner: Some(at), intent, until });
        let work = self.rng.random_range(200..3_000);
        self.at(self.now + work, Event::Finish(at));
    }

    fn commit(&mut self, at: usize) {
        let intent = self.drill.history.attempts[at].intent.0;
        let subject = self.subject(intent);
        let owns = |record: Option<&Record>| match record {
            Some(Record::InProgress { owner, .. }) => *owner == Some(at),
            _ => false,
        };
        if !owns(self.records.get(&subject)) {
            return; // Its instance was killed.
        }
        self.lease = None;
        let quantity = i64::from(self.drill.history.intents[intent as usize].quantity);
        if self.stock < quantity {
            self.records.remove(&subject);
            return self.answer(at, |attempt| refuse(attempt, 422, "business"));
        }
        if self.chance(self.shape.trouble) {
            self.records.remove(&subject);
            return self.fail(at); // Rolled back.
        }
        let order = self.place_order(intent, quantity);
        let body = self.body(&order, "first");
        self.records.insert(subject, Record::Done { order: order.clone(), body, intent });
        if self.chance(self.shape.trouble) {
            return self.fail(at); // Committed, and then an error.
        }
        self.answer(at, |attempt| told(attempt, order, body));
    }

    fn place_order(&mut self, intent: u32, quantity: i64) -> String {
        self.orders += 1;
        let (user_number, key_number) = self.seats[intent as usize];
        let id = format!("{}", 5_000 + self.orders);
        if !(self.defects.stock_kept && self.orders.is_multiple_of(2)) {
            self.stock -= quantity;
        }
        if self.defects.lost_order && self.orders.is_multiple_of(2) {
            self.stock += quantity;
            return id;
        }
        self.drill.after().orders.push(OrderRow {
            id: id.as_str().into(),
            user: Some(user(user_number).into()),
            key: Some(key(key_number).into()),
            product: Some(PRODUCT.to_string().into()),
            quantity: Some(quantity),
            fingerprint: None,
            status: Some("CREATED".into()),
            created_us: Some(STARTED_US + self.now as i64),
            paid_us: None,
            closed_us: None,
        });
        id
    }

    fn body(&mut self, order: &str, what: &str) -> BodyId {
        self.bodies += 1;
        let body = body(self.bodies, &format!("{{\"orderId\":\"{order}\",\"{what}\":true}}"));
        let id = body.id;
        self.drill.history.bodies.insert(id, body);
        id
    }

    /// The reply reaches the client, unless it is lost or too late.
    fn answer(&mut self, at: usize, reply: impl FnOnce(&mut Attempt)) {
        let end = self.now + self.rng.random_range(50..2_000);
        let lost = self.chance(self.shape.trouble);
        let intent = self.drill.history.attempts[at].intent.0;
        let attempt = &mut self.drill.history.attempts[at];
        if RunTime(end) > attempt.completed.unwrap_or_default() {
            return; // The client has given up, and has planned its next try already.
        }
        if lost {
            return self.retry(at, intent);
        }
        attempt.completed = Some(RunTime(end));
        reply(attempt);
        if !attempt.outcome.is_definite() {
            self.retry(at, intent);
        }
    }

    fn fail(&mut self, at: usize) {
        self.answer(at, |attempt| {
            forget(attempt);
            attempt.status = Some(500);
        });
    }

    /// Kills the instance that holds the lease: its work is lost, its claim stays until it expires.
    fn crash(&mut self) {
        let Some((holder, _)) = self.lease else { return };
        let intent = self.drill.history.attempts[holder].intent.0;
        let record = Record::InProgress { owner: None, intent, until: self.now + LEASE };
        self.records.insert(self.subject(intent), record);
        self.drill.history.exits.push(Exit {
            instance: InstanceId((holder % 2) as u16),
            at: RunTime(self.now),
            status: "killed by signal 9".to_owned(),
            ours: true,
            last_words: String::new(),
        });
    }

    /// Asks for every open intent until there is a definite answer; no trouble any more.
    fn resolve(&mut self) {
        self.calm = true;
        for _ in 0..50 {
            self.now += LEASE + 1;
            let mut open: Vec<bool> = vec![false; self.seats.len()];
            for attempt in &self.drill.history.attempts {
                open[attempt.intent.0 as usize] |= attempt.outcome.was_sent();
            }
            for attempt in self.drill.history.attempts.iter().filter(|it| it.outcome.is_definite())
            {
                open[attempt.intent.0 as usize] = false;
            }
            let begin = self.now;
            for intent in (0..self.seats.len()).filter(|&intent| open[intent]) {
                let attempt = self.attempt(intent as u32, Cause::Resolve);
                let time = begin + self.rng.random_range(0..50_000);
                self.at(time, Event::Send(attempt));
            }
            self.run();
        }
    }

    fn finish(mut self) -> Drill {
        *self.drill.available() = self.stock;
        self.drill.end();
        self.drill.before_repair = self.drill.after.clone();
        self.drill
    }
}

fn told(attempt: &mut Attempt, order: String, body: BodyId) {
    attempt.outcome = Outcome::Acknowledged;
    attempt.status = Some(201);
    attempt.order = Some(order.into());
    attempt.body = Some(body);
    attempt.failure = None;
}
