//! What was done on the wires to place an order: the lease it was placed under, its transaction, and
//! the end of both.
//!
//! A visit begins with an insert that was committed. Its transaction is known by its number; its lease
//! is the only one of the intent, at that instance, that was held while the insert was sent.

use crate::history::{AttemptId, IntentId, Role, RunTime, Wire};

use super::authorship;
use super::bench::Bench;
use super::index::KeyGroup;
use super::locks::{Hold, is_bid, is_same_token};
use super::steps::Placed;
use super::trace::is_commit;
use super::{Seen, Witness};

/// The most visits that a story has room for.
const MOST: usize = 2;

#[derive(Clone, Debug)]
pub(super) struct Visit<'a> {
    /// The order that it wrote, where that is known.
    pub order: Option<String>,
    pub insert: Placed<'a>,
    pub commit: Option<Placed<'a>>,
    /// The steps of its transaction, the insert and the commit among them.
    pub unit: Vec<Placed<'a>>,
    pub hold: Option<Hold<'a>>,
    /// What its lease was asked for with in vain.
    refused: Vec<Placed<'a>>,
    /// What was done to the stock outside of its transaction: by its attempt, as far as that is known, and
    /// where it has no transaction, by its intent.
    beside: Vec<Placed<'a>>,
}

impl<'a> Visit<'a> {
    fn new(bench: &Bench<'a>, intent: IntentId, insert: Placed<'a>) -> Option<Self> {
        let steps: Vec<Placed<'a>> = bench.trace.steps.of_intent(intent).collect();
        let number = insert.step.transaction;
        let is_in = |at: &&Placed<'a>| {
            (at.step.wire, at.step.link) == (Wire::Postgres, insert.step.link)
                && number.is_some()
                && at.step.transaction == number
        };
        let unit: Vec<Placed<'a>> = steps.iter().filter(is_in).copied().collect();
        let commit = unit.iter().find(|at| is_commit(at.step)).copied();
        // Outside of a transaction a statement commits itself.
        if number.is_some() && commit.is_none() {
            return None;
        }
        let is_own = |at: &Placed<'a>| match at.step.role {
            _ if number.is_some() && at.step.transaction == number => false,
            Some(Role::StockRead) => at.attempt.is_some() && made_by(at) == made_by(&insert),
            Some(Role::StockWrite) => number.is_none(),
            _ => false,
        };
        let beside = steps.iter().filter(|at| at.step.asked <= insert.step.asked && is_own(at));
        let beside = beside.copied().collect();
        let here: Vec<Placed<'a>> =
            steps.into_iter().filter(|at| at.instance == insert.instance).collect();
        let hold = held(bench, &here, &insert);
        let is_refused = |at: &&Placed<'a>| {
            hold.is_some_and(|hold| {
                is_bid(at.step)
                    && is_same_token(at.step, hold.grant.step)
                    && at.step.asked < hold.grant.step.asked
            })
        };
        let refused = here.iter().filter(is_refused).copied().collect();
        Some(Self { order: None, insert, commit, unit, hold, refused, beside })
    }

    pub fn begin(&self) -> Placed<'a> {
        self.unit.first().copied().unwrap_or(self.insert)
    }

    /// When what it wrote could be seen.
    pub fn committed(&self) -> Option<RunTime> {
        self.commit.unwrap_or(self.insert).step.answered
    }

    /// The last look at the stock before it was written.
    pub fn stock_read(&self) -> Option<&Placed<'a>> {
        let end = self.stock_write().map(|at| at.step.asked);
        let all = self.beside.iter().chain(&self.unit);
        let before = all.filter(|at| at.step.role == Some(Role::StockRead) && at.step.is_done());
        before.filter(|at| Some(at.step.asked) <= end).max_by_key(|at| at.step.asked)
    }

    pub fn stock_write(&self) -> Option<&Placed<'a>> {
        let is_write = |at: &&Placed<'a>| at.step.role == Some(Role::StockWrite);
        self.unit.iter().find(is_write)
    }

    /// Its look for an order, where it found none.
    pub fn vain_look(&self) -> Option<&Placed<'a>> {
        let is_look = |at: &&Placed<'a>| {
            &*at.step.verb == "SELECT"
                && at.step.object == self.insert.step.object
                && at.step.answer.as_deref() == Some("SELECT 0")
                && at.step.asked < self.insert.step.asked
        };
        self.unit.iter().rfind(is_look)
    }

    /// What a story needs of it. Of the first one it is no news that it found no order.
    pub fn told(&self, is_first: bool) -> Vec<Seen> {
        let mut told = self.refused.clone();
        if let Some(hold) = &self.hold {
            told.push(hold.grant);
            told.extend(hold.released);
        }
        let is_told = |at: &&Placed<'a>| {
            matches!(at.step.role, Some(Role::StockWrite | Role::Commit))
                || is_same(at, &self.insert)
        };
        told.extend(self.unit.iter().filter(is_told));
        if self.unit.is_empty() {
            told.push(self.insert);
            told.extend(&self.beside);
        } else {
            told.extend(self.stock_read());
        }
        told.extend(self.vain_look().filter(|_| !is_first));
        let is_in_unit = |at: &Placed<'a>| {
            is_same(at, &self.insert) || self.commit.is_some_and(|it| is_same(at, &it))
        };
        let seen = told.iter().map(|at| {
            let order = self.order.clone().filter(|_| is_in_unit(at));
            // Who made one step of a transaction made them all.
            let is_of_unit = at.step.transaction.is_some() && at.step.link == self.insert.step.link;
            let made_by = self.unit.iter().find_map(made_by).filter(|_| is_of_unit);
            let seen = Seen::of(at);
            Seen { order, attempt: seen.attempt.or(made_by), ..seen }
        });
        seen.collect()
    }
}

