//! G10: planned, sent, answered and received add up.
//!
//! The received side is what instances count by themselves, where they do. It must lie between the
//! attempts that were answered and those that were sent: more means that somebody on the way sends
//! requests again. An instance that was restarted has forgotten its count and isn't asked.

use std::collections::BTreeMap;

use crate::codes::G10;
use crate::history::{Attempt, AttemptId, Cause, InstanceId, Outcome, PhaseId, Sent};

use super::bench::Bench;
use super::ruling::Ruling;
use super::words::{list, plural, thousands};

const CURE: &str = "take proxies that send requests again out of the path, and see that nobody else uses the target";

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let mut troubles = contradictions(bench);
    if bench.case.history.sealed && bench.case.history.interrupted.is_none() {
        troubles.extend(unplanned(bench));
    }
    troubles.extend(received(bench));
    let sum = &bench.accounting;
    if sum.intents_with_one_order + sum.intents_with_none + sum.intents_with_more != sum.intents {
        troubles.push("the intents don't add up".to_owned());
    }
    if troubles.is_empty() {
        return Ruling::held(
            &G10,
            format!(
                "{} = {} acknowledged + {} pending + {} parked + {} refused + {} unknown + {} not sent",
                thousands(sum.attempts),
                thousands(sum.acknowledged),
                thousands(sum.pending),
                thousands(sum.parked),
                thousands(sum.refused),
                thousands(sum.unknown),
                thousands(sum.not_sent)
            ),
        );
    }
    Ruling::missed(&G10, list(&troubles, 3), CURE)
}

/// Attempts that contradict themselves, or are there twice.
fn contradictions(bench: &Bench<'_>) -> Vec<String> {
    let mut ids: Vec<AttemptId> = bench.case.history.attempts.iter().map(|it| it.id).collect();
    ids.sort_unstable();
    let twice = ids.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
    let mut wrong = 0_u64;
    for attempt in &bench.case.history.attempts {
        let nothing = attempt.sent == Sent::Nothing;
        let answered = matches!(
            attempt.outcome,
            Outcome::Acknowledged | Outcome::Pending | Outcome::Parked | Outcome::Refused
        );
        wrong += u64::from(
            nothing != (attempt.outcome == Outcome::NotSent)
                || answered && (attempt.first_byte.is_none() || attempt.completed.is_none())
                || attempt.outcome == Outcome::Acknowledged
                    && attempt.order.is_none()
                    && attempt.cause != Cause::Prepare,
        );
    }
    let mut troubles = Vec::new();
    if twice > 0 {
        troubles.push(format!("{} recorded twice", plural(twice, "attempt is", "attempts are")));
    }
    if wrong > 0 {
        troubles.push(format!(
            "{} an outcome that can't come of what was sent",
            plural(wrong, "attempt has", "attempts have")
        ));
    }
    troubles
}

/// Phases whose recorded burst isn't the planned one.
fn unplanned(bench: &Bench<'_>) -> Vec<String> {
    let history = bench.case.history;
    let mut recorded: BTreeMap<PhaseId, u64> = BTreeMap::new();
    let is_planned = |attempt: &&Attempt| matches!(attempt.cause, Cause::Burst | Cause::Steady);
    for attempt in history.attempts.iter().filter(is_planned) {
        *recorded.entry(history.intent(attempt.intent).phase).or_default() += 1;
    }
    let phases = history.phases.iter();
    phases
        .map(|phase| (phase, recorded.get(&phase.id).copied().unwrap_or(0)))
        .filter(|(phase, count)| phase.planned != *count)
        .map(|(phase, count)| {
            format!(
                "phase `{}`: {} planned, {} recorded",
                phase.name,
                plural(phase.planned, "attempt", "attempts"),
                thousands(count)
            )
        })
        .collect()
}

/// Whether an instance that counts must have counted it: it answered (a refusal may come from in
/// front), and not only to the resolver, which may have asked after the counting.
fn must_have_arrived(attempt: &Attempt) -> bool {
    attempt.cause != Cause::Resolve
        && matches!(attempt.outcome, Outcome::Acknowledged | Outcome::Pending | Outcome::Parked)
}

/// What instances received, where they count it and none was restarted.
fn received(bench: &Bench<'_>) -> Option<String> {
    let history = bench.case.history;
    let mut counts: BTreeMap<InstanceId, u64> = BTreeMap::new();
    for counter in &history.counters {
        let count = counts.entry(counter.instance).or_default();
        *count = (*count).max(counter.posts);
    }
    let all_count = history.instances.iter().all(|instance| counts.contains_key(&instance.id));
    if counts.is_empty() || !all_count || !history.exits.is_empty() {
        return None;
    }
    let received: u64 = counts.values().sum();
    let sum = &bench.accounting;
    let answered =
        history.attempts.iter().filter(|attempt| must_have_arrived(attempt)).count() as u64;
    (!(answered..=sum.sent_whole).contains(&received)).then(|| {
        format!(
            "the instances received {}, but {} were sent and {} answered",
            plural(received, "request", "requests"),
            thousands(sum.sent_whole),
            thousands(answered)
        )
    })
}
