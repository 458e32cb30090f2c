//! What the target promises about duplicates. Presets are data; a profile overrides single clauses.
//!
//! A contract reads replies (which outcome is this?) and says what the audit may hold against the
//! target. Status and code together tell in-progress from mismatch where both share a status.

use std::time::Duration;

use super::presets;

/// A contract with all its clauses.
#[derive(Clone, Debug, PartialEq)]
pub struct Contract {
    pub preset: &'static str,
    pub key: KeyRule,
    /// Statuses of a first success.
    pub first: Vec<u16>,
    pub replay: Replay,
    /// A header that tells a replay from a first answer, in lower case.
    pub replay_marker: Option<String>,
    pub in_progress: Answer,
    /// What a key with changed parameters gets.
    pub other_parameters: OtherParameters,
    pub missing_key: MissingKey,
    /// What a key that breaks the rule for keys gets; `None`: the contract doesn't say.
    pub malformed_key: Option<Answer>,
    /// Sold out and other refusals of the business.
    pub business_rejection: Answer,
    /// Ahead of the idempotency layer: 401, 403, 429.
    pub shed: Answer,
    /// The answer for an outcome that needs reconciliation.
    pub parked: Option<Answer>,
    /// What a pending answer must carry.
    pub hint: Hint,
    /// Whether a business rejection is stored, so that the same key gets it again; otherwise it is
    /// decided anew.
    pub rejection_is_stored: bool,
    /// What a key gets once its record has expired.
    pub after_expiry: AfterExpiry,
    /// Whether equal bodies under different keys are one order within a window; `None`: each is one.
    pub window: Option<Duration>,
    /// A saga heals what A0 sees within this time; `None`: atomic.
    pub settles_within: Option<Duration>,
    /// The longest wait for any reply while no fault is at work.
    pub longest_wait: Duration,
    /// Business columns instead of (user, key): at most one valid order for each combination.
    pub one_order_per: Vec<BusinessColumn>,
    /// The longest time to a definite answer; the resolver asks until then.
    pub recovery_limit: Duration,
    /// What happens while Redis can't be reached; `None`: the contract doesn't say.
    pub redis_down: Option<RedisDown>,
}

/// Where the key travels, and what it may look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRule {
    pub carrier: KeyCarrier,
    pub syntax: KeySyntax,
    pub longest: Option<usize>,
    /// Whether two users may send the same string and get two results.
    pub scope: KeyScope,
}

/// Where the key travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyCarrier {
    /// A header, in lower case.
    Header(String),
    /// A JSON pointer into the body.
    Body(String),
}

/// How the key is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySyntax {
    Raw,
    /// An RFC 8941 string: in double quotes.
    Quoted,
    Uuid,
}

/// For whom a key is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyScope {
    User,
    /// All users of the account share one name space.
    Account,
}

impl KeySyntax {
    pub const ALL: [Self; 3] = [Self::Raw, Self::Quoted, Self::Uuid];

    /// Its word in profiles and output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Quoted => "quoted",
            Self::Uuid => "uuid",
        }
    }
}

impl KeyScope {
    pub const ALL: [Self; 2] = [Self::User, Self::Account];

    /// Its word in profiles and output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Account => "account",
        }
    }
}

/// What a key with changed parameters gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtherParameters {
    Rejected {
        answer: Answer,
        /// Whether the fingerprint is compared first, also while the first is in progress.
        while_in_progress: bool,
    },
    /// The stored result of the first, whatever was asked.
    OldResult,
    /// The contract doesn't say.
    Unsaid,
}

/// What a request without a key gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingKey {
    Rejected(Answer),
    /// It is executed, unprotected.
    Executed,
    Unsaid,
}

/// What a key gets once its record has expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterExpiry {
    SameOrder,
    NewOrder,
    Rejected,
}

impl AfterExpiry {
    pub const ALL: [Self; 3] = [Self::SameOrder, Self::NewOrder, Self::Rejected];

    /// Its word in profiles and output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::SameOrder => "same-order",
            Self::NewOrder => "new-order",
            Self::Rejected => "rejected",
        }
    }
}

