//! What leaves together, or one after the other. One kind is one variant.
//!
//! Everything that concurrent kinds share is a [`Crowd`]; what a kind adds stands beside it.

use std::time::Duration;

/// `burst.KIND` of a phase.
#[derive(Clone, Debug, PartialEq)]
pub enum Burst {
    /// Identical bytes: `threads` attempts for each of `users` intents.
    SameKey(Crowd),
    /// One key, one intent, other bytes in every attempt: key order, white space, escapes, ignored
    /// fields, number forms.
    SameFingerprint(Crowd),
    /// One key, a changed intent in a share of the attempts.
    Mutated(Mutated),
    /// One body, `threads` keys for each user: as many orders as keys.
    FreshKey(Crowd),
    /// One key string for `sharing` users at a time: as many results as users.
    SharedKey(SharedKey),
    /// More buyers than units of one product.
    LastUnit(LastUnit),
    /// Several requests at one entity, such as pay and close.
    Race(Race),
    /// A token from the target, then `threads` attempts with it.
    SubmitToken(SubmitToken),
    /// Every attempt draws what it does.
    Mixed(Mixed),
    /// One attempt after the other: the boring case, which is broken surprisingly often.
    Sequential(Sequential),
    /// Requests without a key, and with keys that the contract forbids.
    BadKeys(BadKeys),
    /// Open loop: so many a second, for so long, whatever the target does.
    Rate(Rate),
}

impl Burst {
    /// The kind's word in profiles and output.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::SameKey(_) => "same-key",
            Self::SameFingerprint(_) => "same-fingerprint",
            Self::Mutated(_) => "mutated",
            Self::FreshKey(_) => "fresh-key",
            Self::SharedKey(_) => "shared-key",
            Self::LastUnit(_) => "last-unit",
            Self::Race(_) => "race",
            Self::SubmitToken(_) => "submit-token",
            Self::Mixed(_) => "mixed",
            Self::Sequential(_) => "sequential",
            Self::BadKeys(_) => "bad-keys",
            Self::Rate(_) => "rate",
        }
    }

    /// How its attempts follow each other, in a word.
    pub const fn arrival(&self) -> &'static str {
        match self {
            Self::Sequential(_) | Self::BadKeys(_) => "in-turn",
            Self::Race(race) if race.in_turn => "in-turn",
            Self::Rate(_) => "open-loop",
            _ => match self.crowd() {
                Some(crowd) => crowd.arrival.word(),
                None => "in-turn",
            },
        }
    }

    /// Lets its last bytes leave in one loop: for a target that can't be paused.
    pub const fn release_in_a_loop(&mut self) {
        let crowd = match self {
            Self::SameKey(crowd) | Self::SameFingerprint(crowd) | Self::FreshKey(crowd) => crowd,
            Self::Mutated(burst) => &mut burst.crowd,
            Self::SharedKey(burst) => &mut burst.crowd,
            Self::LastUnit(burst) => &mut burst.crowd,
            Self::Race(burst) => &mut burst.crowd,
            Self::SubmitToken(burst) => &mut burst.crowd,
            Self::Mixed(burst) => &mut burst.crowd,
            Self::Sequential(_) | Self::BadKeys(_) | Self::Rate(_) => return,
        };
        crowd.release = Release::Loop;
    }

    /// What concurrent kinds share.
    pub const fn crowd(&self) -> Option<&Crowd> {
        match self {
            Self::SameKey(crowd) | Self::SameFingerprint(crowd) | Self::FreshKey(crowd) => {
                Some(crowd)
            }
            Self::Mutated(burst) => Some(&burst.crowd),
            Self::SharedKey(burst) => Some(&burst.crowd),
            Self::LastUnit(burst) => Some(&burst.crowd),
            Self::Race(burst) => Some(&burst.crowd),
            Self::SubmitToken(burst) => Some(&burst.crowd),
            Self::Mixed(burst) => Some(&burst.crowd),
            Self::Sequential(_) | Self::BadKeys(_) | Self::Rate(_) => None,
        }
    }
}

