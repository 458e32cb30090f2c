//! L2: a lock that is removed by its name alone, whoever has it by now.
//!
//! Where its holder was asked for just before, it is L3 that says so.

use crate::codes::L2;

use super::bench::Bench;
use super::lint::{Lint, Sight};
use super::locks::{Locks, is_plain_delete};
use super::ruling::Ruling;
use super::steps::Placed;
use super::trace::Request;

const LINT: Lint = Lint {
    code: &L2,
    what: "a lock was removed by a plain DEL",
    help: "remove it only if it still holds your token, in one script that compares and deletes",
};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let locks = &bench.trace.locks;
    LINT.judge(bench, |request| {
        let plain = deletions(locks, request).find(|it| it.asked_before.is_none());
        let Deletion { key, grant, delete, .. } = plain?;
        let because = format!(
            "whoever held {key} would have lost it, because {} at {} names the key and no token",
            delete.name(),
            delete.step.asked
        );
        Some(Sight::of(request, key, &[grant, delete], because))
    })
}

/// A lock that a request got, and deleted by name.
pub(super) struct Deletion<'r, 'a> {
    pub key: &'a str,
    pub grant: &'r Placed<'a>,
    /// The GET of it in between.
    pub asked_before: Option<&'r Placed<'a>>,
    pub delete: &'r Placed<'a>,
}

pub(super) fn deletions<'r, 'a>(
    locks: &'r Locks<'a>,
    request: &'r Request<'a>,
) -> impl Iterator<Item = Deletion<'r, 'a>> {
    let steps = &request.steps;
    let deletes = steps.iter().enumerate().filter(|(_, at)| is_plain_delete(at.step));
    deletes.filter_map(move |(place, delete)| {
        let key = delete.step.subject.as_deref()?;
        let of_key = |at: &&Placed<'a>| at.step.subject.as_deref() == Some(key);
        let granted = |at: &Placed<'a>| of_key(&at) && locks.is_grant(at.step);
        let from = steps[..place].iter().rposition(granted)?;
        let asks = |at: &&Placed<'a>| of_key(at) && &*at.step.verb == "GET" && at.step.is_done();
        let asked_before = steps[from + 1..place].iter().rfind(asks);
        Some(Deletion { key, grant: &steps[from], asked_before, delete })
    })
}
