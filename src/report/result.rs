//! `result.json`: everything a reader needs of a run, and all that the renderers read.
//!
//! The terminal's text is made from this and nothing else, so that a run can be shown again from
//! its folder. A change of any struct here bumps [`SCHEMA_VERSION`]; the JSON Schema in `schemas/`
//! is generated from these types.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit::{Accounting, Evidence, FaultAccount, GateState, Scene, Verdict};
use crate::codes::Severity;

/// Version of `result.json`.
pub const SCHEMA_VERSION: u32 = 3;

/// The result of one drill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    pub schema_version: u32,
    pub verdict: Verdict,
    /// What the process exits with.
    pub exit_code: u8,
    pub run: RunSummary,
    /// Every invariant and rule, judged or not.
    pub gates: Vec<GateResult>,
    /// Limits that may be missed.
    pub budgets: Vec<BudgetResult>,
    /// Worst first.
    pub findings: Vec<FindingResult>,
    /// Why the run proves less than it set out to.
    pub doubts: Vec<DoubtResult>,
    pub accounting: Accounting,
    /// Answers that the contract doesn't know and failures on the way, the most frequent first.
    pub unknown_answers: Vec<UnknownAnswer>,
    /// Latency of the bursts' attempts, by class of outcome.
    pub latency: Vec<LatencyResult>,
    pub bursts: Vec<BurstResult>,
    /// What the proxies between the target and its servers saw, one for each protocol; none where
    /// there were no proxies.
    pub wires: Vec<WireResult>,
    /// What was done to the target's wires and stores, and what became of it; none where nothing was planned.
    pub faults: Vec<FaultAccount>,
    /// Versions and settings of what the run ran on.
    pub environment: BTreeMap<String, String>,
}

/// Which run it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunSummary {
    /// 64 random bits as 13 characters; part of every user and key of the run.
    pub id: String,
    pub seed: u64,
    /// The profile's path as it was given.
    pub profile: String,
    pub title: Option<String>,
    pub version: String,
    /// RFC 3339.
    pub started: String,
    /// From the first preparation to the verdict.
    pub took_ms: u64,
    /// Switches of the lab's shop.
    pub defects: Vec<String>,
    /// The results folder, as a path from where the command ran.
    pub folder: String,
}

/// A line of the gate table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateResult {
    pub code: String,
    pub slug: String,
    pub title: String,
    pub state: GateState,
    pub detail: String,
}

/// A budget and what was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetResult {
    pub name: String,
    pub limit_us: u64,
    /// Absent when nothing was measured.
    pub measured_us: Option<u64>,
    pub met: bool,
}

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FindingResult {
    pub code: String,
    pub slug: String,
    pub severity: Severity,
    pub title: String,
    pub count: u64,
    /// The first rows.
    pub evidence: Evidence,
    /// How many rows there are in all, in `evidence_file`.
    pub evidence_rows: u64,
    /// Within the results folder.
    pub evidence_file: Option<String>,
    pub story: Option<StoryResult>,
    pub therefore: Vec<String>,
    pub help: String,
    pub reproduce: Option<Reproduction>,
}

/// Who saw what, when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoryResult {
    pub heading: String,
    pub scenes: Vec<Scene>,
}

/// How to see it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reproduction {
    pub command: String,
    pub about: String,
}

/// Why a run is inconclusive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoubtResult {
    pub code: String,
    pub what: String,
    pub cure: String,
}

/// What an audit of a live database came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiveResult {
    /// As it was named on the command line.
    pub profile: String,
    pub verdict: Verdict,
    pub exit_code: u8,
    pub gates: Vec<GateResult>,
    pub findings: Vec<FindingResult>,
    pub doubts: Vec<DoubtResult>,
}

/// One kind of unknown outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnknownAnswer {
    pub count: u64,
    /// Status and beginning of the body, or what went wrong on the way.
    pub what: String,
}

/// Latency from release to the end of the reply, microseconds. Attempts that were given up count
/// with the time they were waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyResult {
    /// `acknowledged`, `pending`, `refused`, `unknown`, or `all`.
    pub outcome: String,
    pub count: u64,
    pub p50_us: u64,
    pub p95_us: u64,
    pub p99_us: u64,
    #[serde(rename = "p99.9_us")]
    pub p999_us: u64,
    pub max_us: u64,
}

/// How exactly a burst was released, and how far its attempts overlapped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BurstResult {
    pub phase: String,
    /// `same-key`.
    pub burst: String,
    pub release: String,
    pub attempts: u64,
    pub keys: u64,
    /// First to last byte of a key at the client, microseconds.
    pub spread_median_us: u64,
    pub spread_worst_us: u64,
    /// Twenty one-byte sends, measured just before: the floor of the spread.
    pub twenty_sends_us: u64,
    /// Between the resumes of the first and the last instance; frozen release only.
    pub resume_gap_us: Option<u64>,
    /// Attempts in flight before the first definite reply of their key.
    pub in_flight_median: u64,
    pub in_flight_worst: u64,
    pub planned_per_key: u64,
    /// Keys of which the wires can tell whether two attempts were at work at once, and those of which
    /// they were; absent where no wire could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<u64>,
}

/// What one protocol's proxies saw in all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WireResult {
    /// `redis`, `postgres` or `http`.
    pub wire: String,
    /// Connections of the target.
    pub links: u64,
    /// Exchanges that do something.
    pub steps: u64,
    /// Requests that carried a word of the run: a user, a key, a product.
    pub of_the_run: u64,
    /// Exchanges that only keep a connection going, such as a ping.
    pub noise: u64,
    /// Steps that couldn't be named, by what the client says that it is.
    pub unnamed: BTreeMap<String, u64>,
    /// Directions of connections that passed unread, streams included.
    pub unread: u64,
    /// Connections that were refused because they were about to be encrypted.
    pub refused: u64,
    /// Connections whose server couldn't be reached.
    pub unreached: u64,
    /// Steps that were not written down, because the disk was too far behind.
    pub lost: u64,
}
