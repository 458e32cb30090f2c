//! G3: every phase must have had at least one acknowledged order.
//!
//! A target that answers 404 to everything makes no duplicates; without this gate it would pass.

use std::collections::BTreeMap;

use crate::codes::G3;
use crate::history::{Outcome, PhaseId};

use super::bench::Bench;
use super::ruling::Ruling;
use super::words::{list, plural, thousands};

const CURE: &str =
    "send one request by hand and compare its answer with `[request]` and `[contract]`";

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let history = bench.case.history;
    let mut phases: BTreeMap<PhaseId, (u64, u64)> =
        history.phases.iter().map(|phase| (phase.id, (0, 0))).collect();
    for attempt in &history.attempts {
        let sums = phases.entry(history.intent(attempt.intent).phase).or_default();
        sums.0 += 1;
        sums.1 += u64::from(attempt.outcome == Outcome::Acknowledged);
    }
    if history.attempts.is_empty() {
        return Ruling::missed(&G3, "nothing was asked of the target", CURE);
    }
    let barren: Vec<String> = phases
        .iter()
        .filter(|(_, sums)| sums.1 == 0)
        .map(|(id, sums)| {
            let phase = history.phases.iter().find(|phase| phase.id == *id);
            let name = phase.map_or("", |phase| &phase.name);
            format!(
                "phase `{name}`: none of {} was acknowledged",
                plural(sums.0, "attempt", "attempts")
            )
        })
        .collect();
    if barren.is_empty() {
        let detail = format!(
            "{} of {} acknowledged",
            thousands(bench.accounting.acknowledged),
            plural(bench.accounting.attempts, "attempt", "attempts")
        );
        return Ruling::held(&G3, detail);
    }
    Ruling::missed(&G3, list(&barren, 3), CURE)
}
