//! Overlap offered by each concurrent burst, as the client sees it: an upper bound.
//!
//! Per contended thing: how many burst attempts were in flight at once (released, not answered yet)
//! before the first definite answer. An attempt whose answer arrived before its own release, as it
//! can in a frozen release, was never in flight.

use std::collections::HashMap;

use crate::history::{Attempt, Cause, PhaseId, RunTime};

use super::Overlap;
use super::bench::Bench;
use super::subject::Subject;

/// One entry for each concurrent phase, in the order of the phases.
pub(super) fn measure(bench: &Bench<'_>) -> Vec<Overlap> {
    let history = bench.case.history;
    let unique_by = bench.contract().unique_by();
    let mut things: HashMap<PhaseId, HashMap<Subject<'_>, Vec<&Attempt>>> = HashMap::new();
    for attempt in history.attempts.iter().filter(|attempt| attempt.cause == Cause::Burst) {
        let intent = history.intent(attempt.intent);
        let subject = Subject::of_intent(intent, unique_by);
        things.entry(intent.phase).or_default().entry(subject).or_default().push(attempt);
    }
    history
        .phases
        .iter()
        .filter(|phase| phase.contended.is_some())
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
