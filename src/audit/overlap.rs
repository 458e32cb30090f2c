//! Overlap of each concurrent burst: offered, as the client sees it, an upper bound; and reached, where
//! wires were watched.
//!
//! Per contended thing: how many burst attempts were in flight at once (released, not answered yet)
//! before the first definite answer. What only one attempt names is contended for by nobody, and isn't
//! counted; a phase in which that is so of everything has no overlap to show. An attempt whose answer arrived before its own release, as it
//! can in a frozen release, was never in flight.

use foldhash::{HashMap, HashMapExt};

use crate::history::{Attempt, Cause, Contended, Intent, PhaseFacts, PhaseId, RunTime};
use crate::profile::BusinessColumn;

use super::Overlap;
use super::bench::Bench;
use super::reached::is_reached;
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

/// The things of one phase.
#[derive(Debug, Default)]
struct Tally {
    /// Attempts in flight at once, of each thing that several attempts name.
    in_flight: Vec<u64>,
    /// Things that one attempt names, such as a fresh key in a mixed burst: they contend for nothing.
    alone: u64,
    /// Things of which two attempts were at work at once, where the wires can tell.
    reached: u64,
    /// Things that a step of the wires named.
    watched: u64,
}

impl Tally {
    fn add(
        &mut self,
        bench: &Bench<'_>,
        attempts: &[&Attempt],
        moments: &mut Vec<(RunTime, bool)>,
    ) {
        match attempts {
            [] => {}
            [_] => self.alone += 1,
            several => {
                self.in_flight.push(at_once(several, moments));
                if bench.trace.sees_intents()
                    && let Some(is_reached) = is_reached(bench.case.history, &bench.trace, several)
                {
                    self.watched += 1;
                    self.reached += u64::from(is_reached);
                }
            }
        }
    }
}

/// One entry for each concurrent phase, in the order of the phases.
pub(super) fn measure(bench: &Bench<'_>) -> Vec<Overlap> {
    let phases = bench.case.history.phases.iter();
    let concurrent = phases.filter_map(|phase| Some((phase, contended(phase)?)));
    let mut of_keys = None;
    concurrent
        .map(|(phase, contended)| {
            let mut tally = match contended {
                Contended::Key if bench.contract().one_order_per.is_empty() => {
                    let of_keys = of_keys.get_or_insert_with(|| by_key(bench));
                    of_keys.remove(&phase.id).unwrap_or_default()
                }
                _ => by_thing(bench, phase.id, contended),
            };
            let in_flight = &mut tally.in_flight;
            in_flight.sort_unstable();
            let keys = in_flight.len() as u64;
            let planned = phase.planned.saturating_sub(tally.alone);
            Overlap {
                phase: phase.id,
                keys,
                overlapped: in_flight.iter().filter(|&&count| count >= 2).count() as u64,
                in_flight_median: in_flight.get(in_flight.len() / 2).copied().unwrap_or(0),
                in_flight_worst: in_flight.first().copied().unwrap_or(0),
                planned: planned.checked_div(keys).unwrap_or(0),
                watched: tally.watched,
                reached: (tally.watched > 0).then_some(tally.reached),
            }
        })
        .collect()
}

/// Key by key, for all phases: the index has their attempts together already.
fn by_key(bench: &Bench<'_>) -> HashMap<PhaseId, Tally> {
    let phase_of = |attempt: &Attempt| bench.case.history.intent(attempt.intent).phase;
    let mut tallies: HashMap<PhaseId, Tally> = HashMap::new();
    let (mut together, mut moments) = (Vec::new(), Vec::new());
    for key in &bench.index.keys {
        together.clear();
        let burst = |attempt: &&Attempt| attempt.cause == Cause::Burst;
        together.extend(key.attempts().iter().copied().filter(burst));
        // Mostly all of one phase already.
        together.sort_by_key(|attempt| phase_of(attempt));
        for of_phase in together.chunk_by(|one, other| phase_of(one) == phase_of(other)) {
            tallies.entry(phase_of(of_phase[0])).or_default().add(bench, of_phase, &mut moments);
        }
    }
    tallies
}

fn by_thing(bench: &Bench<'_>, phase: PhaseId, contended: Contended) -> Tally {
    let history = bench.case.history;
    let unique_by = bench.contract().unique_by();
    let mut things: HashMap<Thing<'_>, Vec<&Attempt>> = HashMap::new();
    for attempt in history.attempts.iter().filter(|attempt| attempt.cause == Cause::Burst) {
        let intent = history.intent(attempt.intent);
        if intent.phase == phase {
            things.entry(Thing::of(contended, intent, unique_by)).or_default().push(attempt);
        }
    }
    let (mut tally, mut moments) = (Tally::default(), Vec::new());
    things.values().for_each(|attempts| tally.add(bench, attempts, &mut moments));
    tally
}

/// The most attempts in flight at any moment before the first definite answer.
fn at_once(attempts: &[&Attempt], moments: &mut Vec<(RunTime, bool)>) -> u64 {
    let first_answer = attempts
        .iter()
        .filter(|attempt| attempt.outcome.is_definite())
        .filter_map(|attempt| attempt.completed)
        .min()
        .unwrap_or(RunTime(u64::MAX));
    moments.clear();
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
    for &(_, comes) in moments.iter() {
        if comes {
            now += 1;
            most = most.max(now);
        } else {
            now -= 1;
        }
    }
    most
}
