//! A bound on what all replies in flight may hold together.
//!
//! A limit for each reply alone isn't enough: 4,000 clients times 1 MiB would be 4 GiB. Whoever
//! asks for more than is left fails at once instead of waiting, since waiting for a reply that
//! itself waits could last for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that the bodies of replies may take together.
#[derive(Clone, Debug)]
pub struct ReplyBudget {
    left: Arc<AtomicUsize>,
}

impl ReplyBudget {
    pub fn new(bytes: usize) -> Self {
        Self { left: Arc::new(AtomicUsize::new(bytes)) }
    }

    /// A share that grows as a body arrives, and is given back when it is dropped.
    pub(super) fn share(&self) -> Share {
        Share { budget: self.clone(), taken: 0 }
    }
}

/// What one reply has taken.
#[derive(Debug)]
pub(super) struct Share {
    budget: ReplyBudget,
    taken: usize,
}

impl Share {
    /// Takes more; false when there isn't as much left.
    pub fn grow(&mut self, bytes: usize) -> bool {
        let take = |left: usize| left.checked_sub(bytes);
        let left = &self.budget.left;
        let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        self.taken += if taken { bytes } else { 0 };
        taken
    }
}

impl Share {
    /// Hands over what has been taken; whoever gets it gives it back.
    pub fn hand_over(&mut self) -> Self {
        Self { budget: self.budget.clone(), taken: std::mem::take(&mut self.taken) }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.left.fetch_add(self.taken, Ordering::Relaxed);
    }
}
