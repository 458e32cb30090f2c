//! Overlap reached, as the wires see it: a second attempt made its first step before the first one
//! committed (gate G1).
//!
//! Attempts of different intents are told apart by the intent; those of one intent by the instance of
//! their link, or by the step with which the intent opened, once more, while the client had two
//! attempts of it under way there. Asking for a lock is no opening: who waits asks again and again. But
//! who asks for it with another token while the intent has it can't be the holder.

use std::collections::BTreeMap;

use crate::history::{Attempt, History, InstanceId, IntentId, Role, RunTime};

use super::locks::{Locks, is_bid, is_removal};
use super::steps::Placed;
use super::trace::{Trace, is_commit};

/// Whether two of a thing's attempts were at work at once. `None`: the wires can't tell, because no step
/// names some of them, as where two intents share all words that they are known by, or because a step
/// that may have been the second one's names only their product.
pub(super) fn is_reached(
    history: &History,
    trace: &Trace<'_>,
    attempts: &[&Attempt],
) -> Option<bool> {
    let mut intents: Vec<IntentId> = attempts.iter().map(|attempt| attempt.intent).collect();
    intents.sort_unstable();
    intents.dedup();
    let begin = attempts.iter().filter_map(|attempt| attempt.first_byte).min().unwrap_or_default();
    let of_burst = |intent: &IntentId| -> Vec<Placed<'_>> {
        trace.steps.of_intent(*intent).filter(|at| at.step.asked >= begin).collect()
    };
    let steps: Vec<Vec<Placed<'_>>> = intents.iter().map(of_burst).collect();
    let end = committed(&steps).unwrap_or_else(|| first_answer(attempts));
    let at_work = intents.iter().zip(&steps).map(|(intent, steps)| {
        let early = steps.iter().filter(|at| at.step.asked < end);
        began(&trace.locks, early, *intent, attempts)
    });
    if at_work.sum::<usize>() >= 2 {
        return Some(true);
    }
    let may_be_hidden = |intent: &IntentId| {
        trace.steps.is_named_by_nobody(history.intent(*intent).product, begin, end)
    };
    let is_told = !steps.iter().any(Vec::is_empty) && !intents.iter().any(may_be_hidden);
    is_told.then_some(false)
}

/// When the first of them asked for its COMMIT: that of an order or of stock, where there is one.
fn committed(steps: &[Vec<Placed<'_>>]) -> Option<RunTime> {
    let first = |of_order: bool| {
        let commits = steps.iter().flat_map(|steps| {
            let is_due = move |at: &&Placed<'_>| !of_order || writes_order(steps, at);
            steps.iter().filter(|at| is_commit(at.step)).filter(is_due)
        });
        commits.filter_map(|at| at.step.forwarded).min()
    };
    first(true).or_else(|| first(false))
}

fn writes_order(steps: &[Placed<'_>], commit: &Placed<'_>) -> bool {
    let unit = |at: &Placed<'_>| (at.step.link, at.step.transaction);
    let is_write =
        |at: &Placed<'_>| matches!(at.step.role, Some(Role::OrderInsert | Role::StockWrite));
    steps.iter().any(|at| unit(at) == unit(commit) && is_write(at))
}

fn first_answer(attempts: &[&Attempt]) -> RunTime {
    let definite = attempts.iter().filter(|attempt| attempt.outcome.is_definite());
    definite.filter_map(|attempt| attempt.completed).min().unwrap_or(RunTime(u64::MAX))
}

/// How many attempts of an intent certainly made a step.
fn began<'s, 'a: 's>(
    locks: &Locks<'a>,
    steps: impl Iterator<Item = &'s Placed<'a>>,
    intent: IntentId,
    attempts: &[&Attempt],
) -> usize {
    let mut by_instance: BTreeMap<Option<InstanceId>, Vec<&Placed<'a>>> = BTreeMap::new();
    for at in steps {
        by_instance.entry(at.instance).or_default().push(at);
    }
    let of_each = by_instance.iter().map(|(instance, steps)| {
        let is_opening = |at: &&&Placed<'a>| at.step.role != Some(Role::Lock);
        let opening = steps.iter().find(is_opening).copied();
        let is_seconds = |at: &&Placed<'a>| {
            let is_repeated = opening.is_some_and(|opening| {
                is_same_kind(at, opening) && !std::ptr::eq(at.step, opening.step)
            });
            (is_repeated || is_beside_holder(locks, steps, at))
                && in_flight(attempts, intent, *instance, at.step.asked) >= 2
        };
        1 + usize::from(steps.iter().any(is_seconds))
    });
    of_each.sum()
}

/// Whether a step asks for a lock with another token than the one that holds it.
fn is_beside_holder(locks: &Locks<'_>, steps: &[&Placed<'_>], bid: &Placed<'_>) -> bool {
    if !is_bid(bid.step) || bid.step.token.is_none() {
        return false;
    }
    let mut before = steps.iter().rev().map(|at| at.step).filter(|step| {
        step.subject == bid.step.subject && step.answered.is_some_and(|at| at < bid.step.asked)
    });
    let held = before.find(|step| is_removal(step) || locks.is_grant(step));
    held.is_some_and(|step| {
        locks.is_grant(step) && step.token.is_some() && step.token != bid.step.token
    })
}

fn is_same_kind(one: &Placed<'_>, other: &Placed<'_>) -> bool {
    let (one, other) = (one.step, other.step);
    (one.wire, &one.verb, &one.object) == (other.wire, &other.verb, &other.object)
}

fn in_flight(
    attempts: &[&Attempt],
    intent: IntentId,
    instance: Option<InstanceId>,
    moment: RunTime,
) -> usize {
    let is_there = |attempt: &&&Attempt| {
        attempt.intent == intent
            && instance.is_none_or(|instance| attempt.instance == instance)
            && attempt.first_byte.is_some_and(|begin| begin <= moment)
            && attempt.completed.is_none_or(|end| moment <= end)
    };
    attempts.iter().filter(is_there).count()
}
