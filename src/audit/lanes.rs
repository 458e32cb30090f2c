//! Who could an attempt have been waiting for?
//!
//! A lease may be kept per key, per user or per product, so an attempt can be told `in progress`
//! because of any other attempt of these three. Begins and ends are kept as sorted times, so that a
//! question costs two binary searches.

use std::collections::HashMap;
use std::time::Duration;

use crate::history::{Attempt, RunTime};

use super::index::Index;

/// How long after its answer an attempt may still hold something: a lease is often released after
/// the answer has left. A second is nothing against waiting for ever, which is what R5 is about.
const AFTERMATH: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
struct Lane {
    begins: Vec<RunTime>,
    /// Of attempts that are known to be complete.
    ends: Vec<RunTime>,
}

/// All attempts that were sent, by what they may contend for.
#[derive(Debug, Default)]
pub(super) struct Lanes<'a> {
    users: HashMap<&'a str, Lane>,
    products: HashMap<i64, Lane>,
    keys: HashMap<usize, Lane>,
    /// A key's attempts on one product.
    shares: HashMap<(usize, i64), Lane>,
}

impl<'a> Lanes<'a> {
    pub fn new(index: &Index<'a>) -> Self {
        let mut lanes = Self::default();
        for (group, key) in index.keys.iter().enumerate() {
            for attempt in key.attempts.iter().filter(|attempt| attempt.outcome.was_sent()) {
                let product = index.history.intent(attempt.intent).product;
                lanes.users.entry(key.user).or_default().add(attempt);
                lanes.products.entry(product).or_default().add(attempt);
                lanes.keys.entry(group).or_default().add(attempt);
                lanes.shares.entry((group, product)).or_default().add(attempt);
            }
        }
        lanes.users.values_mut().for_each(Lane::sort);
        lanes.products.values_mut().for_each(Lane::sort);
        lanes.keys.values_mut().for_each(Lane::sort);
        lanes.shares.values_mut().for_each(Lane::sort);
        lanes
    }

    /// Whether any other attempt of its key, user or product may have been going on meanwhile.
    pub fn may_have_waited(&self, user: &str, product: i64, attempt: &Attempt) -> bool {
        let Some(at) = lifetime(attempt) else { return true };
        let others = |lane: Option<&Lane>| lane.map_or(0, |lane| lane.active(at)) > 1;
        others(self.users.get(user)) || others(self.products.get(&product))
    }

    /// Whether an attempt of another key may have kept the attempt waiting.
    pub fn may_have_waited_for_another_key(
        &self,
        user: &str,
        group: usize,
        product: i64,
        attempt: &Attempt,
    ) -> bool {
        let Some(at) = lifetime(attempt) else { return true };
        let count = |lane: Option<&Lane>| lane.map_or(0, |lane| lane.active(at));
        count(self.users.get(user)) > count(self.keys.get(&group))
            || count(self.products.get(&product)) > count(self.shares.get(&(group, product)))
    }
}

impl Lane {
    fn add(&mut self, attempt: &Attempt) {
        let (Some(begin), end) = (attempt.first_byte, attempt.completed) else { return };
        self.begins.push(begin);
        if let Some(end) = end.filter(|_| attempt.outcome.is_definite()) {
            self.ends.push(end.plus(AFTERMATH));
        }
    }

    fn sort(&mut self) {
        self.begins.sort_unstable();
        self.ends.sort_unstable();
    }

    /// Attempts that may have been going on at some moment of a lifetime, its own included.
    fn active(&self, (begin, end): (RunTime, RunTime)) -> usize {
        let begun = self.begins.partition_point(|&at| at <= end);
        let over = self.ends.partition_point(|&at| at < begin);
        begun - over
    }
}

fn lifetime(attempt: &Attempt) -> Option<(RunTime, RunTime)> {
    Some((attempt.first_byte?, attempt.completed?))
}
