//! What was done to the target and its wires, and what became of it.
//!
//! A fault is planned, armed, and fires at a step or a time; each firing has an effect, which is
//! proved by what the other side shows and not by the rule's own word, and ends. What these lines don't
//! say hasn't happened: a fault that never fired makes its run inconclusive (G2).

use serde::{Deserialize, Serialize};

use super::{FaultId, InstanceId, IntentId, LinkId, PhaseId, RunTime, Wire};

/// One thing that happened to a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultFacts {
    pub fault: FaultId,
    pub at: RunTime,
    pub event: FaultEvent,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultEvent {
    Planned(FaultPlan),
    /// From now on it may fire.
    Armed,
    Fired(Firing),
    /// What the peer showed of a firing.
    Effect {
        firing: u32,
        proof: Proof,
    },
    /// A firing is over: nothing is held, lost or withheld by it any more.
    Ended {
        firing: u32,
        how: FiringEnd,
    },
    /// It can't fire any more, and everything that it broke has been put right.
    Healed,
}

/// What a fault is to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultPlan {
    pub phase: PhaseId,
    /// In one line: `hold after "postgres COMMIT"`.
    pub name: String,
    /// Its word in profiles: `hold`, `drop-reply`.
    pub act: String,
    /// How often it has to fire for the run to prove anything.
    pub at_least: u32,
}

/// A fault was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Firing {
    /// Counted from 1 for each fault.
    pub number: u32,
    /// When it was decided on; it was applied at the time of the line.
    pub decided: RunTime,
    /// Absent where no step triggered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<FiredStep>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<InstanceId>,
    /// Other intents with a step under way on the same connection, which share its fate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_hit: Vec<IntentId>,
}

/// The step at which a fault fired. Link and time find it among the journal's steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FiredStep {
    pub link: LinkId,
    pub asked: RunTime,
    pub wire: Wire,
    /// Without a number: `postgres COMMIT`.
    pub name: String,
    pub point: StepPoint,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<IntentId>,
    /// Those whose step it may be, where several intents share a user, a key or an order: a changed
    /// twin, pay and close.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub among: Vec<IntentId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<i64>,
    /// The key of Redis, or the target of an HTTP request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// PostgreSQL's process at the other end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<u32>,
}

/// Where in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepPoint {
    /// Its request hasn't been forwarded.
    Before,
    /// It is done, and its reply is withheld.
    After,
    /// Its request was forwarded just now; whether it is done isn't known (S13).
    InBuffer,
}

impl StepPoint {
    pub const ALL: [Self; 3] = [Self::Before, Self::After, Self::InBuffer];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
            Self::InBuffer => "in-buffer",
        }
    }
}

/// What shows that a firing had its effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Proof {
    /// The server has answered so, and the client has not been given it.
    ServerAnswered { answer: String },
    /// The request had not reached the server, which owes nothing for it.
    ServerNotAsked,
    /// The request has left for the server, and no answer of it was waited for.
    RequestForwarded,
    /// The server's transaction has ended without its effects.
    ServerRolledBack,
    /// The client's end of the connection has closed or was reset after the reply was withheld.
    ClientCutOff,
    /// The client was given this error, and the server had not done the step.
    ErrorDelivered { error: String },
    /// So many connections were cut, and so many refused or swallowed.
    Cut { links: u64, refused: u64 },
    /// A connection has been made to the other server.
    Swapped { links: u64 },
    /// So many keys were there and have been deleted.
    KeysGone { keys: u32 },
    /// So many keys were there, and their time is really over.
    KeysExpired { keys: u32 },
    /// So many keys were taken by dupeproof.
    KeysTaken { keys: u32 },
}

/// How a firing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FiringEnd {
    /// It was over with being applied: a reply dropped, an error given.
    AtOnce,
    /// Every other attempt of the same thing had its answer.
    OthersAnswered,
    /// Every other attempt had its answer, or waited for the one that was held (S02).
    OthersBlocked,
    /// Only a connection that the others need as well was in their way: the hold blocked itself.
    OwnHold,
    /// Somebody else holds the lease now.
    TakenOver,
    /// The lease is gone.
    LeaseOver,
    /// The time that it was given is over.
    TimeOver,
    /// The client has closed its connection.
    ClientLeft,
    ServerClosed,
    /// The phase is over, or the fault was taken back.
    Healed,
}
