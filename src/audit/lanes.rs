//! Who could an attempt have been waiting for?
//!
//! A lease may be kept per key, per user, per product or per order, so an attempt can be told `in
//! progress` because of any other attempt of these. Begins and ends are kept as sorted times, so that
//! a question costs two binary searches; what only one key uses has no lane, because the key's own
//! says the same.

use std::cell::OnceCell;
use std::time::Duration;

use foldhash::{HashMap, HashMapExt};

use crate::history::{Attempt, RunTime};

use super::index::{Index, KeyGroup};

/// How long after its answer an attempt may still hold something: a lease is often released after
/// the answer has left. A second is nothing against waiting for ever, which is what R5 is about.
const AFTERMATH: Duration = Duration::from_secs(1);

/// Attempts that contend for one thing.
#[derive(Debug, Default)]
pub(super) struct Lane {
    begins: Vec<RunTime>,
    /// Of attempts that are known to be complete.
    ends: Vec<RunTime>,
}

/// All attempts that were sent, by what they may contend for; arranged when it is first asked for.
/// Mostly the other attempts of its own key excuse a wait, and nobody asks.
#[derive(Debug)]
pub(super) struct Lanes<'b, 'a> {
    index: &'b Index<'a>,
    product_is_said: bool,
    all: OnceCell<All<'a>>,
}

#[derive(Debug, Default)]
struct All<'a> {
    users: HashMap<&'a str, Lane>,
    products: HashMap<i64, Lane>,
    entities: HashMap<&'a str, Lane>,
}

/// The lanes of one key, made while it is looked at.
#[derive(Debug)]
pub(super) struct KeyLanes<'b, 'a> {
    lanes: &'b Lanes<'b, 'a>,
    key: &'b KeyGroup<'a>,
    own: Lane,
    /// Its attempts on each product, where there are several.
    shares: HashMap<i64, Lane>,
}

impl<'a> All<'a> {
    fn new(index: &Index<'a>, lane: impl Fn(i64) -> i64) -> Self {
        let mut keys_of: HashMap<&str, u32> = HashMap::new();
        for key in &index.keys {
            *keys_of.entry(key.user).or_default() += 1;
        }
        let mut lanes = Self::default();
        for key in &index.keys {
            let is_alone = keys_of[key.user] == 1 && !key.is_shared;
            for attempt in key.attempts().iter().filter(|attempt| attempt.outcome.was_sent()) {
                let intent = index.history.intent(attempt.intent);
                lanes.products.entry(lane(intent.product)).or_default().add(attempt);
                if !is_alone {
                    lanes.users.entry(&intent.user).or_default().add(attempt);
                }
                if let Some(entity) = &intent.entity {
                    lanes.entities.entry(entity).or_default().add(attempt);
                }
            }
        }
        lanes.users.values_mut().for_each(Lane::sort);
        lanes.products.values_mut().for_each(Lane::sort);
        lanes.entities.values_mut().for_each(Lane::sort);
        lanes
    }
}

impl<'b, 'a> Lanes<'b, 'a> {
    /// Where requests don't say which product they want, all of them may want the same.
    pub const fn new(index: &'b Index<'a>, product_is_said: bool) -> Self {
        Self { index, product_is_said, all: OnceCell::new() }
    }

    fn all(&self) -> &All<'a> {
        self.all.get_or_init(|| All::new(self.index, |product| self.lane(product)))
    }

    const fn lane(&self, product: i64) -> i64 {
        if self.product_is_said { product } else { 0 }
    }

    pub fn of_key(&'b self, key: &'b KeyGroup<'a>) -> KeyLanes<'b, 'a> {
        let mut own = Lane::default();
        let mut shares: HashMap<i64, Lane> = HashMap::new();
        let product = key.variants.first().map(|variant| variant.intent.product);
        let several = self.product_is_said
            && key.variants.iter().any(|it| Some(it.intent.product) != product);
        for variant in &key.variants {
            for attempt in variant.attempts.iter().filter(|attempt| attempt.outcome.was_sent()) {
                own.add(attempt);
                if several {
                    shares.entry(variant.intent.product).or_default().add(attempt);
                }
            }
        }
        own.sort();
        shares.values_mut().for_each(Lane::sort);
        KeyLanes { lanes: self, key, own, shares }
    }
}

impl KeyLanes<'_, '_> {
    /// Whether any other attempt of its key, user, product or order may have been going on meanwhile.
    pub fn may_have_waited(&self, product: i64, attempt: &Attempt) -> bool {
        let Some(at) = lifetime(attempt) else { return true };
        self.own.active(at) > 1 || self.for_another_key(product, at)
    }

    /// Whether an attempt of another key may have kept the attempt waiting.
    pub fn may_have_waited_for_another_key(&self, product: i64, attempt: &Attempt) -> bool {
        lifetime(attempt).is_none_or(|at| self.for_another_key(product, at))
    }

    fn for_another_key(&self, product: i64, at: (RunTime, RunTime)) -> bool {
        let count = |lane: Option<&Lane>| lane.map_or(0, |lane| lane.active(at));
        let own = self.own.active(at);
        let share = self.shares.get(&product).map_or(own, |share| share.active(at));
        // Whose attempts of a shared key these are isn't told apart, so they are always excused.
        let index = self.lanes.index;
        // Of a pool, others may hold a lease meanwhile.
        if self.key.is_shared || index.users_are_a_pool || index.products_are_a_pool {
            return true;
        }
        let all = self.lanes.all();
        count(all.products.get(&self.lanes.lane(product))) > share
            || count(all.users.get(self.key.user)) > own
            || self.key.entity.is_some_and(|it| count(all.entities.get(it)) > own)
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
