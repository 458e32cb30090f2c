//! G3: every phase must have had at least one acknowledged order, and a definite answer for every kind
//! of attempt.
//!
//! A target that answers 404 to everything makes no duplicates; without this gate it would pass. What
//! only sets the scene isn't counted. A phase of bad keys expects rejections, and is content with them.

use std::collections::BTreeMap;

use crate::codes::G3;
use crate::history::{Cause, KeyForm, Outcome, PhaseId};

use super::bench::Bench;
use super::ruling::Ruling;
use super::words::{list, plural, thousands};

const CURE: &str =
    "send one request by hand and compare its answer with `[request]` and `[contract]`";

/// What came of one kind of attempt.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    attempts: u64,
    definite: u64,
    acknowledged: u64,
}

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let history = bench.case.history;
    if history.attempts.is_empty() {
        return Ruling::missed(&G3, "nothing was asked of the target", CURE);
    }
    let mut phases: BTreeMap<PhaseId, BTreeMap<(&str, KeyForm), Sums>> =
        history.phases.iter().map(|phase| (phase.id, BTreeMap::new())).collect();
    for attempt in history.attempts.iter().filter(|attempt| attempt.cause != Cause::Prepare) {
        let intent = history.intent(attempt.intent);
        let kinds = phases.entry(intent.phase).or_default();
        let sums = kinds.entry((&intent.request, intent.key_form)).or_default();
        sums.attempts += 1;
        sums.definite += u64::from(attempt.outcome.is_definite());
        sums.acknowledged += u64::from(attempt.outcome == Outcome::Acknowledged);
    }
    let barren: Vec<String> = phases
        .iter()
        .filter_map(|(id, kinds)| {
            let phase = history.phases.iter().find(|phase| phase.id == *id);
            let name = phase.map_or("", |phase| &phase.name);
            Some(format!("phase `{name}`: {}", trouble(kinds)?))
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

fn trouble(kinds: &BTreeMap<(&str, KeyForm), Sums>) -> Option<String> {
    let good = kinds.iter().filter(|((_, form), _)| form.is_good()).map(|(_, sums)| sums);
    let (mut attempts, mut acknowledged, mut is_good) = (0, 0, kinds.is_empty());
    for sums in good {
        is_good = true;
        attempts += sums.attempts;
        acknowledged += sums.acknowledged;
    }
    if is_good && acknowledged == 0 {
        let attempts = plural(attempts, "attempt", "attempts");
        return Some(format!("none of {attempts} was acknowledged"));
    }
    let ((request, _), sums) = kinds.iter().find(|(_, sums)| sums.definite == 0)?;
    Some(format!(
        "none of {} of `{request}` got a definite answer",
        plural(sums.attempts, "attempt", "attempts")
    ))
}
