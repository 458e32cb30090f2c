//! Partitions: who is cut off from a server, and what that met.
//!
//! A proxy that refuses takes a connection and resets it at once. The system would refuse it without
//! a word of it reaching us, and a partition that nobody ran into proves nothing; so each one is seen
//! and counted.

use std::cell::Cell;
use std::rc::Rc;

use tokio_util::sync::CancellationToken;

use crate::history::{FaultEvent, FaultFacts, Firing, FiringEnd, Proof, RunTime};
use crate::profile::Cut;

use super::accept::Partitioned;
use super::rule::Notice;
use super::rules::Rules;

/// A partition that stands.
#[derive(Debug)]
pub(super) struct CutOff {
    pub(super) of: Partitioned,
    firing: u32,
    token: CancellationToken,
    /// Links that it broke.
    links: Cell<u64>,
    /// Connections that it didn't let through.
    refused: Cell<u64>,
    is_told: Cell<bool>,
}

impl CutOff {
    /// It stands from now on.
    pub(super) fn begin(
        of: Partitioned,
        token: CancellationToken,
        rules: &Rules,
        now: RunTime,
    ) -> Rc<Self> {
        let firing = rules.next_firing(of.fault);
        let fired = Firing {
            number: firing,
            decided: now,
            step: None,
            instance: of.instance,
            also_hit: Vec::new(),
        };
        let facts = FaultFacts { fault: of.fault, at: now, event: FaultEvent::Fired(fired) };
        rules.tell(Notice { facts, hold: None, lease: None, keys: Vec::new() });
        let (links, refused, is_told) = (Cell::new(0), Cell::new(0), Cell::new(false));
        Rc::new(Self { of, firing, token, links, refused, is_told })
    }

    pub(super) fn is_healed(&self) -> bool {
        self.token.is_cancelled()
    }

    pub(super) const fn refuses(&self) -> bool {
        matches!(self.of.how, Cut::Refuse)
    }

    pub(super) fn broke_a_link(&self) {
        self.links.set(self.links.get() + 1);
    }

    pub(super) fn kept_one_out(&self) {
        self.refused.set(self.refused.get() + 1);
    }

    pub(super) async fn healed(&self) {
        self.token.cancelled().await;
    }

    /// It is over: what it met is told, once.
    pub(super) fn tell(&self, rules: &Rules, now: RunTime) {
        if self.is_told.replace(true) {
            return;
        }
        let (links, refused) = (self.links.get(), self.refused.get());
        if links + refused > 0 {
            rules.effect(self.of.fault, self.firing, now, Proof::Cut { links, refused });
        }
        rules.ended(self.of.fault, self.firing, now, FiringEnd::Healed);
    }
}
