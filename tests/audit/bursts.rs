//! What each kind of burst sends, as the load sends it: which intents there are, which attempts of them
//! leave when, and what the run writes down about the phase.

use std::collections::BTreeMap;
use std::time::Duration;

use dupeproof::history::{Cause, Contended, KeyForm, Outcome, RunTime, Variant, VariantId};
use dupeproof::profile::{
    Arrival, BadKeys, Burst, Crowd, LastUnit, Mixed, Mutated, Race, Rate, Release, Sequential,
    SharedKey, SubmitToken,
};
use rand::RngExt;
use rand::seq::SliceRandom;

use crate::shape::{Kind, Shape};
use crate::simulator::{CLIENT_TIMEOUT, Event, World};

/// Within which the attempts of one instant leave, in microseconds.
const INSTANT: u64 = 50;
/// Over which attempts are spread out.
const SPREAD: u64 = 12_000;
/// Long after a crowd and all of its retries.
const LATER: u64 = 500_000;

impl Shape {
    /// The burst of this shape as a profile has it.
    pub fn burst(self) -> Burst {
        let crowd = Crowd {
            users: self.users,
            threads: self.threads,
            quantity: 1,
            request: 0,
            release: Release::Frozen,
            arrival: self.arrival,
            overlap_share: 0.5,
        };
        match self.kind {
            Kind::Place if self.mutated > 0.0 => {
                Burst::Mutated(Mutated { crowd, mutated_share: self.mutated, again: 1 })
            }
            Kind::Place => Burst::SameKey(crowd),
            Kind::SameFingerprint => Burst::SameFingerprint(crowd),
            Kind::SharedKey => Burst::SharedKey(SharedKey { crowd, sharing: 2 }),
            Kind::FreshKey => Burst::FreshKey(crowd),
            Kind::Race | Kind::RaceInTurn => Burst::Race(Race {
                crowd,
                first: 0,
                requests: vec![1, 2],
                in_turn: self.kind == Kind::RaceInTurn,
            }),
            Kind::BadKeys => Burst::BadKeys(BadKeys { users: self.users, quantity: 1, request: 0 }),
            Kind::LastUnit => Burst::LastUnit(LastUnit { crowd, stock: self.stock as u32 }),
            Kind::SubmitToken => {
                let token_at = "/token".to_owned();
                Burst::SubmitToken(SubmitToken { crowd, token: 1, token_at })
            }
            Kind::Mixed => Burst::Mixed(Mixed {
                crowd,
                variant_share: 0.2,
                mutated_share: 0.2,
                fresh_share: 0.2,
            }),
            Kind::Sequential => Burst::Sequential(Sequential {
                users: self.users,
                repeats: self.threads.max(2) - 1,
                quantity: 1,
                request: 0,
                vary: Vec::new(),
                route: None,
            }),
            Kind::Rate => Burst::Rate(Rate {
                per_second: 1_000,
                lasts: Duration::from_millis(u64::from(self.users * self.threads)),
                duplicate_share: 0.4,
                quantity: 1,
                request: 0,
            }),
        }
    }

    /// What its attempts contend for.
    fn contended(self) -> Option<Contended> {
        let several = self.threads > 1;
        match self.kind {
            Kind::Place | Kind::SameFingerprint | Kind::SubmitToken | Kind::Mixed => {
                several.then_some(Contended::Key)
            }
            Kind::SharedKey => Some(Contended::KeyString),
            Kind::LastUnit => Some(Contended::Product),
            Kind::Race => Some(Contended::Entity),
            Kind::FreshKey | Kind::RaceInTurn | Kind::BadKeys | Kind::Sequential | Kind::Rate => {
                None
            }
        }
    }
}

impl World {
    /// Plans the phase, and writes down what is written down of one.
    pub fn plan(&mut self) {
        match self.shape.kind {
            Kind::Race | Kind::RaceInTurn => self.plan_race(),
            Kind::SubmitToken => self.plan_tokens(),
            Kind::LastUnit => self.plan_last_unit(),
            Kind::Mixed => self.plan_mixed(),
            Kind::Sequential => self.plan_sequential(),
            Kind::Rate => self.plan_rate(),
            _ => self.plan_burst(),
        }
        let burst = self.shape.burst();
        let attempts = self.drill.history.attempts.iter();
        let is_planned = |cause| matches!(cause, Cause::Burst | Cause::Steady);
        let phase = &mut self.drill.history.phases[0];
        phase.planned = attempts.filter(|attempt| is_planned(attempt.cause)).count() as u64;
        phase.burst = burst.word().to_owned();
        phase.arrival = burst.arrival().to_owned();
        phase.contended = self.shape.contended();
        self.drill.profile.phases[0].burst = burst;
    }

