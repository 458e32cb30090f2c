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

/// What one attempt contends for, where it isn't simply its key.
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
    let phases = bench.case.history.phases.iter();
    let concurrent = phases.filter_map(|phase| Some((phase, contended(phase)?)));
    concurrent
        .map(|(phase, contended)| {
            let mut in_flight = match contended {
                Contended::Key if bench.contract().one_order_per.is_empty() => {
                    by_key(bench, phase.id)
                }
                _ => by_thing(bench, phase.id, contended),
            };
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

/// Key by key: the index has their attempts together already.
fn by_key(bench: &Bench<'_>, phase: PhaseId) -> Vec<u64> {
    let mut together = Vec::new();
    let mut in_flight = Vec::new();
    for key in &bench.index.keys {
        together.clear();
        together.extend(key.attempts().iter().copied().filter(|attempt| {
            attempt.cause == Cause::Burst
                && bench.case.history.intent(attempt.intent).phase == phase
        }));
        // A key that is sent once, such as a fresh one in a mixed burst, contends for nothing.
        if together.len() > 1 {
            in_flight.push(at_once(&together));
        }
    }
    in_flight
}

fn by_thing(bench: &Bench<'_>, phase: PhaseId, contended: Contended) -> Vec<u64> {
    let history = bench.case.history;
    let unique_by = bench.contract().unique_by();
    let mut things: HashMap<Thing<'_>, Vec<&Attempt>> = HashMap::new();
    for attempt in history.attempts.iter().filter(|attempt| attempt.cause == Cause::Burst) {
        let intent = history.intent(attempt.intent);
        if intent.phase == phase {
            things.entry(Thing::of(contended, intent, unique_by)).or_default().push(attempt);
        }
    }
    things.values().filter(|all| all.len() > 1).map(|attempts| at_once(attempts)).collect()
}

/// The most attempts in flight at any moment before the first definite answer.
fn at_once(attempts: &[&Attempt]) -> u64 {
    let first_answer = attempts
        .iter()
        .filter(|attempt| attempt.outcome.is_definite())
        .filter_map(|attempt| attempt.completed)
        .min()
        .unwrap_or(RunTime(u64::MAX));
    let mut moments: Vec<(RunTime, bool)> = Vec::new();
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