/// What concurrent bursts share.
#[derive(Clone, Debug, PartialEq)]
pub struct Crowd {
    /// Users; for a race, entities; for the last unit, buyers.
    pub users: u32,
    /// Attempts that leave together for each user (for a race: of each of its requests).
    pub threads: u32,
    /// Units in each order.
    pub quantity: u32,
    /// Index into the profile's requests.
    pub request: usize,
    pub release: Release,
    pub arrival: Arrival,
    /// The share of contended things that must overlap for gate G1, 0 to 1.
    pub overlap_share: f64,
}

/// `burst.mutated`.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutated {
    pub crowd: Crowd,
    /// Share of the attempts of each key whose intent is changed, 0 to 1; at least one of each kind.
    pub mutated_share: f64,
    /// Attempts of each kind, original and mutated, once all have been answered.
    pub again: u32,
}

/// `burst.shared-key`.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedKey {
    pub crowd: Crowd,
    /// Users to one key string.
    pub sharing: u32,
}

/// `burst.last-unit`: one product of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct LastUnit {
    pub crowd: Crowd,
    /// Units on the shelf; fewer than the buyers want.
    pub stock: u32,
}

/// `burst.race`.
#[derive(Clone, Debug, PartialEq)]
pub struct Race {
    pub crowd: Crowd,
    /// The request that makes an entity, sent once for each before the race.
    pub first: usize,
    /// The requests that race at each entity.
    pub requests: Vec<usize>,
    /// One after the other in this order, instead of together.
    pub in_turn: bool,
}

/// `burst.submit-token`.
#[derive(Clone, Debug, PartialEq)]
pub struct SubmitToken {
    pub crowd: Crowd,
    /// The request that issues a token.
    pub token: usize,
    /// JSON pointer to the token in its answer.
    pub token_at: String,
}

/// `burst.mixed`: shares of what an attempt does; what is left over repeats the original bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixed {
    pub crowd: Crowd,
    pub variant_share: f64,
    pub mutated_share: f64,
    pub fresh_share: f64,
}

/// `burst.sequential`.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequential {
    pub users: u32,
    /// Attempts after the first, each sent when the one before has been answered.
    pub repeats: u32,
    pub quantity: u32,
    pub request: usize,
    /// What differs in the repeats; empty: nothing.
    pub vary: Vec<Vary>,
    /// Another request (route or method) that takes turns with the first in the repeats.
    pub route: Option<usize>,
}

/// What a repeat changes without changing the intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vary {
    /// The body's bytes, as `same-fingerprint` does.
    Body,
    /// Headers that don't belong to the intent: user agent, accept, trace ids, their order and case.
    Headers,
}

impl Vary {
    pub const ALL: [Self; 2] = [Self::Body, Self::Headers];

    /// Its word in profiles and output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::Headers => "headers",
        }
    }
}

/// `burst.bad-keys`.
#[derive(Clone, Debug, PartialEq)]
pub struct BadKeys {
    /// Users for each form of bad key.
    pub users: u32,
    pub quantity: u32,
    pub request: usize,
}

/// `rate` of a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    pub per_second: u32,
    pub lasts: Duration,
    /// Share of the attempts that repeat an earlier intent, 0 to 1.
    pub duplicate_share: f64,
    pub quantity: u32,
    pub request: usize,
}

/// When the attempts of one key leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrival {
    /// In one instant.
    #[default]
    AtOnce,
    /// One after the other, this far apart.
    Staggered(Duration),
    /// Evenly over the time that the first one takes.
    Spread,
    /// One first, all others at the moment when it completes.
    AroundCompletion,
}

impl Arrival {
    /// Its word in output; a stagger adds its time.
    pub const fn word(self) -> &'static str {
        match self {
            Self::AtOnce => "at-once",
            Self::Staggered(_) => "staggered",
            Self::Spread => "spread",
            Self::AroundCompletion => "around-completion",
        }
    }
}

/// How the last bytes leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// The target is stopped, its socket buffers are loaded, then it is resumed.
    Frozen,
    /// One plain loop in key order while the target runs.
    Loop,
}

impl Release {
    pub const ALL: [Self; 2] = [Self::Frozen, Self::Loop];

    /// Its word in profiles and output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Frozen => "frozen",
            Self::Loop => "loop",
        }
    }
}
