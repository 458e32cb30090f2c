//! I29: a lease is its holder's, and nobody else's, for as long as it lives.
//!
//! From all steps of a key, on every link. Of two steps the order is known only where the reply to the one
//! was read before the other was passed on; a lease certainly lives from the reply to its grant until a
//! term after the grant was passed on, unless a step may have ended it. Where orders or lives are open,
//! nothing is claimed.

use std::time::Duration;

use crate::codes::I29;
use crate::history::{Role, RunTime, Step, StepEnd, Wire};

use super::bench::Bench;
use super::lint::{Lint, Sight};
use super::locks::{
    Locks, is_plain_delete, is_positive, is_removal, is_renewal, is_same_token, sets_term,
};
use super::ruling::Ruling;
use super::steps::{Placed, Steps};
use super::words::plural;

/// What was done to a lease that wasn't one's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Removed,
    Renewed,
    /// Another token was granted beside it.
    Shared,
}

impl Wrong {
    const fn what(self) -> &'static str {
        match self {
            Self::Removed => "a lease was removed by a request that did not hold it",
            Self::Renewed => "a lease was renewed by a request that did not hold it",
            Self::Shared => {
                "a lock was granted to a second token while the first one's lease lived"
            }
        }
    }
}

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let trace = &bench.trace;
    if !trace.is_watched() {
        return Ruling::default();
    }
    if !trace.has_every_step_of(Wire::Redis) {
        return Ruling::not_judged(&I29, "steps or attempts may be missing");
    }
    let (leases, found) = look(bench);
    let detail = match found.len() {
        0 => format!("{}, each its holder's alone", plural(leases, "lease", "leases")),
        wrong => format!(
            "{} wrongly touched, of {}",
            plural(wrong as u64, "lease", "leases"),
            plural(leases, "lease", "leases")
        ),
    };
    let all_the_same = |wrong: Wrong| found.iter().all(|(other, _)| *other == wrong);
    let what = match found.first() {
        Some(&(wrong, _)) if all_the_same(wrong) => wrong.what(),
        _ => "a lease was not its holder's alone",
    };
    let lint = Lint {
        code: &I29,
        what,
        help: "remove and renew a lease only in scripts that compare its token; take the lock from one \
               place; and let what it protects check a fence",
    };
    let sights: Vec<Sight<'_>> = found.into_iter().map(|(_, sight)| sight).collect();
    Ruling::of(&I29, detail, lint.finding(bench, &sights).into_iter().collect())
        .unless_none(leases as usize, "no lease was seen to be taken")
}

