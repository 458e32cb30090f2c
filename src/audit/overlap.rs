//! Overlap offered by each concurrent burst, as the client sees it: an upper bound.
//!
//! Per contended thing: how many burst attempts were in flight at once (released, not answered yet)
//! before the first definite answer. An attempt whose answer arrived before its own release, as it
//! can in a frozen release, was never in flight.

use std::collections::HashMap;

use crate::history::{Attempt, Cause, Contended, Intent, PhaseFacts, PhaseId, RunTime};
use crate::profile::BusinessColumn;

use super::Overlap;
use super::bench::Bench;
use super::subject::Subject;

/// What one attempt contends for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Thing<'a> {
    Subject(Subject<'a>),
    KeyString(&'a str),
    Product(i64),
    Entity(Option<&'a str>),
}

impl<'a> Thing<'a> {
    fn of(contended: Contended, intent: &'a Intent, unique_by: &[BusinessColumn]) -> Self {
        match contended {
            Contended::Key => Self::Subject(Subject::of_intent(intent, unique_by)),
            Contended::KeyString => Self::KeyString(&intent.key),
            Contended::Product => Self::Product(intent.product),
            Contended::Entity => Self::Entity(intent.entity.as_deref()),
        }
    }
}

/// What a phase contends for, if its attempts claim to overlap. Those that wait for the first one's
/// completion meet its answer, not its work.
pub(super) fn contended(phase: &PhaseFacts) -> Option<Contended> {
    phase.contended.filter(|_| phase.arrival != "around-completion")
}

/// One entry for each concurrent phase, in the order of the phases.
pub(super) fn measure(bench: &Bench<'_>) -> Vec<Overlap> {
    let history = bench.case.history;
    let unique_by = bench.contract().unique_by();
    let claims: HashMap<PhaseId, Contended> =
        history.phases.iter().filter_map(|phase| Some((phase.id, contended(phase)?))).collect();
    let mut things: HashMap<PhaseId, HashMap<Thing<'_>, Vec<&Attempt>>> = HashMap::new();
    for attempt in history.attempts.iter().filter(|attempt| attempt.cause == Cause::Burst) {
        let intent = history.intent(attempt.intent);
        let Some(&contended) = claims.get(&intent.phase) else { continue };
        let thing = Thing::of(contended, intent, unique_by);
        things.entry(intent.phase).or_default().entry(thing).or_default().push(attempt);
    }
    history
        .phases
        .iter()
        .filter(|phase| claims.contains_key(&phase.id))
        .map(|phase| {
            let subjects = things.remove(&phase.id).unwrap_or_default();
            let mut in_flight: Vec<u64> = subjects.values().map(|group| at_once(group)).collect();
            in_flight.sort_unstable();
            let keys = in_flight.len() as u64;
            Overlap {
                phase: phase.id,
                keys,
                overlapped: in_flight.iter().filter(|&&count| count >= 2).count() as u64,
                in_flight_median: in_flight.get(in_flight.len() / 2).copied().unwrap_or(0),
                in_flight_worst: in_flight.first().copied().unwrap_or(0),
                planned: phase.planned.checked_div(keys).unwrap_or(0),
            }
        })
        .collect()
}

/// The most attempts in flight at any moment before the first definite answer.
fn at_once(attempts: &[&Attempt]) -> u64 {
    let first_answer = attempts
        .iter()
        .filter(|attempt| attempt.outcome.is_definite())
        .filter_map(|attempt| attempt.completed)
        .min()
        .unwrap_or(RunTime(u64::MAX));
    let mut moments: Vec<(RunTime, bool)> = Vec::with_capacity(attempts.len() * 2);
    for attempt in attempts {
        let Some(released) = attempt.released else { continue };
        let end = attempt.completed.unwrap_or(RunTime(u64::MAX));
        if released < end && released < first_answer {
            moments.push((released, true));
            moments.push((end, false));
        }
    }
    // `false` sorts first: who leaves at a moment isn't together with who comes at it.
    moments.sort_unstable();
    let (mut now, mut most) = (0_u64, 0);
    for (_, comes) in moments {
        if comes {
            now += 1;
            most = most.max(now);
        } else {
            now -= 1;
        }
    }
    most
}
