//! G1: a concurrent burst must have offered its attempts together; and where wires were watched, two of
//! them must have been at work before the first one committed.
//!
//! Counted per thing that a phase contends for: a key, a key string whoever sends it, a product, an
//! order that is acted on. Phases that contend for nothing claim nothing.
//!
//! Where the profile says nothing (a run judged without it), half of the keys is the measure: below
//! that, a clean result mostly says that nothing was contended for.

use std::collections::BTreeSet;

use crate::codes::G1;
use crate::history::{Contended, PhaseId};

use super::Overlap;
use super::bench::Bench;
use super::ruling::Ruling;
use super::subject;
use super::words::{list, plural, share, thousands};

const DEFAULT_SHARE: f64 = 0.5;

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let overlap = &bench.accounting.overlap;
    if overlap.is_empty() {
        return Ruling::not_judged(&G1, "no burst whose attempts leave together");
    }
    let is_offered = |one: &&Overlap| suffices(one, one.overlapped, share_due(bench, one.phase));
    let (offered, short): (Vec<&Overlap>, Vec<&Overlap>) = overlap.iter().partition(is_offered);
    let is_reached = |one: &Overlap, reached: u64| {
        reached as f64 >= share_due(bench, one.phase) * one.watched as f64
    };
    let late = offered.iter().filter(|one| one.reached.is_some_and(|it| !is_reached(one, it)));
    let late: Vec<String> = late.map(|one| unreached(bench, one)).collect();
    if short.is_empty() && late.is_empty() {
        return Ruling::held(&G1, held(bench, overlap));
    }
    if short.is_empty() {
        return Ruling::missed(
            &G1,
            list(&late, 3),
            "the requests were together and their work was not: let the service do more at once \
             (workers, connections), or give its work more time (`[lab] work-time`)",
        );
    }
    let missed: Vec<String> = short.into_iter().map(|one| miss(bench, one)).chain(late).collect();
    Ruling::missed(
        &G1,
        list(&missed, 3),
        "use `release = \"frozen\"`, more `threads`, or a quieter machine; a clean result without \
         overlap proves nothing",
    )
}

/// Both figures, over all phases.
fn held(bench: &Bench<'_>, overlap: &[Overlap]) -> String {
    let sum = |of: fn(&Overlap) -> u64| overlap.iter().map(of).sum::<u64>();
    let names: BTreeSet<(String, String)> =
        overlap.iter().map(|one| things(bench, one.phase)).collect();
    let names: Vec<(String, String)> = names.into_iter().collect();
    let (one, many) = match names.as_slice() {
        [(one, many)] => (one.as_str(), many.as_str()),
        _ => ("contended thing", "contended things"),
    };
    let keys = sum(|one| one.keys);
    let offered = share(sum(|one| one.overlapped), keys, one, many);
    let offered = format!("{offered} had two attempts or more in flight");
    if overlap.iter().all(|one| one.reached.is_none()) {
        return offered;
    }
    let reached = thousands(sum(|one| one.reached.unwrap_or(0)));
    match sum(|one| one.watched) {
        watched if watched == keys => {
            format!("{offered}, {reached} at work before the first COMMIT")
        }
        watched => format!(
            "{offered}; of {} on the wires {reached} at work before the first COMMIT",
            thousands(watched)
        ),
    }
}

fn suffices(one: &Overlap, count: u64, share: f64) -> bool {
    one.keys > 0 && count as f64 >= share * one.keys as f64
}

fn share_due(bench: &Bench<'_>, phase: PhaseId) -> f64 {
    let phases = &bench.case.history.phases;
    let phase = phases.iter().find(|one| one.id == phase);
    phase.map_or(DEFAULT_SHARE, |phase| phase.overlap_share)
}

/// What a phase contends for: one, and many.
fn things(bench: &Bench<'_>, phase: PhaseId) -> (String, String) {
    let phase = bench.case.history.phases.iter().find(|one| one.id == phase);
    let word = match phase.and_then(|phase| phase.contended) {
        Some(Contended::KeyString) => "key string",
        Some(Contended::Product) => "product",
        Some(Contended::Entity) => "order",
        Some(Contended::Key) | None => return subject::name(bench.contract().unique_by()),
    };
    (word.to_owned(), format!("{word}s"))
}

/// The name of a phase.
fn name<'a>(bench: &Bench<'a>, phase: PhaseId) -> &'a str {
    let phases = &bench.case.history.phases;
    phases.iter().find(|one| one.id == phase).map_or("", |phase| &phase.name)
}

fn unreached(bench: &Bench<'_>, one: &Overlap) -> String {
    let (thing, many) = things(bench, one.phase);
    let seen = if one.watched == one.keys {
        String::new()
    } else {
        format!(" of {} on the wires", thousands(one.watched))
    };
    format!(
        "phase `{}`: {} had two attempts in flight, but only {}{seen} had a second one at work before the \
         first COMMIT",
        name(bench, one.phase),
        share(one.overlapped, one.keys, &thing, &many),
        thousands(one.reached.unwrap_or(0)),
    )
}

fn miss(bench: &Bench<'_>, one: &Overlap) -> String {
    let (thing, many) = things(bench, one.phase);
    let name = name(bench, one.phase);
    if one.keys == 0 {
        return format!("phase `{name}`: no {thing} was asked for by two attempts");
    }
    format!(
        "phase `{name}`: only {} had two attempts in flight before the first answer (median {}, worst \
         {}; {} planned)",
        share(one.overlapped, one.keys, &thing, &many),
        thousands(one.in_flight_median),
        thousands(one.in_flight_worst),
        plural(one.planned, "attempt", "attempts each")
    )
}
