//! Rule S01: what was found with keys deleted counts as protected until it is seen in real time too.
//!
//! Deleting a key is a quick way of letting its time pass, and a wrong one where a lease is kept elsewhere
//! as well. So a finding all of whose cases are of intents that were asked for while their keys were
//! deleted needs the same invariant broken, in the same run, for an intent of the same fault whose keys'
//! time was really waited for.

use std::collections::{BTreeMap, BTreeSet};

use crate::codes::Severity;
use crate::history::IntentId;

use super::GateState;
use super::bench::Bench;
use super::circle::Circle;
use super::ruling::Ruling;

/// The intents of the faults of one name.
#[derive(Debug, Default)]
struct Named {
    /// Those whose keys were deleted while they were asked for.
    deleted: BTreeSet<IntentId>,
    /// Those whose keys' time was waited for.
    waited: BTreeSet<IntentId>,
}

/// Lowers what rests on deleted keys alone.
pub(super) fn cap(bench: &Bench<'_>, rulings: &mut [Ruling]) {
    let faults = by_name(bench);
    let deleted = faults.values().flat_map(|named| named.deleted.iter().copied());
    let deleted = Circle::of(bench, deleted);
    if deleted.is_empty() {
        return;
    }
    let waited = faults.values().filter(|named| !named.deleted.is_empty());
    let waited = Circle::of(bench, waited.flat_map(|named| named.waited.iter().copied()));
    let proven = proven(bench, rulings, &deleted, &waited);
    for ruling in rulings {
        for finding in &mut ruling.findings {
            let lines = deleted.lines(bench, finding);
            let rests_on_them = lines.len() == finding.evidence.rows.len() && !lines.is_empty();
            if finding.severity.fails_the_gate()
                && rests_on_them
                && !proven.contains(finding.code.id)
            {
                finding.severity = Severity::Protected;
                finding.therefore.push(reason(&waited));
            }
        }
        let is_broken = ruling.findings.iter().any(|it| it.severity.fails_the_gate());
        if let Some(gate) = &mut ruling.gate
            && gate.code.severity.is_some()
            && gate.state == GateState::Broken
            && !is_broken
        {
            gate.state = GateState::Held;
        }
    }
}

fn by_name<'a>(bench: &Bench<'a>) -> BTreeMap<&'a str, Named> {
    let mut faults: BTreeMap<&str, Named> = BTreeMap::new();
    for (fault, shot) in bench.faults.firings() {
        let named = faults.entry(&fault.plan.name).or_default();
        if let Some(at) = shot.keys_gone() {
            let was_asked_for = |intent: &IntentId| {
                bench.case.history.attempts.iter().any(|it| {
                    it.intent == *intent
                        && it.outcome.was_sent()
                        && it.first_byte.is_none_or(|begin| begin <= at)
                        && it.completed.is_none_or(|end| end >= at)
                })
            };
            named.deleted.extend(shot.named().filter(was_asked_for));
        }
        if shot.keys_expired() {
            named.waited.extend(shot.named());
        }
    }
    faults
}

/// The codes under which an intent broke something although its keys' time had really passed.
fn proven(
    bench: &Bench<'_>,
    rulings: &[Ruling],
    deleted: &Circle<'_>,
    waited: &Circle<'_>,
) -> BTreeSet<&'static str> {
    let failing = rulings.iter().flat_map(|ruling| &ruling.findings);
    let failing = failing.filter(|finding| finding.severity.fails_the_gate());
    let in_real_time = failing.filter(|finding| {
        let deleted = deleted.lines(bench, finding);
        waited.lines(bench, finding).difference(&deleted).next().is_some()
    });
    in_real_time.map(|finding| finding.code.id).collect()
}

fn reason(waited: &Circle<'_>) -> String {
    let replay = match waited.is_empty() {
        true => "and no replay in which their time really passed was made in this run",
        false => "and the replay in which their time really passed shows nothing of it",
    };
    format!(
        "it counts as protected, because every case of it is of a request whose keys were deleted while it \
         was under way, {replay} (S01)"
    )
}
