//! What the wires saw of a finding's witness: its steps, for the story, and what follows from their
//! order.
//!
//! A lint brings its steps along. For all others, the visits that placed the witness's orders are looked
//! for; where there are none, the steps that only its attempts can have made, and in the end what its
//! intents wrote.

use crate::codes::{I02, I03};
use crate::history::{AttemptId, Role, Step, StepEnd};

use super::bench::Bench;
use super::steps::Placed;
use super::visits;
use super::{Finding, Seen, Witness, i02_in_order, i03_in_order};

/// The most steps that a witness keeps of its attempts.
const MOST: usize = 24;

impl Seen {
    pub(super) fn of(at: &Placed<'_>) -> Self {
        let attempt: Option<AttemptId> = at.attempt.map(|attempt| attempt.id);
        Self { step: at.step.clone(), attempt, instance: at.instance, order: None }
    }
}

/// Adds to a finding what the wires saw.
pub(super) fn attach(bench: &Bench<'_>, finding: &mut Finding) {
    if !bench.trace.is_watched() || !finding.witness.steps.is_empty() {
        return;
    }
    let visits = visits::of_witness(bench, &finding.witness);
    let told = visits.iter().enumerate().flat_map(|(place, visit)| visit.told(place == 0));
    let mut steps = Vec::new();
    if visits.is_empty() || acts(bench, &finding.witness) {
        steps = of_attempts(bench, &finding.witness);
    }
    finding.witness.steps = if steps.is_empty() { told.collect() } else { steps };
    finding.witness.steps.sort_by_key(|seen| seen.step.asked);
    let claim = match finding.code {
        code if code == &I02 => i02_in_order::therefore(&visits),
        code if code == &I03 => i03_in_order::therefore(bench, &visits),
        _ => None,
    };
    finding.therefore.splice(0..0, claim);
}

/// Whether a case is about what was done to an order, and not about how it was placed.
fn acts(bench: &Bench<'_>, witness: &Witness) -> bool {
    let attempts =
        bench.case.history.attempts.iter().filter(|it| witness.attempts.contains(&it.id));
    attempts.map(|it| bench.case.history.intent(it.intent)).any(|intent| intent.entity.is_some())
}

fn of_attempts(bench: &Bench<'_>, witness: &Witness) -> Vec<Seen> {
    let attempts = &bench.case.history.attempts;
    let attempts = attempts.iter().filter(|it| witness.attempts.contains(&it.id));
    let mut intents: Vec<_> = attempts.map(|attempt| attempt.intent).collect();
    intents.sort_unstable();
    intents.dedup();
    let steps: Vec<Placed<'_>> =
        intents.into_iter().flat_map(|intent| bench.trace.steps.of_intent(intent)).collect();
    let is_own = |at: &Placed<'_>| at.attempt.is_some_and(|it| witness.attempts.contains(&it.id));
    let is_effect = |at: &Placed<'_>| {
        matches!(at.step.role, Some(Role::OrderInsert | Role::Pay))
            || at.step.end == StepEnd::Failed
    };
    let has_own = steps.iter().any(|at| is_own(at) && is_telling(at.step));
    // A charge counts, whoever of the attempts asked for it.
    let is_told = |at: &&Placed<'_>| match has_own {
        true => is_own(at) && is_telling(at.step) || at.step.role == Some(Role::Pay),
        false => is_effect(at),
    };
    steps.iter().filter(is_told).map(Seen::of).take(MOST).collect()
}

/// Whether a step explains anything: claims and looks at the record don't.
fn is_telling(step: &Step) -> bool {
    let by_role = step.role.is_some_and(|role| {
        !matches!(role, Role::Claim | Role::Success | Role::Fence | Role::StockRead)
    });
    by_role || step.end == StepEnd::Failed || &*step.verb == "ROLLBACK"
}
