//! Which firings of faults a witness felt, so that its story can mark them.
//!
//! Those that were aimed at one of its intents, or shared a connection with one; those at a step of its
//! product, where it is about a product; those at a lock that it tells of, whoever asked for it; and those
//! without a step during which one of its attempts was under way.

use std::collections::BTreeSet;

use crate::history::{AttemptId, FiredStep, IntentId, RunTime, Wire};

use super::bench::Bench;
use super::faults::{Fault, Shot, maker, meets};
use super::{Finding, Struck, Witness};

/// The most that a story has room for.
const MOST: usize = 3;

/// Adds them to a finding.
pub(super) fn attach(bench: &Bench<'_>, finding: &mut Finding) {
    if bench.faults.all.is_empty() {
        return;
    }
    let intents = intents(bench, &finding.witness);
    let felt =
        bench.faults.firings().filter(|(_, shot)| is_felt(bench, &finding.witness, &intents, shot));
    let mut felt: Vec<Struck> = felt.map(|(fault, shot)| struck(bench, fault, shot)).collect();
    felt.sort_by(|one, other| (one.at, &one.name).cmp(&(other.at, &other.name)));
    felt.truncate(MOST);
    finding.witness.faults = felt;
}

fn intents(bench: &Bench<'_>, witness: &Witness) -> BTreeSet<IntentId> {
    let attempts = bench.case.history.attempts.iter();
    let own = attempts.filter(|it| witness.attempts.contains(&it.id)).map(|it| it.intent);
    let told = witness.orders.iter().filter_map(|order| bench.index.told(order));
    let told = told.flat_map(|group| bench.index.keys[group].attempts()).map(|it| it.intent);
    own.chain(told).collect()
}

fn is_felt(
    bench: &Bench<'_>,
    witness: &Witness,
    intents: &BTreeSet<IntentId>,
    shot: &Shot<'_>,
) -> bool {
    if shot.named().any(|intent| intents.contains(&intent)) {
        return true;
    }
    let Some(step) = &shot.firing.step else {
        let until = shot.window.healed.unwrap_or(RunTime(u64::MAX));
        let mut attempts = bench.case.history.attempts.iter();
        return attempts.any(|it| {
            intents.contains(&it.intent)
                && shot.firing.instance.is_none_or(|id| it.instance == id)
                && meets(it, shot.at, until)
        });
    };
    if is_at_a_told_lock(bench, witness, step) {
        return true;
    }
    let product = step.intent.and_then(|id| bench.case.history.intents.get(id.0 as usize));
    let product = step.product.or_else(|| product.map(|intent| intent.product));
    intents.is_empty() && product.is_some() && product == witness.product
}

/// A lock has steps of several intents, and what one of them suffers is what the next one finds.
fn is_at_a_told_lock(bench: &Bench<'_>, witness: &Witness, fired: &FiredStep) -> bool {
    let Some(key) = fired.subject.as_deref().filter(|_| fired.wire == Wire::Redis) else {
        return false;
    };
    let mut told = witness.steps.iter().filter(|seen| seen.step.wire == Wire::Redis);
    told.any(|seen| seen.step.subject.as_deref() == Some(key))
        && bench.trace.locks.keys().any(|(lock, _)| lock == key)
}

fn struck(bench: &Bench<'_>, fault: &Fault<'_>, shot: &Shot<'_>) -> Struck {
    let step = shot.firing.step.clone();
    let placed = step.as_ref().and_then(|fired| {
        let mut of_intent = bench.trace.steps.of_intent(fired.intent?);
        of_intent.find(|at| (at.step.link, at.step.asked) == (fired.link, fired.asked))
    });
    let seen: Option<AttemptId> = placed.and_then(|at| at.attempt).map(|attempt| attempt.id);
    Struck {
        name: fault.plan.name.clone(),
        act: fault.plan.act.clone(),
        at: shot.at,
        step,
        attempt: seen.or_else(|| maker(&bench.case, shot)),
        instance: shot.firing.instance,
        proof: shot.proofs.first().map(|(_, proof)| (*proof).clone()),
        end: shot.end.or(shot.window.healed.map(|at| (at, crate::history::FiringEnd::Healed))),
    }
}
