//! Intents, attempts, and what an attempt came to.
//!
//! An attempt carries what was observed, and its outcome as the contract reads it. Both are kept,
//! so that a reader can disagree with the reading.

use serde::{Deserialize, Serialize};

use super::{AttemptId, BodyId, InstanceId, IntentId, PhaseId, RunTime};

/// What a buyer meant once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intent {
    pub id: IntentId,
    pub phase: PhaseId,
    pub user: String,
    pub key: String,
    pub product: i64,
    pub quantity: u32,
    /// SHA-256 of our canonical form of the request, without the ignored fields: tells intents of
    /// one key apart. The target's own fingerprint is a different thing.
    pub fingerprint: String,
}

/// Why an attempt was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// It is one of the attempts that leave together.
    Burst,
    /// The client had no definite answer and asked again, as the profile's client does.
    Retry,
    /// The load is over, and the resolver asked until the answer was definite.
    Resolve,
}

/// How much of a request left the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sent {
    /// Not one byte.
    Nothing,
    /// Some bytes, the last one not among them.
    Part,
    /// All of it, handed to the kernel.
    Whole,
}

/// The six outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// No byte left: can't have had an effect.
    NotSent,
    /// A readable success with an order id.
    Acknowledged,
    /// In progress, or the lease couldn't be had: says nothing about the intent's fate.
    Pending,
    /// The contract's answer for an outcome that needs reconciliation.
    Parked,
    /// A rejection of the contract: must have had no effect.
    Refused,
    /// Anything else: may take effect at any time until the drain.
    Unknown,
}

impl Outcome {
    /// Whether asking again can tell nothing more.
    pub const fn is_definite(self) -> bool {
        matches!(self, Self::Acknowledged | Self::Refused | Self::Parked)
    }

    /// Whether at least one byte of the request left.
    pub const fn was_sent(self) -> bool {
        !matches!(self, Self::NotSent)
    }
}

/// What an answer that says "not yet" tells its caller to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waiting {
    pub retry_after: bool,
    pub location: bool,
}

/// One HTTP request for an intent. The client never resends by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    pub id: AttemptId,
    pub intent: IntentId,
    pub cause: Cause,
    pub instance: InstanceId,
    pub sent: Sent,
    /// Before the first byte left; orders the history rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<RunTime>,
    /// When the last byte was handed to the kernel; differs from `released` in a frozen release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_byte: Option<RunTime>,
    /// When the target could begin: its last byte left, or the frozen target was resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<RunTime>,
    /// After the last byte of the reply, or when the attempt was given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed: Option<RunTime>,
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<BodyId>,
    /// The order id of a readable success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// Whether the reply carried the contract's replay marker; absent where the contract has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_marker: Option<bool>,
    /// The hint of a pending answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
    /// Which rejection of the contract it was, such as `mismatch` or `missing-key`; refused only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// What went wrong on the way, in words; set when there is no complete, readable reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Attempt {
    /// The time from release to the end of the reply.
    pub fn latency(&self) -> Option<std::time::Duration> {
        Some(self.completed?.since(self.released?))
    }
}

/// A distinct response body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    pub id: BodyId,
    /// The body as text, cut at a limit; bytes that aren't UTF-8 are shown as replacement characters.
    pub text: String,
    /// SHA-256 of all its bytes, in hexadecimal.
    pub sha256: String,
    /// How many bytes it had.
    pub bytes: u64,
}
