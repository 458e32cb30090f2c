//! What a proxy has seen so far, in numbers.

use std::collections::BTreeMap;

use crate::history::{Wire, WireFacts};

/// Which end of a link something came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The target.
    Client,
    /// The upstream.
    Server,
}

/// Counted from the start of the proxy on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections that were accepted.
    pub links: u64,
    /// Those that are open now.
    pub open: u64,
    /// Those whose upstream couldn't be reached.
    pub unreached: u64,
    /// Those that were refused, or given up by the client, because it wants encryption.
    pub refused: u64,
    /// Those that ended with a reset, the unreached ones included.
    pub reset: u64,
    /// Directions that couldn't be read as frames any more, and passed all the same.
    pub opaque: u64,
    /// Those that carry a stream (a subscription, MONITOR, replication), in which replies answer
    /// no request.
    pub streams: u64,
    /// Events that found no room, because nobody took the earlier ones.
    pub untold: u64,
    pub client_bytes: u64,
    pub server_bytes: u64,
    pub steps: u64,
    /// Those that named an intent of the run.
    pub owned: u64,
    /// Exchanges that only keep a connection going.
    pub noise: u64,
    /// Steps that weren't written down: too many were open, or the disk was too far behind.
    pub lost: u64,
    /// Steps that couldn't be named, by what the client says that it is.
    pub unnamed: BTreeMap<String, u64>,
    frames: BTreeMap<(Side, &'static str), u64>,
}

impl Counts {
    pub(super) fn frame(&mut self, from: Side, kind: &'static str) {
        *self.frames.entry((from, kind)).or_default() += 1;
    }

    /// Adds what another proxy of the same wire has seen.
    pub(super) fn add(&mut self, other: &Self) {
        self.links += other.links;
        self.open += other.open;
        self.unreached += other.unreached;
        self.refused += other.refused;
        self.reset += other.reset;
        self.opaque += other.opaque;
        self.streams += other.streams;
        self.untold += other.untold;
        self.client_bytes += other.client_bytes;
        self.server_bytes += other.server_bytes;
        self.steps += other.steps;
        self.owned += other.owned;
        self.noise += other.noise;
        self.lost += other.lost;
        for (driver, count) in &other.unnamed {
            *self.unnamed.entry(driver.clone()).or_default() += count;
        }
        for (kind, count) in &other.frames {
            *self.frames.entry(*kind).or_default() += count;
        }
    }

    pub(super) fn of_wire(self, wire: Wire) -> WireFacts {
        WireFacts {
            wire,
            links: self.links,
            steps: self.steps,
            owned: self.owned,
            noise: self.noise,
            unnamed: self.unnamed,
            unread: self.opaque + self.streams,
            refused: self.refused,
            unreached: self.unreached,
            lost: self.lost,
        }
    }

    /// Frames of this kind, such as `Bind` or `script`.
    pub fn frames(&self, from: Side, kind: &str) -> u64 {
        self.kinds(from).find(|(other, _)| *other == kind).map_or(0, |(_, count)| count)
    }

    /// Every kind of frame that has come from there, and how many.
    pub fn kinds(&self, from: Side) -> impl Iterator<Item = (&'static str, u64)> {
        let of_side = self.frames.iter().filter(move |((side, _), _)| *side == from);
        of_side.map(|((_, kind), count)| (*kind, *count))
    }
}
