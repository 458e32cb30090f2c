//! What the rules have ordered for the steps of one link, and how far that is.
//!
//! An order stands at a place of one direction: the first byte of a request that must not be forwarded,
//! or of a reply that must not be delivered. It is carried out when everything before that place has
//! left. Until a step is known, its direction waits where it began; what has left already can't be
//! held, and doesn't count as an occurrence.

use std::collections::VecDeque;
use std::pin::Pin;
use std::rc::Rc;

use tokio::time::Sleep;

use crate::profile::Failure;

use super::codec::{Codec, Edit};
use super::exchanges::ExchangeId;
use super::mark::Scanner;
use super::rules::{Decided, Hold};

/// What is ordered for one link.
#[derive(Debug, Default)]
pub(super) struct Orders {
    pub(super) requests: Lane,
    pub(super) replies: Lane,
    /// To be carried out as soon as their requests have been forwarded.
    pub(super) forwarded: Vec<Order>,
}

impl Orders {
    /// Whether bytes may pass as they come.
    pub(super) fn are_none(&self) -> bool {
        self.requests.gate().is_none() && self.replies.gate().is_none() && self.forwarded.is_empty()
    }
}

/// One direction.
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub(super) queue: VecDeque<Order>,
    /// Where something began of which it isn't known yet what it is.
    pub(super) undecided: Option<u64>,
    /// Everything before this place has left.
    pub(super) passed: u64,
    /// Other bytes, to be ordered from the codec.
    pub(super) edits: Vec<Edit>,
}

impl Lane {
    /// Something begins; nothing of it leaves before it is known what it is.
    pub(super) fn begins(&mut self, at: u64) {
        self.undecided.get_or_insert(at);
    }

    /// The place that nothing passes for now.
    pub(super) fn gate(&self) -> Option<u64> {
        let ordered = self.queue.front().map(|order| order.at);
        match (ordered, self.undecided) {
            (Some(ordered), Some(undecided)) => Some(ordered.min(undecided)),
            (ordered, undecided) => ordered.or(undecided),
        }
    }

    /// Whether something isn't waited for any more that will not be known.
    pub(super) fn gives_up<S: Scanner>(&mut self, is_all: bool, codec: &mut Codec<S>) -> bool {
        let mut is_too_large = |at| codec.spare().is_empty() && codec.passed_to() >= at;
        let gives_up = self.undecided.is_some_and(|at| is_all || is_too_large(at));
        if gives_up {
            self.undecided = None;
        }
        gives_up
    }

    /// The codec is told what has been ordered.
    pub(super) fn hand_over<S: Scanner>(&mut self, codec: &mut Codec<S>) {
        for edit in self.edits.drain(..) {
            let is_ordered = codec.edit(edit);
            debug_assert!(is_ordered, "edits are ordered in time and in order");
        }
        codec.set_gate(self.gate());
    }

    /// Whether an order for this place comes in time.
    pub(super) const fn is_in_time(&self, at: u64) -> bool {
        at >= self.passed
    }
}

#[derive(Debug)]
pub(super) struct Order {
    pub(super) decided: Decided,
    pub(super) at: u64,
    pub(super) exchange: ExchangeId,
    pub(super) standing: Option<Standing>,
    /// What the client is told before its connection ends.
    pub(super) farewell: Vec<u8>,
}

impl Order {
    pub(super) const fn new(decided: Decided, at: u64, exchange: ExchangeId) -> Self {
        Self { decided, at, exchange, standing: None, farewell: Vec::new() }
    }
}

/// A hold or a delay that has begun.
#[derive(Debug)]
pub(super) struct Standing {
    pub(super) firing: u32,
    pub(super) hold: Rc<Hold>,
    pub(super) limit: Pin<Box<Sleep>>,
}

/// An error that takes the place of a reply.
#[derive(Debug)]
pub(super) struct Failing {
    pub(super) decided: Decided,
    pub(super) firing: u32,
    pub(super) failure: Failure,
    /// The transaction is to be over with it, as after a COMMIT that failed.
    pub(super) ends_transaction: bool,
}