/// How many leases were seen, and those that weren't their holder's alone.
fn look<'a>(bench: &Bench<'a>) -> (u64, Vec<(Wrong, Sight<'a>)>) {
    let trace = &bench.trace;
    let (mut leases, mut found) = (0, Vec::new());
    for (key, steps) in trace.locks.keys() {
        // The latest reply to any step so far that may have changed the key.
        let mut unsettled = RunTime(0);
        for (place, at) in steps.iter().enumerate() {
            if trace.locks.is_grant(at.step) {
                leases += 1;
                if at.step.forwarded.is_some_and(|sent| unsettled < sent) {
                    found.extend(wrong(bench, key, at, &steps[place + 1..]));
                }
            }
            if !is_harmless(at.step) && at.step.forwarded.is_some() {
                unsettled = unsettled.max(at.step.answered.unwrap_or(RunTime(u64::MAX)));
            }
        }
    }
    (leases, found)
}

/// The first wrong that was done to a lease while it certainly lived.
fn wrong<'a>(
    bench: &Bench<'a>,
    key: &str,
    grant: &Placed<'a>,
    later: &[Placed<'a>],
) -> Option<(Wrong, Sight<'a>)> {
    // A step may be done as soon as it is asked for: that it was passed on is noted afterwards.
    let (steps, locks) = (&bench.trace.steps, &bench.trace.locks);
    let since = grant.step.answered?;
    // What dupeproof did to its keys ended it, or may have.
    let cut = bench.faults.touched_keys(grant).unwrap_or(RunTime(u64::MAX));
    let mut until = grant.step.earliest().plus(Duration::from_millis(grant.step.lease_ms?));
    for (place, at) in later.iter().enumerate() {
        let step = at.step;
        until = until.min(cut);
        if step.earliest() > until {
            return None;
        }
        let is_within =
            step.earliest() > since && step.answered.is_some_and(|answered| answered < until);
        let wrong = is_within.then(|| done_to(locks, grant, at)).flatten();
        if let Some(wrong) = wrong
            && !(wrong == Wrong::Shared && may_be_given_up(steps, grant, at))
        {
            // What was asked for later may have been done before it all the same.
            if later[place + 1..].iter().any(|other| may_end_before(locks, grant, other, at)) {
                return None;
            }
            return Some((wrong, sight(key, grant, at, wrong, until)));
        }
        if is_harmless(step) || is_in_vain(grant.step, step) {
            continue;
        }
        until = goes_on(locks, grant.step, step, until)?;
    }
    None
}

/// Whether a step may have ended the lease by the time another one was answered.
fn may_end_before(
    locks: &Locks<'_>,
    grant: &Placed<'_>,
    step: &Placed<'_>,
    other: &Placed<'_>,
) -> bool {
    let step = step.step;
    Some(step.earliest()) <= other.step.answered
        && !is_harmless(step)
        && !is_in_vain(grant.step, step)
        && goes_on(locks, grant.step, step, RunTime(u64::MAX)).is_none()
}

/// Until when a lease certainly lives after a step that may have changed it; nothing if that is open.
fn goes_on(locks: &Locks<'_>, grant: &Step, step: &Step, until: RunTime) -> Option<RunTime> {
    let is_own = is_same_token(grant, step) && (locks.is_grant(step) || step.compares);
    if !is_renewal(step) && !locks.is_grant(step) {
        return None;
    }
    let term = Duration::from_millis(step.lease_ms?);
    let anew = step.earliest().plus(term);
    match step.end {
        StepEnd::Done if is_own => Some(until.max(anew)),
        StepEnd::Done if sets_term(step) => Some(anew),
        // It was done or not; either way the lease lives until the earlier end.
        _ if is_own || sets_term(step) => Some(until.min(anew)),
        _ => None,
    }
}

fn done_to(locks: &Locks<'_>, grant: &Placed<'_>, at: &Placed<'_>) -> Option<Wrong> {
    let step = at.step;
    let is_others = at.is_of_another_request(grant);
    let names_no_other = !step.compares || is_same_token(step, grant.step);
    let has_other_token =
        step.token.is_some() && grant.step.token.is_some() && step.token != grant.step.token;
    if is_removal(step) && is_others && names_no_other {
        return Some(Wrong::Removed);
    }
    if is_renewal(step) && step.is_done() && is_positive(step) && is_others && !step.compares {
        return Some(Wrong::Renewed);
    }
    (locks.is_grant(step) && has_other_token).then_some(Wrong::Shared)
}

/// Whether a step can't have changed a key, as far as its name or its answer tells.
fn is_harmless(step: &Step) -> bool {
    const READS: [&str; 10] =
        ["GET", "EXISTS", "TTL", "PTTL", "TYPE", "HGET", "HGETALL", "HMGET", "STRLEN", "WATCH"];
    let is_of_lock = matches!(step.role, Some(Role::Lock | Role::Unlock | Role::Renew));
    let is_refused = step.is_done() && !is_positive(step);
    READS.contains(&&*step.verb)
        || step.end == StepEnd::Failed
        || step.end == StepEnd::Skipped
        || (is_of_lock || is_plain_delete(step) || sets_term(step)) && is_refused
}

/// Whether a step compared, and must have found another token than its own.
fn is_in_vain(grant: &Step, step: &Step) -> bool {
    step.compares && step.token.is_some() && grant.token.is_some() && step.token != grant.token
}

/// Whether the holder may have given its lease up by a step that shows another key, such as a script
/// for several locks.
fn may_be_given_up<'a>(steps: &Steps<'a>, grant: &Placed<'a>, until: &Placed<'a>) -> bool {
    let Some(intent) = grant.intent else { return false };
    steps.of_intent(intent).any(|at| {
        let step = at.step;
        let is_meanwhile = step.asked > grant.step.asked && step.asked < until.step.asked;
        let is_script = step.role.is_none() && matches!(&*step.verb, "EVAL" | "EVALSHA" | "FCALL");
        let may_remove = is_script
            || step.role == Some(Role::Unlock)
            || matches!(&*step.verb, "DEL" | "UNLINK" | "EXEC");
        step.wire == Wire::Redis && is_meanwhile && may_remove && step.subject != grant.step.subject
    })
}

fn sight<'a>(
    key: &str,
    grant: &Placed<'a>,
    at: &Placed<'a>,
    wrong: Wrong,
    until: RunTime,
) -> Sight<'a> {
    let (name, sent) = (at.name(), at.step.earliest());
    let lived = format!("the lease that {} got lived until {until}", grant.name());
    let because = match wrong {
        Wrong::Removed => format!(
            "the holder of {key} was alone no more, because {lived}, and {name} of another request \
             removed it at {sent}"
        ),
        Wrong::Renewed => format!(
            "{key} was kept from whoever came next, because {lived}, and {name} of another request \
             prolonged it at {sent}"
        ),
        Wrong::Shared => {
            format!("two held {key} at once, because {lived}, and {name} got another at {sent}")
        }
    };
    Sight {
        attempts: [grant, at].into_iter().filter_map(|at| at.attempt).collect(),
        subject: key.to_owned(),
        steps: vec![*grant, *at],
        because,
    }
}
