//! L11: an unlock without an answer is tried again.
//!
//! Judged at unlocks that a fault dropped, or kept the reply of, while their client was cut off and could
//! have gone on. Who doesn't ask again doesn't know whether the lease is gone: had the request been lost,
//! everybody else would wait until the lease runs out, and where it was, they did. No data are at stake.
//! A client that was left without any sign (a stall, a black hole, a server cut off) may learn of it too
//! late, and is not judged.

use std::time::Duration;

use crate::codes::L11;
use crate::history::{Proof, Role, RunTime, Wire};
use crate::profile::{Act, Loss};

use super::bench::Bench;
use super::faults::{Fault, Shot, is_outage};
use super::lint::{Lint, Sight};
use super::locks::{is_plain_delete, is_same_token};
use super::ruling::Ruling;
use super::steps::Placed;
use super::words::plural;

const LINT: Lint = Lint {
    code: &L11,
    what: "an unlock that got no answer was not tried again",
    help: "ask again with the same token, a few times and no longer than the lease lives; a script that \
           compares the token makes that safe",
};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let unlocks: Vec<(&Shot<'_>, Placed<'_>)> = lost_unlocks(bench);
    if unlocks.is_empty() {
        return Ruling::default();
    }
    if !bench.trace.has_every_step_of(Wire::Redis) {
        return Ruling::not_judged(&L11, "steps or attempts may be missing");
    }
    let lingering = unlocks.iter().filter_map(|(shot, unlock)| lingers(bench, shot, unlock));
    let sights: Vec<Sight<'_>> = lingering.collect();
    let detail = format!(
        "{} not tried again, of {} without an answer",
        sights.len(),
        plural(unlocks.len() as u64, "unlock", "unlocks")
    );
    Ruling::of(&L11, detail, LINT.finding(bench, &sights).into_iter().collect())
}

/// Unlocks that a fault lost, with what they were.
fn lost_unlocks<'b, 'a>(bench: &'b Bench<'a>) -> Vec<(&'b Shot<'a>, Placed<'a>)> {
    let losing = bench.faults.firings().filter(|(fault, _)| loses(fault)).count();
    if losing == 0 || is_cut_off(bench) {
        return Vec::new();
    }
    let is_unlock = |at: &Placed<'_>| {
        at.step.role == Some(Role::Unlock) && at.step.token.is_some() && !is_plain_delete(at.step)
    };
    let unlocks = bench.trace.steps.all().filter(is_unlock);
    let lost = unlocks.filter_map(|at| {
        let (_, shot) = bench.faults.at_step(at.step).find(|(fault, _)| loses(fault))?;
        Some((shot, at))
    });
    lost.collect()
}

fn loses(fault: &Fault<'_>) -> bool {
    let stalls = fault.said.is_some_and(|said| {
        matches!(said.act, Act::DropRequest(Loss::Stall) | Act::DropReply(Loss::Stall))
    });
    matches!(&*fault.plan.act, "drop-reply" | "drop-request" | "reset") && !stalls
}

/// Whether Redis was away at some time, so that a retry may have been made that nobody saw.
fn is_cut_off(bench: &Bench<'_>) -> bool {
    bench.faults.firings().any(|(fault, _)| is_outage(fault, Wire::Redis))
        || !bench.case.history.exits.is_empty()
}

fn lingers<'a>(bench: &Bench<'a>, shot: &Shot<'_>, unlock: &Placed<'a>) -> Option<Sight<'a>> {
    let key = unlock.step.subject.as_deref()?;
    let since = bench.trace.locks.since(key, unlock.step);
    let later: Vec<&Placed<'a>> = since.filter(|at| !std::ptr::eq(at.step, unlock.step)).collect();
    let is_again = |at: &&Placed<'a>| {
        let is_blind = is_plain_delete(at.step) && !at.is_of_another_request(unlock);
        is_blind || at.step.role == Some(Role::Unlock) && is_same_token(at.step, unlock.step)
    };
    if later.iter().any(is_again) {
        return None;
    }
    let is_undone = shot.proofs.iter().any(|(_, proof)| matches!(proof, Proof::ServerNotAsked));
    let next = later.iter().find(|at| bench.trace.locks.is_grant(at.step));
    let end = end_of(bench, key, unlock);
    let lost = match next.zip(end).filter(|(next, end)| {
        is_undone && next.step.answered.is_some_and(|granted| granted.plus(SLACK) >= *end)
    }) {
        Some((next, end)) => format!(
            "{key} stood locked until its lease ran out at {end}, because {} never reached Redis, was not \
             asked again, and the next one to get it, {}, was given it at {}",
            unlock.name(),
            next.name(),
            next.step.answered.unwrap_or_default()
        ),
        None if is_undone => format!(
            "{key} is nobody's to take until its lease has run out, because {} never reached Redis and was \
             not asked again",
            unlock.name()
        ),
        None => format!(
            "nobody knew whether {key} was free, because the reply to {} was lost, and it was not asked \
             again: had the request been lost, the lease would stand until it runs out",
            unlock.name()
        ),
    };
    let mut steps = vec![*unlock];
    steps.extend(next.map(|at| **at));
    Some(Sight {
        attempts: unlock.attempt.into_iter().collect(),
        subject: key.to_owned(),
        steps,
        because: lost,
    })
}

/// Redis counts a lease from when it gets the request, which may be before its answer is seen.
const SLACK: Duration = Duration::from_millis(50);

/// When the lease that an unlock was for runs out: a term after the last step of its token that gave it
/// one.
fn end_of(bench: &Bench<'_>, key: &str, unlock: &Placed<'_>) -> Option<RunTime> {
    let of_key = bench.trace.locks.keys().find(|(name, _)| *name == key)?.1;
    let own = of_key
        .iter()
        .filter(|at| is_same_token(at.step, unlock.step) && at.step.asked < unlock.step.asked);
    let terms =
        own.filter_map(|at| Some(at.step.answered?.plus(Duration::from_millis(at.step.lease_ms?))));
    terms.max()
}
