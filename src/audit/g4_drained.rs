//! G4: the rows that are judged are those of a database at rest (rule S03).
//!
//! A drain counts only if it ended after the last attempt and before the final audit: what a late
//! transaction still writes would otherwise be reported as lost.

use crate::codes::G4;
use crate::history::Doubt;

use super::Case;
use super::bench::Bench;
use super::ruling::Ruling;
use super::words::span;

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    match (&bench.trouble, bench.case.history.drains.last()) {
        (Some(doubt), _) => Ruling::missed(&G4, &doubt.what, &doubt.cure),
        (None, drain) => {
            let took = drain.map_or_else(String::new, |drain| span(drain.ended.since(drain.began)));
            Ruling::held(&G4, format!("at rest after {took}"))
        }
    }
}

/// Why the final rows aren't those of a database at rest.
pub(super) fn trouble(case: &Case<'_>) -> Option<Doubt> {
    let because = |what: String, cure: &str| {
        Some(Doubt { code: G4.id.to_owned(), what, cure: cure.to_owned() })
    };
    let Some(after) = case.after else {
        return because(
            "the rows were not read at the end".to_owned(),
            "audit the run again while its database is still there",
        );
    };
    let Some(drain) = case.history.drains.last() else {
        return because(
            "nobody waited for the target to come to rest".to_owned(),
            "run again; a drain comes before every final audit",
        );
    };
    if !drain.drained {
        return because(
            format!(
                "the target was still at work after {}: {}",
                span(drain.ended.since(drain.began)),
                drain.about
            ),
            "raise `limits.drain`, or end what is left, and audit the run again",
        );
    }
    if after.taken < drain.ended {
        return because(
            format!("the last rows are of {}, the drain ended at {}", after.taken, drain.ended),
            "audit the run again",
        );
    }
    let last = case.history.attempts.iter().filter_map(|attempt| attempt.completed).max();
    match last.filter(|&last| last > drain.ended) {
        Some(last) => because(
            format!("an attempt ended at {last}, after the last drain ({})", drain.ended),
            "run again; a drain comes after the last attempt",
        ),
        None => None,
    }
}
