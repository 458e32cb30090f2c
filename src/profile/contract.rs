//! What the target promises about duplicates. Presets are data; a profile overrides single clauses.
//!
//! A contract reads replies (which outcome is this?) and says what the audit may hold against the
//! target. Status and code together tell in-progress from mismatch where both share a status.

use std::time::Duration;

/// A contract with all its clauses.
#[derive(Clone, Debug, PartialEq)]
pub struct Contract {
    pub preset: &'static str,
    /// Statuses of a first success.
    pub first: Vec<u16>,
    pub replay: Replay,
    /// A header that tells a replay from a first answer, in lower case.
    pub replay_marker: Option<String>,
    pub in_progress: Answer,
    pub other_parameters: Answer,
    pub missing_key: Answer,
    /// Sold out and other refusals of the business.
    pub business_rejection: Answer,
    /// Ahead of the idempotency layer: 401, 403, 429.
    pub shed: Answer,
    /// The answer for an outcome that needs reconciliation.
    pub parked: Option<Answer>,
    /// What a pending answer must carry.
    pub hint: Hint,
    /// Business columns instead of (user, key): at most one valid order for each combination.
    pub one_order_per: Vec<BusinessColumn>,
    /// The longest time to a definite answer; the resolver asks until then.
    pub recovery_limit: Duration,
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
}

impl ReplayBody {
    pub const ALL: [Self; 3] = [Self::Bytes, Self::Json, Self::OrderId];

    /// Its word in profiles and output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Json => "json",
            Self::OrderId => "order-id",
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
        let with_code = |statuses: &[u16], values: &[&str]| Answer {
            statuses: statuses.to_vec(),
            code: Some(BodyCode {
                pointer: "/code".to_owned(),
                values: values.iter().map(|&value| value.to_owned()).collect(),
            }),
        };
        let by_status = |statuses: &[u16]| Answer { statuses: statuses.to_vec(), code: None };
        Self {
            preset: "order-strict",
            first: vec![201],
            replay: Replay { statuses: None, body: ReplayBody::Bytes },
            replay_marker: None,
            in_progress: by_status(&[202]),
            other_parameters: by_status(&[409]),
            missing_key: with_code(&[400], &["MISSING_KEY"]),
            business_rejection: by_status(&[404, 422]),
            shed: by_status(&[401, 403, 429]),
            parked: None,
            hint: Hint::Either,
            one_order_per: Vec::new(),
            recovery_limit: Duration::from_secs(30),
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
