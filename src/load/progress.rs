//! How far a load is, for whoever watches. Counters may be read at any time and prove nothing; what
//! a verdict rests on is in the journal.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of the whole run.
#[derive(Debug, Default)]
pub struct Progress {
    planned: AtomicU64,
    connected: AtomicU64,
    released: AtomicU64,
    answered: AtomicU64,
    retries: AtomicU64,
}

/// The counts at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgressNow {
    /// Attempts of bursts.
    pub planned: u64,
    /// Of these, connected.
    pub connected: u64,
    /// Of these, the last byte left.
    pub released: u64,
    /// Attempts of any cause that have ended.
    pub answered: u64,
    /// Attempts that asked again, by clients and by the resolver.
    pub retries: u64,
}

impl Progress {
    pub fn now(&self) -> ProgressNow {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        ProgressNow {
            planned: read(&self.planned),
            connected: read(&self.connected),
            released: read(&self.released),
            answered: read(&self.answered),
            retries: read(&self.retries),
        }
    }

    pub(super) fn add_planned(&self, count: u64) {
        self.planned.fetch_add(count, Ordering::Relaxed);
    }

    pub(super) fn add_connected(&self) {
        self.connected.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add_released(&self, count: u64) {
        self.released.fetch_add(count, Ordering::Relaxed);
    }

    pub(super) fn add_answered(&self) {
        self.answered.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add_retry(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }
}
