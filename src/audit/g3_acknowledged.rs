//! G3: every phase must have had at least one acknowledged order, and a definite answer for every kind
//! of attempt.
//!
//! A target that answers 404 to everything makes no duplicates; without this gate it would pass. What
//! only sets the scene isn't counted. A phase of bad keys is content with a rejection, if it is one that
//! the contract has for them.

use std::collections::BTreeMap;

use crate::codes::G3;
use crate::history::{Attempt, Cause, KeyForm, Outcome, PhaseId};

use super::bench::Bench;
use super::i26_bad_keys::is_as_due;
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
    /// Bad keys that were rejected as the contract says.
    as_due: u64,
}

/// What sets a scene or asks whether a fault is over isn't what a phase is about.
fn is_of_the_load(attempt: &&Attempt) -> bool {
    !matches!(attempt.cause, Cause::Prepare | Cause::Probe)
}

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let history = bench.case.history;
    if history.attempts.is_empty() {
        return Ruling::missed(&G3, "nothing was asked of the target", CURE);
    }
    let mut phases: BTreeMap<PhaseId, BTreeMap<(&str, KeyForm), Sums>> =
        history.phases.iter().map(|phase| (phase.id, BTreeMap::new())).collect();
    for attempt in history.attempts.iter().filter(is_of_the_load) {
        let intent = history.intent(attempt.intent);
        let kinds = phases.entry(intent.phase).or_default();
        let sums = kinds.entry((&intent.request, intent.key_form)).or_default();
        sums.attempts += 1;
        sums.definite += u64::from(attempt.outcome.is_definite());
        sums.acknowledged += u64::from(attempt.outcome == Outcome::Acknowledged);
        sums.as_due += u64::from(!intent.key_form.is_good() && is_as_due(bench, attempt));
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
    if kinds.is_empty() {
        return Some("nothing was asked in it".to_owned());
    }
    let has_good = kinds.keys().any(|(_, form)| form.is_good());
    let counted = || kinds.iter().filter(|((_, form), _)| form.is_good() == has_good);
    let sum = |of: fn(&Sums) -> u64| counted().map(|(_, sums)| of(sums)).sum::<u64>();
    let attempts = plural(sum(|it| it.attempts), "attempt", "attempts");
    if has_good && sum(|it| it.acknowledged) == 0 {
        return Some(format!("none of {attempts} was acknowledged"));
    }
    if !has_good && sum(|it| it.acknowledged + it.as_due) == 0 {
        return Some(format!(
            "none of {attempts} with a bad key got an answer that the contract has for it"
        ));
    }
    let ((request, _), sums) = kinds.iter().find(|(_, sums)| sums.definite == 0)?;
    Some(format!(
        "none of {} of `{request}` got a definite answer",
        plural(sums.attempts, "attempt", "attempts")
    ))
}
