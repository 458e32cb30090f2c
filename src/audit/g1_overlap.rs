//! G1: a concurrent burst must have offered its attempts together.
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
    let missed: Vec<String> = overlap
        .iter()
        .filter(|one| !suffices(one, share_due(bench, one.phase)))
        .map(|one| miss(bench, one))
        .collect();
    if missed.is_empty() {
        let sum = |of: fn(&Overlap) -> u64| overlap.iter().map(of).sum::<u64>();
        let names: BTreeSet<(String, String)> =
            overlap.iter().map(|one| things(bench, one.phase)).collect();
        let names: Vec<(String, String)> = names.into_iter().collect();
        let (one, many) = match names.as_slice() {
            [(one, many)] => (one.as_str(), many.as_str()),
            _ => ("contended thing", "contended things"),
        };
        let things = share(sum(|one| one.overlapped), sum(|one| one.keys), one, many);
        return Ruling::held(&G1, format!("{things} had two attempts or more in flight"));
    }
    Ruling::missed(
        &G1,
        list(&missed, 3),
        "use `release = \"frozen\"`, more `threads`, or a quieter machine; a clean result without \
         overlap proves nothing",
    )
}

fn suffices(one: &Overlap, share: f64) -> bool {
    one.keys > 0 && one.overlapped as f64 >= share * one.keys as f64
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

fn miss(bench: &Bench<'_>, one: &Overlap) -> String {
    let (thing, many) = things(bench, one.phase);
    let phases = &bench.case.history.phases;
    let name = phases.iter().find(|phase| phase.id == one.phase).map_or("", |phase| &phase.name);
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
