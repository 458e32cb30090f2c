//! L7: a write by a holder whose lease was over.
//!
//! The lease certainly ended a term after the reply to whatever gave it that term was read. A renewal
//! that may have worked leaves that open, and then nothing is said. Nor is it of a lease that its holder
//! never came back to: some locks are taken only to be left.

use std::time::Duration;

use crate::codes::L7;
use crate::history::{Role, RunTime, Step, Wire};

use super::bench::Bench;
use super::lint::{Lint, Sight};
use super::locks::{Hold, Locks, is_plain_delete, is_positive, is_renewal, is_same_token};
use super::ruling::Ruling;
use super::steps::Placed;
use super::trace::{Request, has_written};

const LINT: Lint = Lint {
    code: &L7,
    what: "a holder went on writing after its lease had ended",
    help: "renew the lease while you work, stop when a renewal fails, and let the write check the fence",
};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    if bench.trace.is_watched() && !bench.trace.has_every_step_of(Wire::Redis) {
        return Ruling::not_judged(&L7, "a renewal may not have been seen");
    }
    let locks = &bench.trace.locks;
    LINT.judge(bench, |request| {
        let holds = locks.held_by(&request.steps);
        holds.iter().find_map(|hold| late(locks, request, hold, &holds))
    })
}

fn late<'a>(
    locks: &Locks<'a>,
    request: &Request<'a>,
    hold: &Hold<'a>,
    holds: &[Hold<'a>],
) -> Option<Sight<'a>> {
    let given_up = given_up(request, hold)?;
    let (write, end) = writes(request).find_map(|write| {
        let is_held = |sent: &RunTime| {
            *sent < given_up && hold.released.is_none_or(|end| end.step.earliest() > *sent)
        };
        let sent = write.step.forwarded.filter(is_held)?;
        let is_under =
            |other: &&Hold<'a>| other.key == hold.key && other.grant.step.earliest() < sent;
        let latest = holds.iter().rfind(is_under)?;
        let is_of_it = std::ptr::eq(latest.grant.step, hold.grant.step);
        let end = end(locks, hold, sent).filter(|&end| is_of_it && end < sent)?;
        Some((write, end))
    })?;
    let because = format!(
        "{} was nobody's or another's when {} was sent at {}, because the lease that {} got had ended \
         by {end}",
        hold.key,
        write.name(),
        write.step.forwarded?,
        hold.grant.name(),
    );
    Some(Sight::of(request, hold.key, &[&hold.grant, write], because))
}

/// When its holder last tried to remove the lease.
fn given_up(request: &Request<'_>, hold: &Hold<'_>) -> Option<RunTime> {
    let is_later = |step: &Step| step.asked > hold.grant.step.asked;
    let of_key = |step: &Step| step.subject.as_deref() == Some(hold.key);
    let ends = request.steps.iter().map(|at| at.step).filter(|step| is_later(step) && of_key(step));
    ends.filter(|step| is_plain_delete(step) || step.role == Some(Role::Unlock))
        .map(|step| step.asked)
        .max()
}

/// What the lease was to protect, as far as it took effect.
fn writes<'r, 'a>(request: &'r Request<'a>) -> impl Iterator<Item = &'r Placed<'a>> {
    let is_write = |at: &&Placed<'a>| {
        matches!(at.step.role, Some(Role::StockWrite | Role::OrderInsert)) && has_written(at.step)
    };
    request.steps.iter().filter(is_write).chain(request.commits())
}

/// The moment by which a lease had certainly ended, judged by what was asked before another.
fn end(locks: &Locks<'_>, hold: &Hold<'_>, before: RunTime) -> Option<RunTime> {
    let term = |step: &Step| {
        let lease = Duration::from_millis(step.lease_ms?);
        Some(step.answered?.plus(lease))
    };
    let mut end = term(hold.grant.step)?;
    let later = locks.since(hold.key, hold.grant.step).map(|at| at.step);
    for step in later.take_while(|step| step.earliest() <= before) {
        let is_grant = locks.is_grant(step) && is_same_token(step, hold.grant.step);
        if std::ptr::eq(step, hold.grant.step) || !(is_grant || is_renewal(step)) {
            continue;
        }
        let is_refused = step.is_done() && !is_positive(step);
        let is_of_another = step.compares && !is_same_token(step, hold.grant.step);
        if !is_refused && !is_of_another {
            end = end.max(term(step)?);
        }
    }
    Some(end)
}