fn made_by(at: &Placed<'_>) -> Option<AttemptId> {
    at.attempt.map(|attempt| attempt.id)
}

fn is_same(one: &Placed<'_>, other: &Placed<'_>) -> bool {
    std::ptr::eq(one.step, other.step)
}

/// The one lease that was held while a statement was sent.
fn held<'a>(bench: &Bench<'a>, steps: &[Placed<'a>], insert: &Placed<'a>) -> Option<Hold<'a>> {
    let asked = insert.step.asked;
    let is_held = |hold: &Hold<'a>| {
        hold.grant.step.answered.is_some_and(|granted| granted <= asked)
            && hold.released.is_none_or(|end| end.step.asked >= asked)
            && !insert.is_of_another_request(&hold.grant)
    };
    let mut held = bench.trace.locks.held_by(steps).into_iter().filter(is_held);
    held.next().filter(|_| held.next().is_none())
}

/// The visits that placed the first orders of a witness, in the order of their inserts.
pub(super) fn of_witness<'a>(bench: &Bench<'a>, witness: &Witness) -> Vec<Visit<'a>> {
    let mut visits = Vec::new();
    for intent in intents(bench, witness) {
        let inserts = bench.trace.steps.of_intent(intent).filter(|at| {
            at.step.role == Some(Role::OrderInsert)
                && at.step.wire == Wire::Postgres
                && at.step.is_done()
                && !at.step.answer.as_deref().unwrap_or_default().ends_with(" 0")
        });
        visits.extend(inserts.filter_map(|insert| Visit::new(bench, intent, insert)));
    }
    authorship::name(bench, witness, &mut visits);
    // One whose order belongs to another case would be told for nothing.
    if visits.iter().any(|visit| visit.order.is_some()) {
        visits.retain(|visit| visit.order.is_some());
    } else if visits.len() > witness.orders.len() {
        visits.clear();
    }
    visits.sort_by_key(|visit| visit.insert.step.asked);
    visits.truncate(MOST);
    visits
}

/// Those that the attempts of a witness were about, and those that were told of its orders.
fn intents(bench: &Bench<'_>, witness: &Witness) -> Vec<IntentId> {
    let attempts = &bench.case.history.attempts;
    let own = attempts.iter().filter(|it| witness.attempts.contains(&it.id));
    let mut intents: Vec<IntentId> = own.map(|attempt| attempt.intent).collect();
    for order in &witness.orders {
        let group = bench.index.told(order).map(|group| &bench.index.keys[group]);
        intents.extend(group.into_iter().flat_map(KeyGroup::attempts).map(|it| it.intent));
    }
    intents.sort_unstable();
    intents.dedup();
    intents
}