    /// Lets attempts that belong together leave as the burst's arrival says.
    fn leave(&mut self, attempts: &[usize], begin: u64) {
        for (place, &attempt) in attempts.iter().enumerate() {
            let time = match self.shape.arrival {
                Arrival::AtOnce => self.rng.random_range(0..INSTANT),
                Arrival::Staggered(gap) => {
                    gap.as_micros() as u64 * place as u64 + self.rng.random_range(0..INSTANT)
                }
                Arrival::Spread => self.rng.random_range(0..SPREAD),
                Arrival::AroundCompletion if place > 0 => {
                    self.then(attempts[0], attempt);
                    continue;
                }
                Arrival::AroundCompletion => 0,
            };
            self.at(begin + time, Event::Send(attempt));
        }
    }

    fn plan_burst(&mut self) {
        for number in 0..self.shape.users {
            let intents = self.intents_of(number);
            let begin = self.rng.random_range(0..40_000);
            let mut attempts = Vec::new();
            for thread in 0..self.shape.threads {
                let which = match self.shape.kind {
                    Kind::FreshKey => thread as usize % intents.len(),
                    _ if self.shape.per_user => thread as usize % 2,
                    _ => usize::from(self.chance(self.shape.mutated) && intents.len() > 1),
                };
                let attempt = self.attempt(intents[which], Cause::Burst);
                let varies = match self.shape.kind {
                    Kind::SameFingerprint => true,
                    Kind::Place => self.chance(0.2),
                    _ => false,
                };
                if varies {
                    self.vary(attempt);
                }
                attempts.push(attempt);
            }
            self.leave(&attempts, begin);
            if self.shape.mutated > 0.0 && self.rng.random_bool(0.3) {
                self.again(&intents, begin + LATER);
            }
        }
    }

    /// Asks once more for each intent that was asked for, one after the other.
    fn again(&mut self, intents: &[u32], begin: u64) {
        let attempts: Vec<usize> =
            intents.iter().map(|&intent| self.attempt(intent, Cause::Replay)).collect();
        self.in_turn(&attempts, begin);
    }

    /// Each attempt leaves when the one before it has ended.
    fn in_turn(&mut self, attempts: &[usize], begin: u64) {
        if let Some(&first) = attempts.first() {
            self.at(begin, Event::Send(first));
        }
        for pair in attempts.windows(2) {
            self.then(pair[0], pair[1]);
        }
    }

    /// The intents of a user.
    fn intents_of(&mut self, number: u32) -> Vec<u32> {
        let keys = match self.shape.kind {
            Kind::SharedKey => vec![number / 2],
            Kind::FreshKey => vec![number, number + 500, number + 900],
            _ if self.shape.per_user => vec![number, number + 500],
            _ => vec![number],
        };
        let form = self.shape.form(number);
        let mut intents: Vec<u32> = keys
            .into_iter()
            .map(|key| {
                let intent = self.drill.add_intent(number, key, 1);
                let intent = &mut self.drill.history.intents[intent.0 as usize];
                intent.key_form = form;
                if matches!(form, KeyForm::Missing | KeyForm::Empty) {
                    intent.key.clear();
                }
                intent.id.0
            })
            .collect();
        if self.shape.mutated > 0.0 && self.shape.kind == Kind::Place && !self.shape.per_user {
            intents.push(self.drill.add_intent(number, number, 2).0);
        }
        intents
    }

    /// Gives an attempt other bytes of the same meaning.
    fn vary(&mut self, at: usize) {
        let id = VariantId(self.drill.history.variants.len() as u32);
        let attempt = &mut self.drill.history.attempts[at];
        attempt.variant = Some(id);
        let intent = &self.drill.history.intents[attempt.intent.0 as usize];
        self.drill.history.variants.push(Variant {
            id,
            intent: intent.id,
            how: "key order".to_owned(),
            sha256: format!("variant-{}", id.0),
            original_sha256: "original".to_owned(),
            fingerprint: intent.fingerprint.clone(),
        });
    }

    /// Places an order for each user, then pays and closes it, at the same time or in turn.
    fn plan_race(&mut self) {
        for number in 0..self.shape.users {
            let intent = self.drill.add_intent(number, number, 1).0;
            let attempt = self.attempt(intent, Cause::Prepare);
            self.at(u64::from(number) * 10_000, Event::Send(attempt));
        }
        self.run();
        let attempts = &self.drill.history.attempts;
        let told = attempts.iter().filter(|it| it.outcome == Outcome::Acknowledged);
        let orders: BTreeMap<u32, String> =
            told.filter_map(|it| Some((it.intent.0, it.order.as_ref()?.to_string()))).collect();
        let start = self.now + CLIENT_TIMEOUT * 2;
        for (number, order) in orders {
            let begin = start + self.rng.random_range(0..40_000);
            let mut attempts = Vec::new();
            for (place, request) in ["pay", "close"].into_iter().enumerate() {
                let key_number = number + 500 * (1 + place as u32);
                let id = self.drill.add_intent(number, key_number, 1);
                let intent = &mut self.drill.history.intents[id.0 as usize];
                intent.request = request.to_owned();
                intent.entity = Some(order.clone());
                intent.fingerprint = request.to_owned();
                for _ in 0..self.shape.threads {
                    attempts.push(self.attempt(id.0, Cause::Burst));
                }
            }
            if self.shape.kind == Kind::RaceInTurn {
                self.in_turn(&attempts, begin);
            } else {
                let (pay, close) = attempts.split_at(self.shape.threads as usize);
                let mut together: Vec<usize> =
                    pay.iter().zip(close).flat_map(|(pay, close)| [*pay, *close]).collect();
                if self.rng.random_bool(0.5) {
                    together.reverse();
                }
                self.leave(&together, begin);
            }
        }
    }

