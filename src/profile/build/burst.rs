//! Phases: bursts of every kind, and steady load.

use super::super::burst::{
    Arrival, BadKeys, Burst, Crowd, LastUnit, Mixed, Mutated, Race, Rate, Release, Sequential,
    SharedKey, SubmitToken, Vary,
};
use super::super::model::{Phase, Request};
use super::super::node::Node;
use super::fault;
use super::take::{
    at, count, duration, flag, maybe_duration, maybe_text, maybe_word, meaning, share, text,
};

/// What the phases of a profile are made with.
pub(super) struct Ground<'a> {
    pub(super) requests: &'a [Request],
    /// Whether dupeproof may stop the target's processes.
    pub(super) may_freeze: bool,
}

impl Ground<'_> {
    pub(super) fn phase(&self, node: &Node) -> Phase {
        let burst = match node.get("rate") {
            Some(rate) => Burst::Rate(self.rate(rate)),
            None => self.burst(at(node, "burst")),
        };
        let faults = at(node, "fault").items().iter().map(fault::fault).collect();
        Phase { name: text(node, "name"), burst, faults }
    }

    fn burst(&self, node: &Node) -> Burst {
        let kind = node.entries().first().expect("the check has found one kind");
        let node = &kind.node;
        let crowd = || self.crowd(node);
        match kind.name.as_str() {
            "same-key" => Burst::SameKey(crowd()),
            "same-fingerprint" => Burst::SameFingerprint(crowd()),
            "mutated" => Burst::Mutated(Mutated {
                crowd: crowd(),
                mutated_share: share(node, "mutated-share"),
                again: count(node, "again"),
            }),
            "fresh-key" => Burst::FreshKey(crowd()),
            "shared-key" => {
                Burst::SharedKey(SharedKey { crowd: crowd(), sharing: count(node, "sharing") })
            }
            "last-unit" => {
                Burst::LastUnit(LastUnit { crowd: crowd(), stock: count(node, "stock") })
            }
            "race" => Burst::Race(self.race(node)),
            "submit-token" => Burst::SubmitToken(SubmitToken {
                crowd: crowd(),
                token: self.request(node, "token"),
                token_at: text(node, "token-at"),
            }),
            "mixed" => Burst::Mixed(Mixed {
                crowd: crowd(),
                variant_share: share(node, "variant-share"),
                mutated_share: share(node, "mutated-share"),
                fresh_share: share(node, "fresh-share"),
            }),
            "sequential" => Burst::Sequential(Sequential {
                users: count(node, "users"),
                repeats: count(node, "repeats"),
                quantity: count(node, "quantity"),
                request: self.request(node, "request"),
                vary: at(node, "vary")
                    .items()
                    .iter()
                    .filter_map(Node::word)
                    .map(|word| meaning(&Vary::ALL, Vary::word, word))
                    .collect(),
                route: node.get("route").map(|_| self.request(node, "route")),
            }),
            "bad-keys" => Burst::BadKeys(BadKeys {
                users: count(node, "users"),
                quantity: count(node, "quantity"),
                request: self.request(node, "request"),
            }),
            other => unreachable!("the description has no burst `{other}`"),
        }
    }

    /// A race sends its `first` request; what races is listed beside the crowd.
    fn race(&self, node: &Node) -> Race {
        let first = self.request(node, "first");
        let in_turn = flag(node, "in-turn");
        let mut crowd = Crowd { request: first, ..self.crowd(node) };
        if in_turn {
            crowd.release = Release::Loop;
        }
        let requests = at(node, "requests").items().iter().filter_map(Node::text);
        Race { crowd, first, requests: requests.map(|name| self.named(name)).collect(), in_turn }
    }

    fn crowd(&self, node: &Node) -> Crowd {
        let arrival = match (maybe_duration(node, "stagger"), maybe_word(node, "arrival")) {
            (Some(apart), _) => Arrival::Staggered(apart),
            (None, Some("spread")) => Arrival::Spread,
            (None, Some("around-completion")) => Arrival::AroundCompletion,
            (None, _) => Arrival::AtOnce,
        };
        let release = match maybe_word(node, "release") {
            Some(word) => meaning(&Release::ALL, Release::word, word),
            None if self.may_freeze && arrival == Arrival::AtOnce => Release::Frozen,
            None => Release::Loop,
        };
        Crowd {
            users: count(node, "users"),
            threads: count(node, "threads"),
            quantity: count(node, "quantity"),
            request: self.request(node, "request"),
            release,
            arrival,
            overlap_share: share(node, "overlap-share"),
        }
    }

    fn rate(&self, node: &Node) -> Rate {
        Rate {
            per_second: count(node, "per-second"),
            lasts: duration(node, "for"),
            duplicate_share: share(node, "duplicate-share"),
            quantity: count(node, "quantity"),
            request: self.request(node, "request"),
        }
    }

    /// The index of the request that a key names; without the key, the first.
    fn request(&self, node: &Node, key: &str) -> usize {
        maybe_text(node, key).map_or(0, |name| self.named(&name))
    }

    pub(super) fn named(&self, name: &str) -> usize {
        let place = self.requests.iter().position(|request| request.name == name);
        place.expect("the comparison has found it")
    }
}
