//! Intents, attempts, and what an attempt came to.
//!
//! An attempt carries what was observed, and its outcome as the contract reads it. Both are kept,
//! so that a reader can disagree with the reading. A run has as many attempts as fit in memory; texts
//! that many of them share are shared.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{AttemptId, BodyId, InstanceId, IntentId, PhaseId, RunTime, VariantId};

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
    /// Name of the request that carries it.
    pub request: String,
    /// The order that it acts on; absent for an intent to place one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<String>,
    /// In which form the key is sent.
    #[serde(default, skip_serializing_if = "KeyForm::is_good")]
    pub key_form: KeyForm,
}

/// In which form a key is sent.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum KeyForm {
    #[default]
    Good,
    Missing,
    Empty,
    /// Longer than the contract allows.
    TooLong,
    /// Two different keys in one request.
    Twice,
    /// Not of the contract's syntax, such as bare where a quoted string is due.
    WrongSyntax,
}

impl KeyForm {
    pub const BAD: [Self; 5] =
        [Self::Missing, Self::Empty, Self::TooLong, Self::Twice, Self::WrongSyntax];

    /// Whether the contract accepts it.
    pub const fn is_good(&self) -> bool {
        matches!(self, Self::Good)
    }
}

/// Other bytes of the same intent (gate G5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    pub id: VariantId,
    pub intent: IntentId,
    /// What was changed, such as `key order` or `1.0 for 1`.
    pub how: String,
    /// SHA-256 of the request's bytes behind the request line and Host, and of the original's.
    pub sha256: String,
    pub original_sha256: String,
    /// Our canonical form, which must be the intent's.
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
    /// It sets the scene: places the order that a race is about, fetches a token, logs in.
    Prepare,
    /// It asks again after a definite answer, on purpose.
    Replay,
    /// It belongs to a steady load.
    Steady,
    /// A fault is over, and it asks whether the target answers again; what it buys it buys for that
    /// alone.
    Probe,
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

/// One HTTP request for an intent. The client never resends by itself. Its texts are shared, or, while it
/// is read, still part of the line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempt<Text = Arc<str>> {
    pub id: AttemptId,
    pub intent: IntentId,
    pub cause: Cause,
    pub instance: InstanceId,
    /// The bytes, where they aren't the intent's original ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<VariantId>,
    pub sent: Sent,
    /// When a steady load had planned it; latency counts from here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<RunTime>,
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
    pub order: Option<Text>,
    /// Whether the reply carried the contract's replay marker; absent where the contract has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_marker: Option<bool>,
    /// The hint of a pending answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
    /// Which rejection of the contract it was, such as `mismatch` or `missing-key`; refused only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Text>,
    /// What went wrong on the way, in words; set when there is no complete, readable reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Text>,
}

impl<Text> Attempt<Text> {
    /// The same attempt with its texts in another form.
    pub(super) fn with_texts<Other>(self, mut form: impl FnMut(Text) -> Other) -> Attempt<Other> {
        Attempt {
            id: self.id,
            intent: self.intent,
            cause: self.cause,
            instance: self.instance,
            variant: self.variant,
            sent: self.sent,
            planned: self.planned,
            first_byte: self.first_byte,
            last_byte: self.last_byte,
            released: self.released,
            completed: self.completed,
            outcome: self.outcome,
            status: self.status,
            body: self.body,
            order: self.order.map(&mut form),
            replay_marker: self.replay_marker,
            waiting: self.waiting,
            refusal: self.refusal.map(&mut form),
            failure: self.failure.map(form),
        }
    }

    /// The time from release (in a steady load: from the planned start) to the end of the reply.
    pub fn latency(&self) -> Option<std::time::Duration> {
        Some(self.completed?.since(self.planned.or(self.released)?))
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

impl Body {
    /// Whether the text is all of it, as it was.
    pub const fn is_whole(&self) -> bool {
        self.text.len() as u64 == self.bytes
    }
}