/// What happens while Redis can't be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedisDown {
    /// Requests are served with less protection; the data stay right.
    Degrade,
    /// Requests are turned away.
    Reject,
    /// Requests are served, and the database alone decides.
    Database,
}

impl RedisDown {
    pub const ALL: [Self; 3] = [Self::Degrade, Self::Reject, Self::Database];

    /// Its word in profiles and output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Degrade => "degrade",
            Self::Reject => "reject",
            Self::Database => "database",
        }
    }
}

/// A kind of answer: any of these statuses, and where codes are given, one of these too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub statuses: Vec<u16>,
    /// JSON pointer to the code in the body, with its accepted values; `None`: the status decides.
    pub code: Option<BodyCode>,
}

/// A code in an answer's body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyCode {
    pub pointer: String,
    pub values: Vec<String>,
}

/// What a replay must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// `None`: the first answer's status. Otherwise one of these.
    pub statuses: Option<Vec<u16>>,
    pub body: ReplayBody,
}

/// How much of a replay's body must equal the first answer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayBody {
    Bytes,
    Json,
    OrderId,
    /// The order as it is now; only its id must agree.
    Current,
}

impl ReplayBody {
    pub const ALL: [Self; 4] = [Self::Bytes, Self::Json, Self::OrderId, Self::Current];

    /// Its word in profiles and output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Json => "json",
            Self::OrderId => "order-id",
            Self::Current => "current",
        }
    }
}

/// What a pending answer must tell its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    None,
    RetryAfter,
    Location,
    Either,
}

impl Hint {
    pub const ALL: [Self; 4] = [Self::None, Self::RetryAfter, Self::Location, Self::Either];

    /// Its word in profiles and output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::RetryAfter => "retry-after",
            Self::Location => "location",
            Self::Either => "either",
        }
    }
}

/// A column that a business key is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BusinessColumn {
    User,
    Key,
    Product,
}

impl BusinessColumn {
    pub const ALL: [Self; 3] = [Self::User, Self::Key, Self::Product];

    /// Its word in profiles and output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Key => "key",
            Self::Product => "product",
        }
    }
}

impl Contract {
    /// `order-strict`, the default: fingerprint compared first, exact replays, 202 in progress.
    pub fn order_strict() -> Self {
        presets::contract("order-strict").expect("there is a file for it")
    }

    /// The contract of a preset, by its name in profiles.
    pub fn of_preset(name: &str) -> Option<Self> {
        presets::contract(name)
    }

    /// The rejection of changed parameters, where there is one.
    pub const fn mismatch(&self) -> Option<&Answer> {
        match &self.other_parameters {
            OtherParameters::Rejected { answer, .. } => Some(answer),
            OtherParameters::OldResult | OtherParameters::Unsaid => None,
        }
    }

    /// Whether an answer may be `in progress` and a rejection of changed parameters alike: they share a
    /// status, and no code tells them apart.
    pub fn mismatch_may_be_in_progress(&self) -> bool {
        let Some(mismatch) = self.mismatch() else { return false };
        let has_one_status = |status| mismatch.statuses.contains(status);
        let has_one_code = match (&self.in_progress.code, &mismatch.code) {
            (None, None) => true,
            (Some(one), Some(other)) => {
                one.pointer == other.pointer
                    && one.values.iter().any(|value| other.values.contains(value))
            }
            // The one with a code is looked for first.
            (None, Some(_)) | (Some(_), None) => false,
        };
        self.in_progress.statuses.iter().any(has_one_status) && has_one_code
    }

    /// The rejection of a request without a key, where there is one.
    pub const fn rejects_missing_key(&self) -> Option<&Answer> {
        match &self.missing_key {
            MissingKey::Rejected(answer) => Some(answer),
            MissingKey::Executed | MissingKey::Unsaid => None,
        }
    }

    /// The columns that make an order unique: the business key, or user and key.
    pub fn unique_by(&self) -> &[BusinessColumn] {
        if self.one_order_per.is_empty() {
            &[BusinessColumn::User, BusinessColumn::Key]
        } else {
            &self.one_order_per
        }
    }
}