    /// Fetches a token for each user, then sends all attempts with it.
    fn plan_tokens(&mut self) {
        for number in 0..self.shape.users {
            let id = self.drill.add_intent(number, number, 1);
            let intent = &mut self.drill.history.intents[id.0 as usize];
            intent.request = "token".to_owned();
            intent.key.clear();
            let attempt = self.attempt(id.0, Cause::Prepare);
            self.at(u64::from(number) * 1_000, Event::Send(attempt));
        }
        self.run();
        let start = self.now + CLIENT_TIMEOUT * 2;
        for number in 0..self.shape.users {
            let attempts = &self.drill.history.attempts;
            let mut own = attempts.iter().filter(|it| it.intent.0 == number);
            if !own.any(|it| it.outcome == Outcome::Acknowledged) {
                continue;
            }
            let intent = self.drill.add_intent(number, number + 500, 1).0;
            let attempts: Vec<usize> =
                (0..self.shape.threads).map(|_| self.attempt(intent, Cause::Burst)).collect();
            let begin = start + self.rng.random_range(0..40_000);
            self.leave(&attempts, begin);
        }
    }

    /// Buyer after buyer, and then all over again.
    fn plan_last_unit(&mut self) {
        let buyers = 0..self.shape.users;
        let intents: Vec<u32> = buyers.map(|it| self.drill.add_intent(it, it, 1).0).collect();
        let mut attempts = Vec::new();
        for _ in 0..self.shape.threads {
            attempts.extend(intents.iter().map(|&intent| self.attempt(intent, Cause::Burst)));
        }
        self.leave(&attempts, 0);
    }

    /// Every attempt draws what it does; the first of a user is the original.
    fn plan_mixed(&mut self) {
        let mut fresh = 10_000;
        for number in 0..self.shape.users {
            let lead = self.drill.add_intent(number, number, 1).0;
            let mut twin = None;
            let mut attempts = Vec::new();
            for thread in 0..self.shape.threads {
                let drawn = if thread == 0 { 1.0 } else { self.rng.random_range(0.0..1.0) };
                let intent = match drawn {
                    drawn if drawn < 0.2 => {
                        *twin.get_or_insert_with(|| self.drill.add_intent(number, number, 2).0)
                    }
                    drawn if drawn < 0.4 => {
                        fresh += 1;
                        self.drill.add_intent(number, fresh, 1).0
                    }
                    _ => lead,
                };
                let attempt = self.attempt(intent, Cause::Burst);
                if (0.4..0.6).contains(&drawn) {
                    self.vary(attempt);
                }
                attempts.push(attempt);
            }
            attempts.shuffle(&mut self.rng);
            let begin = self.rng.random_range(0..40_000);
            self.leave(&attempts, begin);
        }
    }

    /// One attempt, then its repeats, each when the one before it has ended.
    fn plan_sequential(&mut self) {
        for number in 0..self.shape.users {
            let intent = self.drill.add_intent(number, number, 1).0;
            let mut script = vec![self.attempt(intent, Cause::Burst)];
            for _ in 1..self.shape.threads.max(2) {
                let again = self.attempt(intent, Cause::Replay);
                if self.rng.random_bool(0.3) {
                    self.vary(again);
                }
                script.push(again);
            }
            let begin = self.rng.random_range(0..40_000);
            self.in_turn(&script, begin);
        }
    }

    /// One attempt a millisecond, whatever the service does; some repeat an earlier intent.
    fn plan_rate(&mut self) {
        let mut intents = Vec::new();
        for place in 0..u64::from(self.shape.users * self.shape.threads) {
            let repeats = !intents.is_empty() && self.rng.random_bool(0.4);
            let intent = if repeats {
                intents[self.rng.random_range(0..intents.len())]
            } else {
                let number = intents.len() as u32;
                let intent = self.drill.add_intent(number, number, 1).0;
                intents.push(intent);
                intent
            };
            let attempt = self.attempt(intent, Cause::Steady);
            let planned = place * 1_000;
            self.drill.history.attempts[attempt].planned = Some(RunTime(planned));
            let late = self.rng.random_range(0..INSTANT);
            self.at(planned + late, Event::Send(attempt));
        }
    }
}
