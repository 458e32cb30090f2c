//! L6: a lease that is prolonged whoever has it by now.
//!
//! The command that gives a lock its first end renews nothing: that is L4.

use crate::codes::L6;

use super::bench::Bench;
use super::l04_setnx_then_pexpire::first_term;
use super::lint::{Lint, Sight};
use super::locks::is_renewal;
use super::ruling::Ruling;
use super::steps::Placed;
use super::trace::Request;

const LINT: Lint = Lint {
    code: &L6,
    what: "a lease was renewed without a look at its token",
    help: "renew it in a script that compares the token first",
};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    LINT.judge(bench, |request| {
        let is_grant = |at: &&Placed<'_>| bench.trace.locks.is_grant(at.step);
        let (grant, renewal) = request
            .steps
            .iter()
            .filter(is_grant)
            .find_map(|grant| Some((grant, renewal(bench, request, grant)?)))?;
        let key = grant.step.subject.as_deref()?;
        let because = format!(
            "a lease that had become another's would have been prolonged, because {} at {} names \
             {key} and compares no token",
            renewal.name(),
            renewal.step.asked
        );
        Some(Sight::of(request, key, &[grant, renewal], because))
    })
}

fn renewal<'r, 'a>(
    bench: &Bench<'a>,
    request: &'r Request<'a>,
    grant: &Placed<'a>,
) -> Option<&'r Placed<'a>> {
    // A request may take a lock several times, and each of them has a first end of its own.
    let grants = request.steps.iter().filter(|at| bench.trace.locks.is_grant(at.step));
    let firsts: Vec<_> = grants.filter_map(|grant| first_term(request, grant)).collect();
    let later = request.steps.iter().skip_while(|at| !std::ptr::eq(at.step, grant.step)).skip(1);
    later
        .filter(|at| at.step.subject == grant.step.subject)
        .filter(|at| !firsts.iter().any(|first| std::ptr::eq(first.step, at.step)))
        .find(|at| is_renewal(at.step) && at.step.is_done() && !at.step.compares)
}
