//! The facts that a run writes down, one JSON line each.
//!
//! A change of any struct here, in `attempt.rs`, `step.rs`, `fault.rs` or `rows.rs` bumps [`SCHEMA_VERSION`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Attempt, Body, FaultFacts, InstanceId, Intent, LinkFacts, PhaseId, RunId, RunTime,
    StatementFacts, Step, Variant, WireFacts,
};

/// Version of the journal's lines and of the rows beside it.
pub const SCHEMA_VERSION: u32 = 5;

/// One line of `journal.jsonl`, such as `{"attempt":{...}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    /// The first line.
    Run(Box<RunFacts>),
    Instance(InstanceFacts),
    PhaseStarted(PhaseFacts),
    Intent(Intent),
    Variant(Variant),
    Body(Body),
    Attempt(Attempt),
    Link(LinkFacts),
    Statement(StatementFacts),
    Step(Step),
    Wire(WireFacts),
    Fault(FaultFacts),
    Burst(BurstFacts),
    PhaseEnded {
        phase: PhaseId,
        at: RunTime,
    },
    Exit(Exit),
    Drain(DrainFacts),
    Counter(CounterFacts),
    Clock(ClockFacts),
    /// A reason why the run proves less than it set out to.
    Doubt(Doubt),
    /// Ctrl-C: the load was stopped early.
    Interrupted {
        at: RunTime,
    },
    /// The last line of a complete journal: how many lines stand above it.
    Sealed {
        facts: u64,
    },
}

/// What a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunFacts {
    pub schema_version: u32,
    pub run: RunId,
    pub seed: u64,
    /// Version of dupeproof.
    pub version: String,
    /// The profile's file name, as it was given.
    pub profile: String,
    /// The wall clock at run time 0.
    pub started: jiff::Timestamp,
    /// The defects that were switched on in the lab's shop.
    pub defects: Vec<String>,
    /// Versions and settings of what the run ran on, in words, for the report.
    pub environment: BTreeMap<String, String>,
}

/// One instance of the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstanceFacts {
    pub id: InstanceId,
    pub name: String,
    pub url: String,
}

/// What the attempts of a concurrent phase contend for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contended {
    /// One user's key.
    Key,
    /// One key string, whoever sends it.
    KeyString,
    Product,
    /// The order that is acted on.
    Entity,
}

/// A phase begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseFacts {
    pub id: PhaseId,
    pub name: String,
    /// The burst's kind as the profile writes it: `same-key`.
    pub burst: String,
    /// `at-once`, `staggered`, `spread`, `around-completion`, `in-turn` or `open-loop`.
    pub arrival: String,
    /// What its attempts contend for, so that gate G1 applies; absent where they claim no overlap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contended: Option<Contended>,
    /// The share of contended things that must overlap, 0 to 1.
    pub overlap_share: f64,
    /// Attempts of the burst itself, retries not counted.
    pub planned: u64,
    pub at: RunTime,
}

/// How exactly a burst was released.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BurstFacts {
    pub phase: PhaseId,
    /// `frozen` or `loop`.
    pub release: String,
    /// The client's spread per key (first to last byte handed to the kernel), microseconds.
    pub spread_median_us: u64,
    pub spread_worst_us: u64,
    /// What 20 one-byte sends on connections of the same kind cost, measured just before: the floor
    /// of the spread.
    pub twenty_sends_us: u64,
    /// Connections opened, and how long that took.
    pub connections: u64,
    pub connecting_us: u64,
    /// Frozen release only: when each instance was resumed.
    pub resumes: Vec<ResumeFacts>,
}

/// The moment an instance was let go again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResumeFacts {
    pub instance: InstanceId,
    pub at: RunTime,
}

/// An instance of the target ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exit {
    pub instance: InstanceId,
    pub at: RunTime,
    /// `exit status 3`, `killed by signal 9`.
    pub status: String,
    /// Whether dupeproof did it.
    pub ours: bool,
    /// The last lines it wrote.
    pub last_words: String,
}

/// How a drain (rule S03) ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrainFacts {
    pub began: RunTime,
    pub ended: RunTime,
    pub drained: bool,
    /// What it waited for, or what was still going on when the limit ran out.
    pub about: String,
}

/// Requests that an instance says it has received in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CounterFacts {
    pub instance: InstanceId,
    pub posts: u64,
}

/// How far the wall clock moved against the monotonic one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockFacts {
    /// When it was looked at: the end of the run.
    pub at: RunTime,
    pub drift_us: i64,
}

/// A reason why a run is inconclusive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Doubt {
    /// The code it is listed under, such as `G4`.
    pub code: String,
    /// What happened and why that proves too little.
    pub what: String,
    /// What to do.
    pub cure: String,
}
