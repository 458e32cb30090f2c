//! Could an attempt have been waiting for another one?
//!
//! A lock may be kept per key, per user, per product, or be one for all orders, so an attempt can be
//! told `in progress` because of any other attempt of the run. Begins and ends are kept as sorted
//! times, so that a question costs two binary searches.

use std::cell::OnceCell;
use std::time::Duration;

use crate::history::{Attempt, RunTime};

use super::index::{Index, KeyGroup};

/// How long after its answer an attempt may still hold something: a lease is often released after
/// the answer has left. A second is nothing against waiting for ever, which is what R5 is about.
const AFTERMATH: Duration = Duration::from_secs(1);

/// Attempts that may keep each other waiting.
#[derive(Debug, Default)]
struct Lane {
    begins: Vec<RunTime>,
    /// Of attempts that are known to be complete.
    ends: Vec<RunTime>,
}

/// All attempts that were sent; arranged when it is first asked for. Mostly the other attempts of its
/// own key excuse a wait, and nobody asks.
#[derive(Debug)]
pub(super) struct Lanes<'b, 'a> {
    index: &'b Index<'a>,
    all: OnceCell<Lane>,
}

/// The lane of one key, made while it is looked at.
#[derive(Debug)]
pub(super) struct KeyLanes<'b, 'a> {
    lanes: &'b Lanes<'b, 'a>,
    key: &'b KeyGroup<'a>,
    own: Lane,
}

impl<'b, 'a> Lanes<'b, 'a> {
    pub const fn new(index: &'b Index<'a>) -> Self {
        Self { index, all: OnceCell::new() }
    }

    pub fn of_key(&'b self, key: &'b KeyGroup<'a>) -> KeyLanes<'b, 'a> {
        KeyLanes { lanes: self, key, own: Lane::of(key.attempts().iter().copied()) }
    }

    fn all(&self) -> &Lane {
        let keys = || self.index.keys.iter();
        self.all.get_or_init(|| Lane::of(keys().flat_map(KeyGroup::attempts).copied()))
    }
}

impl KeyLanes<'_, '_> {
    /// Whether any other attempt may have been going on meanwhile.
    pub fn may_have_waited(&self, attempt: &Attempt) -> bool {
        let Some(at) = lifetime(attempt) else { return true };
        self.own.active(at) > 1 || self.for_another_key(at)
    }

    /// Whether an attempt of another key may have kept the attempt waiting.
    pub fn may_have_waited_for_another_key(&self, attempt: &Attempt) -> bool {
        lifetime(attempt).is_none_or(|at| self.for_another_key(at))
    }

    fn for_another_key(&self, at: (RunTime, RunTime)) -> bool {
        // Whose attempts of a shared key these are isn't told apart, so they are always excused; and
        // of a pool, others may hold a lock meanwhile.
        let index = self.lanes.index;
        self.key.is_shared
            || index.users_are_a_pool
            || index.products_are_a_pool
            || self.lanes.all().active(at) > self.own.active(at)
    }
}

impl Lane {
    fn of<'a>(attempts: impl IntoIterator<Item = &'a Attempt>) -> Self {
        let mut lane = Self::default();
        for attempt in attempts.into_iter().filter(|attempt| attempt.outcome.was_sent()) {
            lane.begins.extend(attempt.first_byte);
            if attempt.first_byte.is_some() && attempt.outcome.is_definite() {
                lane.ends.extend(attempt.completed.map(|end| end.plus(AFTERMATH)));
            }
        }
        lane.begins.sort_unstable();
        lane.ends.sort_unstable();
        lane
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
