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
    /// Requests that carried a word of the run: a user, a key, a product.
    pub of_the_run: u64,
    /// Exchanges that only keep a connection going.
    pub noise: u64,
    /// Steps that weren't written down: too many were open, or the disk was too far behind.
    pub lost: u64,
    /// Steps that couldn't be named, by what the client says that it is.
    pub unnamed: BTreeMap<String, u64>,
    client_frames: Kinds,
    server_frames: Kinds,
}

/// How many there were of each kind, in the order of their names.
///
/// There are a dozen kinds and each frame is counted, so they are found by where their names are and
/// not by what they say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Kinds(Vec<(&'static str, u64)>);

impl Kinds {
    fn add(&mut self, kind: &'static str, count: u64) {
        match self.0.iter_mut().find(|(other, _)| std::ptr::eq(*other, kind)) {
            Some((_, counted)) => *counted += count,
            None => self.add_by_name(kind, count),
        }
    }

    fn add_by_name(&mut self, kind: &'static str, count: u64) {
        match self.0.binary_search_by_key(&kind, |(other, _)| other) {
            Ok(place) => self.0[place].1 += count,
            Err(place) => self.0.insert(place, (kind, count)),
        }
    }
}

impl Counts {
    pub(super) fn frame(&mut self, from: Side, kind: &'static str) {
        match from {
            Side::Client => self.client_frames.add(kind, 1),
            Side::Server => self.server_frames.add(kind, 1),
        }
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
        self.of_the_run += other.of_the_run;
        self.noise += other.noise;
        self.lost += other.lost;
        for (driver, count) in &other.unnamed {
            *self.unnamed.entry(driver.clone()).or_default() += count;
        }
        for (kind, count) in &other.client_frames.0 {
            self.client_frames.add(kind, *count);
        }
        for (kind, count) in &other.server_frames.0 {
            self.server_frames.add(kind, *count);
        }
    }

    pub(super) fn of_wire(self, wire: Wire) -> WireFacts {
        WireFacts {
            wire,
            links: self.links,
            steps: self.steps,
            of_the_run: self.of_the_run,
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
        let kinds = match from {
            Side::Client => &self.client_frames,
            Side::Server => &self.server_frames,
        };
        kinds.0.iter().copied()
    }
}
