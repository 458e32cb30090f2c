//! L4: a lock that gets its end in a step of its own.

use crate::codes::L4;

use super::bench::Bench;
use super::lint::{Lint, Sight};
use super::locks::sets_term;
use super::ruling::Ruling;
use super::steps::Placed;
use super::trace::Request;

const LINT: Lint = Lint {
    code: &L4,
    what: "a lock was taken without an end, and given one by a second command",
    help: "take it with `SET key token NX PX ttl`, which does both at once",
};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    LINT.judge(bench, |request| {
        let is_grant = |at: &&Placed<'_>| bench.trace.locks.is_grant(at.step);
        let (grant, term) = request
            .steps
            .iter()
            .filter(is_grant)
            .find_map(|grant| Some((grant, first_term(request, grant)?)))?;
        let key = grant.step.subject.as_deref()?;
        let because = format!(
            "had its holder died in between, {key} would have been locked for ever, because {} gave \
             it no end, and {} was sent at {}",
            grant.name(),
            term.name(),
            term.step.forwarded?
        );
        Some(Sight::of(request, key, &[grant, term], because))
    })
}

/// The step by which a lock that was taken without an end got one.
pub(super) fn first_term<'r, 'a>(
    request: &'r Request<'a>,
    grant: &Placed<'a>,
) -> Option<&'r Placed<'a>> {
    let has_no_end =
        matches!(&*grant.step.verb, "SET" | "SETNX" | "HSETNX") && grant.step.lease_ms.is_none();
    if !has_no_end {
        return None;
    }
    let later = request.steps.iter().skip_while(|at| !std::ptr::eq(at.step, grant.step)).skip(1);
    later
        .take_while(|at| !at.step.verb.starts_with("SET") || at.step.subject != grant.step.subject)
        .find(|at| sets_term(at.step) && at.step.is_done() && at.step.subject == grant.step.subject)
}
