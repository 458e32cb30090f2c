//! L3: a lock whose holder is asked for, and which is then removed by its name.

use crate::codes::L3;

use super::bench::Bench;
use super::l02_unlock_plain_del::deletions;
use super::lint::{Lint, Sight};
use super::ruling::Ruling;

const LINT: Lint = Lint {
    code: &L3,
    what: "a lock was looked at by GET and then removed by DEL",
    help: "compare and delete in one script: between two commands the lease may end",
};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    LINT.judge(bench, |request| {
        let (it, get) = deletions(&bench.trace.locks, request)
            .find_map(|it| it.asked_before.map(|get| (it, get)))?;
        let because = format!(
            "the lease could have become another's between the two, because {} was answered at {} \
             and {} was sent at {}",
            get.name(),
            get.step.answered?,
            it.delete.name(),
            it.delete.step.forwarded?
        );
        Some(Sight::of(request, it.key, &[it.grant, get, it.delete], because))
    })
}
