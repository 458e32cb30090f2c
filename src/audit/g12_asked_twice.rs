//! G12: where a phase sets out to ask twice, something must have been asked twice and answered twice.
//!
//! Every rule about duplicates compares two answers. A phase in which no key ever got a second one has
//! compared nothing, however many requests it sent, and must not pass. Phases whose point is another
//! one (many keys, many users, the last unit, a race at an order) promise no second answer.

use std::collections::HashSet;

use crate::codes::G12;
use crate::history::{Outcome, PhaseId};
use crate::profile::Burst;

use super::bench::Bench;
use super::ruling::Ruling;
use super::words::{list, plural, thousands};

const CURE: &str = "use two threads or more for each user, and a client that waits long enough for \
                    its answers (`[client] timeout`, `retries`)";

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let answered = |outcome| matches!(outcome, Outcome::Acknowledged | Outcome::Refused);
    let (mut keys, mut twice) = (0_u64, 0_u64);
    let mut compared: HashSet<PhaseId> = HashSet::new();
    let profile = bench.case.profile;
    let phases = bench.case.history.phases.iter();
    let asking: Vec<_> = phases
        .filter(|phase| {
            profile
                .phases
                .get(usize::from(phase.id.0))
                .is_some_and(|phase| asks_twice(&phase.burst))
        })
        .collect();
    if asking.is_empty() {
        return Ruling::not_judged(&G12, "no phase that asks for anything twice");
    }
    for (_, key) in bench.index.keyed() {
        let Some(variant) = key.variants.first() else { continue };
        let phase = variant.intent.phase;
        if !asking.iter().any(|asking| asking.id == phase) {
            continue;
        }
        keys += 1;
        let answers = key.attempts().iter().filter(|attempt| answered(attempt.outcome)).count();
        if answers >= 2 {
            twice += 1;
            compared.insert(phase);
        }
    }
    let barren = asking.iter().filter(|phase| !compared.contains(&phase.id));
    let barren: Vec<String> = barren.map(|phase| format!("phase `{}`", phase.name)).collect();
    let detail = format!("{} of {} answered twice", thousands(twice), plural(keys, "key", "keys"));
    match barren.as_slice() {
        [] => Ruling::held(&G12, detail),
        _ if compared.is_empty() => {
            Ruling::missed(&G12, format!("{detail}: no duplicate was compared with anything"), CURE)
        }
        _ => Ruling::missed(
            &G12,
            format!("{}: no duplicate was compared with anything", list(&barren, 3)),
            CURE,
        ),
    }
}

fn asks_twice(burst: &Burst) -> bool {
    match burst {
        Burst::SameKey(_)
        | Burst::SameFingerprint(_)
        | Burst::Mutated(_)
        | Burst::SubmitToken(_)
        | Burst::Mixed(_)
        | Burst::Sequential(_) => true,
        Burst::Rate(rate) => rate.duplicate_share > 0.0,
        Burst::FreshKey(_)
        | Burst::SharedKey(_)
        | Burst::LastUnit(_)
        | Burst::Race(_)
        | Burst::BadKeys(_) => false,
    }
}
