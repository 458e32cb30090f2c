//! What the audit says: gates, findings with their evidence, doubts, one verdict.

use serde::{Deserialize, Serialize};

use crate::codes::{Code, Severity};
use crate::history::{
    AttemptId, Doubt, FiredStep, FiringEnd, InstanceId, PhaseId, Proof, RunTime, Step,
};

use super::FaultAccount;

/// The three verdicts. Violated beats inconclusive beats passed.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Passed,
    Inconclusive,
    Violated,
}

/// Everything an audit came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    pub verdict: Verdict,
    /// One line each in the gate table: every invariant and rule in the order of their ids, then the
    /// vacuity gates.
    pub gates: Vec<Gate>,
    /// Worst first.
    pub findings: Vec<Finding>,
    /// Why the run proves less than it set out to; any of them rules out `passed`.
    pub doubts: Vec<Doubt>,
    pub accounting: Accounting,
    /// What became of each fault, in the order of their ids.
    pub faults: Vec<FaultAccount>,
}

/// A line of the gate table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    pub code: &'static Code,
    pub state: GateState,
    /// In numbers: `0 of 12 products below zero`.
    pub detail: String,
}

/// How a gate came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateState {
    Held,
    /// Of an invariant or a rule: there is a finding that fails the gate. Of a gate (a code without
    /// a severity): it was missed, and the run is inconclusive.
    Broken,
    /// There was nothing to judge it on, and the run is none the worse for it (no stock table).
    NotJudged,
}

/// A broken invariant with its evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub code: &'static Code,
    pub severity: Severity,
    /// One sentence in numbers: `one intent became two orders, 22 times`.
    pub title: String,
    /// How often.
    pub count: u64,
    /// All of it; the terminal shows at most three rows.
    pub evidence: Evidence,
    /// What the story is told about: the clearest case.
    pub witness: Witness,
    /// Conclusions, each with its reason, strictly from what was observed.
    pub therefore: Vec<String>,
    /// One sentence that fits this case; the registry's cure is the general one.
    pub help: String,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Evidence {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// The smallest set of facts that contradict each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    /// What it is about, as the story's heading names it: `how k-…-041 got two orders`.
    pub heading: String,
    /// At most three where three suffice.
    pub attempts: Vec<AttemptId>,
    /// Order rows that belong to it, by id.
    pub orders: Vec<String>,
    pub product: Option<i64>,
    /// What was done for it on the wires, in the order in which it was asked.
    pub steps: Vec<Seen>,
    /// What dupeproof did to it, in the order of time.
    pub faults: Vec<Struck>,
}

/// A firing of a fault that a witness felt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struck {
    /// The fault in one line, and its word.
    pub name: String,
    pub act: String,
    /// When it was applied.
    pub at: RunTime,
    /// The step at which it fired; absent where no step triggered it.
    pub step: Option<FiredStep>,
    /// Who made the step, as far as that can be told.
    pub attempt: Option<AttemptId>,
    pub instance: Option<InstanceId>,
    /// What the other side showed first.
    pub proof: Option<Proof>,
    pub end: Option<(RunTime, FiringEnd)>,
}

/// A step of a witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub step: Step,
    /// Who made it, where no other attempt of the intent can have.
    pub attempt: Option<AttemptId>,
    pub instance: Option<InstanceId>,
    /// The order that its transaction wrote, where that is known.
    pub order: Option<String>,
}

/// Where every attempt and every intent went. It must balance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Accounting {
    pub intents: u64,
    pub attempts: u64,
    /// Attempts that were part of a burst; the others are retries and the resolver's.
    pub burst_attempts: u64,
    pub retries: u64,
    pub resolver_attempts: u64,
    /// Attempts that set a scene, such as placing the order that a race is about.
    pub preparing_attempts: u64,
    /// Attempts that asked again after a definite answer, on purpose.
    pub replays: u64,
    pub steady_attempts: u64,
    /// Attempts that asked whether the target answers again once a fault was healed.
    pub probes: u64,
    /// Attempts whose last byte was handed to the kernel.
    pub sent_whole: u64,
    pub not_sent: u64,
    pub acknowledged: u64,
    pub pending: u64,
    pub parked: u64,
    pub refused: u64,
    pub unknown: u64,
    /// Intents by what they came to in the database.
    pub intents_with_one_order: u64,
    pub intents_with_none: u64,
    pub intents_with_more: u64,
    /// Orders of the run found in the database.
    pub orders: u64,
    /// Intents without a definite outcome after the resolver.
    pub intents_undecided: u64,
    pub overlap: Vec<Overlap>,
}

/// Overlap of one concurrent burst (gate G1): offered, in the client's view, an upper bound; and reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Overlap {
    #[schemars(with = "u16")]
    pub phase: PhaseId,
    pub keys: u64,
    /// Keys with at least two attempts in flight before the first definite reply.
    pub overlapped: u64,
    /// Attempts in flight before the first definite reply, per key.
    pub in_flight_median: u64,
    pub in_flight_worst: u64,
    /// Attempts per key that the burst planned.
    pub planned: u64,
    /// Keys of which a second attempt made its first step before the first one committed; absent where no
    /// wire could tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<u64>,
    /// Keys of which the wires can tell: some step named them.
    pub watched: u64,
}

/// A line of a story.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Scene {
    /// Microseconds of run time; absent where only the order is known.
    #[schemars(with = "Option<u64>")]
    pub at: Option<RunTime>,
    /// `client`, `redis`, `postgres`, `http`, `target`, `fault`.
    pub seen_by: String,
    pub what: String,
}
