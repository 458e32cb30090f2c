//! G12: where a phase sets out to ask twice, something must have been asked twice and answered twice.
//!
//! Every rule about duplicates compares two answers. A phase in which no key ever got a second one has
//! compared nothing, however many requests it sent, and must not pass. An answer from in front of the
//! idempotency layer is none. Phases whose point is another one (many keys, many users, the last unit, a
//! race at an order) promise no second answer.

use std::collections::HashSet;

use crate::codes::G12;
use crate::history::{Attempt, Cause, Outcome, PhaseFacts, PhaseId};
use crate::profile::{Burst, Phase};

use super::bench::Bench;
use super::ruling::Ruling;
use super::words::{list, share};

const CURE: &str = "use two threads or more for each user (or a larger `duplicate-share`), and a client \
                    that waits long enough for its answers (`[client] timeout`, `retries`)";

const RATE_CURE: &str = "give the `rate` a `duplicate-share`, or add a burst";

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let answered = |attempt: &&&Attempt| {
        matches!(attempt.outcome, Outcome::Acknowledged | Outcome::Refused)
            && !bench.is_shed(attempt)
    };
    let (mut keys, mut twice) = (0_u64, 0_u64);
    let mut compared: HashSet<PhaseId> = HashSet::new();
    let profile = bench.case.profile;
    let sets_out = |phase: &&PhaseFacts| {
        let planned = profile.phases.get(usize::from(phase.id.0));
        planned.is_some_and(|planned| asks_twice(&planned.burst))
    };
    let asking: Vec<&PhaseFacts> = bench.case.history.phases.iter().filter(sets_out).collect();
    if asking.is_empty() {
        let is_rate = |phase: &Phase| matches!(phase.burst, Burst::Rate(_));
        if profile.phases.iter().all(is_rate) && !profile.phases.is_empty() {
            return Ruling::missed(&G12, "nothing was asked for twice", RATE_CURE);
        }
        return Ruling::not_judged(&G12, "no phase that asks for anything twice");
    }
    let ids: HashSet<PhaseId> = asking.iter().map(|phase| phase.id).collect();
    for (_, key) in bench.index.keyed() {
        let phase = key.variants.first().map(|variant| variant.intent.phase);
        let Some(phase) = phase.filter(|phase| ids.contains(phase)) else { continue };
        // A probe asks twice by itself, whatever becomes of the phase.
        if key.attempts().iter().any(|attempt| attempt.cause == Cause::Probe) {
            continue;
        }
        keys += 1;
        if key.attempts().iter().filter(answered).nth(1).is_some() {
            twice += 1;
            compared.insert(phase);
        }
    }
    let barren = asking.iter().filter(|phase| !compared.contains(&phase.id));
    let barren: Vec<String> = barren.map(|phase| format!("phase `{}`", phase.name)).collect();
    let detail = format!("{} answered twice", share(twice, keys, "key", "keys"));
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
