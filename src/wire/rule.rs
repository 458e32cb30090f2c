//! What a rule on the wires is, and what is heard of it.
//!
//! Rules are asked in order, and the first that has an answer for a step decides. A rule is used up
//! when it was applied, not when it was decided on. Whoever arms rules holds an [`Armed`]; when that is
//! dropped the rules are gone, what they hold goes on, and what they silenced is reset.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::history::{FaultFacts, FaultId, InstanceId, IntentId, RunTime};
use crate::profile::{Failure, Loss, StepTrigger};

/// A fault on a wire.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pub fault: FaultId,
    pub at: StepTrigger,
    /// Only steps of this intent.
    pub only: Option<IntentId>,
    pub act: WireAct,
    /// A hold also ends when somebody else is granted the lease that its step is about.
    pub ends_when_taken: bool,
    /// What its probability is drawn from.
    pub seed: u64,
}

/// What a rule does to the step that it fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WireAct {
    /// Until it is released, its limit is over, the client leaves or the server closes.
    Hold {
        limit: Duration,
    },
    DropRequest(Loss),
    DropReply(Loss),
    Delay(Duration),
    Reset,
    Fail(Failure),
    BlackHole,
}

/// Names a hold that stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HoldId(pub(super) u64);

/// Something that happened to a fault on a wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub facts: FaultFacts,
    /// With `Fired`: the hold that stands now.
    pub hold: Option<HoldId>,
    /// With `Fired`: the lease under which the step's intent works, as far as the wires saw one.
    pub lease: Option<SeenLease>,
    /// With `Fired`: keys of Redis that steps of the intent named since rules were armed.
    pub keys: Vec<String>,
}

/// A lease that was granted to an intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenLease {
    pub key: String,
    /// The life that it was given.
    pub life: Option<Duration>,
    pub granted: RunTime,
    /// The wires saw somebody else get it since.
    pub is_anothers: bool,
}

/// How busy the wires see an intent at an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    pub intent: IntentId,
    /// None where instances share a proxy.
    pub instance: Option<InstanceId>,
    /// When a step of it was last asked or answered.
    pub last: RunTime,
    /// The longest time that passed between two of these.
    pub longest_gap: Duration,
    /// The least number of refusals in a row among its steps that are being refused: one that is
    /// refused again and again, such as a lease that another holds. 0 where none is.
    pub refused_in_row: u32,
}

/// Rules that are armed.
#[derive(Debug)]
pub struct Armed {
    pub(super) token: CancellationToken,
}

impl Drop for Armed {
    fn drop(&mut self) {
        self.token.cancel();
    }
}
