//! A run becomes text, JSON and evidence files. Returns text, never prints.

mod build;
mod csv;
mod experiments;
pub mod format;
mod latency;
mod result;
mod text;
mod unknown;

pub use build::{Material, Telling, build, live};
pub use csv::csv;
pub use experiments::{Experiment, experiments};
pub use result::{
    BudgetResult, BurstResult, DoubtResult, FindingResult, GateResult, LatencyResult, LiveResult,
    Reproduction, RunResult, RunSummary, SCHEMA_VERSION, StoryResult, UnknownAnswer, WireResult,
};
pub use text::{live_text, text};

/// The JSON Schema of `result.json`.
pub fn result_schema() -> serde_json::Value {
    schemars::schema_for!(RunResult).to_value()
}
