//! Whoever wants to know when attempts leave and end, while it happens.
//!
//! A hold on a wire ends when the other attempts of its intent have their answers, and the journal
//! is too slow a way to learn that. Nobody is asked where nobody listens.

use std::fmt::Debug;

use crate::history::{AttemptId, InstanceId, IntentId, RunTime};

/// An attempt, with what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    pub attempt: AttemptId,
    pub intent: IntentId,
    pub instance: InstanceId,
}

/// Sees attempts leave and end; must return at once.
pub trait Witness: Send + Sync + Debug {
    /// The last byte of these leaves at `at`, which is now, a moment from now, or by a schedule; nothing can
    /// hinder it but an end, which is told as well. It is told before, at `told`, so that no step of an
    /// attempt is older than the news of it.
    fn leaving(&self, attempts: &mut dyn Iterator<Item = Leaving>, told: RunTime, at: RunTime);

    /// An attempt has its answer, or will have none. It may be one that never left.
    fn ended(&self, attempt: AttemptId);
}
