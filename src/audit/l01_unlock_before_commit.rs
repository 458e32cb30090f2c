//! L1: a lock that is free before what was done under it can be seen.
//!
//! Seen where the release was passed on before the reply to COMMIT was read: whoever sent it can't have
//! had that reply. A lease whose transaction was over before is given up in time.

use crate::codes::L1;
use crate::history::{RunTime, Step};

use super::bench::Bench;
use super::lint::{Lint, Sight};
use super::locks::Hold;
use super::ruling::Ruling;
use super::steps::Placed;
use super::trace::{Request, has_written};

const LINT: Lint = Lint {
    code: &L1,
    what: "a lock was released before COMMIT was answered",
    help: "release the lock once COMMIT has been answered, whether it succeeded or not",
};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    LINT.judge(bench, |request| {
        let holds = bench.trace.locks.held_by(&request.steps);
        holds.iter().find_map(|hold| early(request, hold))
    })
}

fn early<'a>(request: &Request<'a>, hold: &Hold<'a>) -> Option<Sight<'a>> {
    let release = hold.released?;
    let (granted, released) = (hold.grant.step.answered?, release.step.forwarded?);
    let is_late = |commit: &&Placed<'a>| {
        commit.step.answered.is_some_and(|answered| released < answered)
            && is_under(request, commit.step, granted, released)
    };
    let commit = request.commits().find(is_late)?;
    let because = format!(
        "the next holder of {} could not see what this one had written, because {} was sent at {}, \
         and {} was answered at {}",
        hold.key,
        release.name(),
        released,
        commit.name(),
        commit.step.answered?
    );
    Some(Sight::of(request, hold.key, &[&hold.grant, &release, commit], because))
}

/// Whether the transaction of a COMMIT was begun, or wrote something, while the lease was held.
fn is_under<'a>(
    request: &Request<'a>,
    commit: &'a Step,
    granted: RunTime,
    released: RunTime,
) -> bool {
    request.before(commit).any(|at| {
        let is_begin = matches!(&*at.step.verb, "BEGIN" | "START");
        (is_begin || has_written(at.step))
            && at.step.asked >= granted
            && at.step.forwarded.is_some_and(|sent| sent < released)
    })
}
