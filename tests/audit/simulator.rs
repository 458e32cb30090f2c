//! Random drills against a simulated order service, correct unless told otherwise.
//!
//! Time is simulated, event by event, so every interleaving that it produces is one that a real
//! service could produce: replies and requests get lost, requests arrive after their client has given
//! up, work fails and rolls back, commits and then fails to answer, sells out, waits for a lease that
//! another key holds, is killed in the middle and taken over. This file is the clock and the client; what
//! the client is to send is in `bursts.rs`, the service in `service.rs`.

use std::collections::{BTreeMap, BinaryHeap, HashMap};

use dupeproof::history::{
    Attempt, BodyId, Cause, DrainFacts, Exit, InstanceId, Outcome, RunTime, Sent,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::fixture::{Drill, body};
use crate::shape::{Defects, Shape};

pub const CLIENT_TIMEOUT: u64 = 60_000;
pub const LEASE: u64 = 80_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    Crash,
    Send(usize),
    Arrive(usize),
    Finish(usize),
}

#[derive(Clone, Debug)]
pub enum Record {
    InProgress { owner: Option<usize>, intent: u32, until: u64 },
    Done { order: String, body: BodyId, intent: u32 },
}

/// An order that equal bodies of its user get within the window.
#[derive(Clone, Debug)]
pub struct Recent {
    pub order: String,
    pub body: BodyId,
    pub placed: u64,
}

pub struct World {
    pub rng: ChaCha8Rng,
    pub shape: Shape,
    pub defects: Defects,
    pub drill: Drill,
    /// Soonest first, ties in the order in which they were planned.
    events: BinaryHeap<std::cmp::Reverse<(u64, u64, Event)>>,
    planned: u64,
    pub records: HashMap<String, Record>,
    pub recent: HashMap<(String, String), Recent>,
    /// Who holds the product's lease, and until when.
    pub lease: Option<(usize, u64)>,
    pub stock: i64,
    retries: BTreeMap<u32, u32>,
    /// What is sent when an attempt has ended.
    followers: HashMap<usize, Vec<usize>>,
    pub orders: u32,
    bodies: u32,
    calm: bool,
    pub now: u64,
}

/// Runs a drill to its end, the resolver included.
pub fn simulate(seed: u64, shape: Shape, defects: Defects) -> Drill {
    let mut drill = Drill::empty();
    shape.set_up(&mut drill);
    let mut world = World {
        rng: ChaCha8Rng::seed_from_u64(seed),
        shape,
        defects,
        drill,
        events: BinaryHeap::new(),
        planned: 0,
        records: HashMap::new(),
        recent: HashMap::new(),
        lease: None,
        stock: shape.stock,
        retries: BTreeMap::new(),
        followers: HashMap::new(),
        orders: 0,
        bodies: 0,
        calm: false,
        now: 0,
    };
    world.plan();
    if shape.crash {
        let time = world.now + world.rng.random_range(5_000..60_000);
        world.at(time, Event::Crash);
    }
    world.run();
    world.drain();
    world.resolve();
    world.finish()
}

impl World {
    pub fn chance(&mut self, share: f64) -> bool {
        !self.calm && self.rng.random_bool(share)
    }

    pub fn at(&mut self, time: u64, event: Event) {
        assert!(time >= self.now, "nothing is planned for the past");
        self.planned += 1;
        self.events.push(std::cmp::Reverse((time, self.planned, event)));
    }

    /// Sends an attempt when another one has ended, whatever came of it.
    pub fn then(&mut self, one: usize, next: usize) {
        self.followers.entry(one).or_default().push(next);
    }

    /// The client knows how an attempt ended, or has given it up.
    fn ended(&mut self, at: usize) {
        let end = self.drill.history.attempts[at].completed.unwrap_or_default().0;
        for next in self.followers.remove(&at).unwrap_or_default() {
            let time = end + self.rng.random_range(0..300);
            self.at(time, Event::Send(next));
        }
    }

    pub fn attempt(&mut self, intent: u32, cause: Cause) -> usize {
        let attempt = self.drill.add_attempt(intent, RunTime(0), RunTime(0));
        attempt.cause = cause;
        self.drill.history.attempts.len() - 1
    }

    pub fn run(&mut self) {
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
        self.ended(at);
        let done = self.retries.entry(intent).or_default();
        if self.calm || *done >= 3 {
            return;
        }
        *done += 1;
        let end = self.drill.history.attempts[at].completed.unwrap_or_default().0;
        let cause = match self.drill.history.attempts[at].cause {
            Cause::Prepare => Cause::Prepare,
            _ => Cause::Retry,
        };
        let next = self.attempt(intent, cause);
        let wait = self.rng.random_range(1_000..30_000);
        self.at(end + wait, Event::Send(next));
    }

    pub fn body(&mut self, text: &str) -> BodyId {
        self.bodies += 1;
        let body = body(self.bodies, text);
        let id = body.id;
        self.drill.history.bodies.insert(id, body);
        id
    }

    /// The reply reaches the client, unless it is lost or too late.
    pub fn answer(&mut self, at: usize, reply: impl FnOnce(&mut Attempt)) {
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
            return self.retry(at, intent);
        }
        self.ended(at);
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
        self.ended(holder); // Without an answer, when its client gives up.
    }

    /// Reads the rows before the repair, at rest.
    fn drain(&mut self) {
        let last = self.drill.history.attempts.iter().filter_map(|it| it.completed).max();
        self.now = self.now.max(last.unwrap_or_default().0) + 1_000;
        let (began, ended) = (RunTime(self.now - 500), RunTime(self.now));
        let about = "nothing left".to_owned();
        self.drill.history.drains.push(DrainFacts { began, ended, drained: true, about });
        *self.drill.available() = self.stock;
        self.drill.before_repair = self.drill.after.clone();
        self.drill.before_repair.as_mut().unwrap().taken = ended;
        self.now += 1_000;
    }

    /// Asks for every open intent until there is a definite answer; no trouble any more.
    fn resolve(&mut self) {
        self.calm = true;
        for _ in 0..50 {
            self.now += LEASE + 1;
            let mut open: Vec<bool> = vec![false; self.drill.history.intents.len()];
            for attempt in &self.drill.history.attempts {
                open[attempt.intent.0 as usize] |= attempt.outcome.was_sent();
            }
            for attempt in self.drill.history.attempts.iter().filter(|it| it.outcome.is_definite())
            {
                open[attempt.intent.0 as usize] = false;
            }
            let begin = self.now;
            for intent in (0..open.len()).filter(|&intent| open[intent]) {
                if self.drill.history.intents[intent].request == "token" {
                    continue; // A token that nobody waits for any more helps nobody.
                }
                let attempt = self.attempt(intent as u32, Cause::Resolve);
                let time = begin + self.rng.random_range(0..50_000);
                self.at(time, Event::Send(attempt));
            }
            self.run();
        }
    }

    fn finish(mut self) -> Drill {
        *self.drill.available() = self.stock;
        let before = self.drill.history.drains.clone();
        let taken = self.drill.before_repair.as_ref().unwrap().taken;
        self.drill.end();
        self.drill.history.drains.splice(0..0, before);
        self.drill.before_repair.as_mut().unwrap().taken = taken;
        let snapshots = [self.drill.before_repair.as_mut(), self.drill.after.as_mut()];
        for row in snapshots.into_iter().flatten().flat_map(|it| &mut it.orders) {
            if self.shape.blind {
                (row.product, row.quantity) = (None, None);
            }
            if self.shape.nameless {
                row.key = None;
            }
        }
        self.drill
    }
}
