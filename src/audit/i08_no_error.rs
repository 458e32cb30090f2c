//! I08: a duplicate gets no 5xx once the first is known to be complete.
//!
//! Known to the client: the acknowledgement had arrived before the duplicate's first byte left. What
//! went wrong before that may have been anything. What acts on an order is done again each time, and may
//! fail. Attempts near the end of an instance or a fault
//! are exempt (S05).

use crate::codes::{I08, Severity};
use crate::history::{Attempt, Outcome};

use super::bench::Bench;
use super::index::KeyGroup;
use super::ruling::Ruling;
use super::words::{plural, thousands, times};
use super::{Evidence, Finding, Witness, answer};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    // The end of an instance would be an excuse, and may not have been recorded.
    if !bench.knows_every_attempt() {
        return Ruling::not_known(&I08);
    }
    let mut of = 0;
    let mut wrong: Vec<(&KeyGroup<'_>, &Attempt, &Attempt)> = Vec::new();
    for (_, key) in bench.index.placing() {
        for variant in &key.variants {
            let Some(told) = variant.first_acknowledged() else { continue };
            let begin = variant.attempts.partition_point(|at| at.first_byte <= told.completed);
            let later = variant.attempts[begin..].iter().copied();
            for again in later.filter(|attempt| attempt.outcome.was_sent()) {
                of += 1;
                if is_error(again) && !bench.may_be_delayed(again) {
                    wrong.push((key, told, again));
                }
            }
        }
    }
    let detail = format!(
        "{} of {} got a 5xx",
        thousands(wrong.len() as u64),
        plural(of, "late duplicate", "late duplicates")
    );
    Ruling::of(&I08, detail, finding(bench, &wrong).into_iter().collect())
        .unless_none(of as usize, "nothing was asked after an acknowledgement")
}

fn is_error(attempt: &Attempt) -> bool {
    attempt.outcome == Outcome::Unknown && attempt.status.is_some_and(|status| status >= 500)
}

fn finding(bench: &Bench<'_>, wrong: &[(&KeyGroup<'_>, &Attempt, &Attempt)]) -> Option<Finding> {
    let &(key, told, again) = wrong.first()?;
    let mut evidence =
        Evidence::of(&["user", "key", "acknowledged", "at", "asked again at", "answer"]);
    for (key, told, again) in wrong {
        evidence.rows.push(vec![
            key.user.to_owned(),
            key.key.to_owned(),
            answer(told),
            told.completed.unwrap_or_default().to_string(),
            again.first_byte.unwrap_or_default().to_string(),
            answer(again),
        ]);
    }
    let count = wrong.len() as u64;
    Some(Finding {
        code: &I08,
        severity: Severity::Contract,
        title: format!("a duplicate of an acknowledged request got an error{}", times(count)),
        count,
        evidence,
        witness: Witness {
            heading: format!("how {} got an order and an error", key.key),
            attempts: vec![told.id, again.id],
            orders: told.order.iter().map(ToString::to_string).collect(),
            product: Some(bench.case.history.intent(told.intent).product),
            ..Witness::default()
        },
        therefore: vec![format!(
            "the error isn't the first request's, because {} had got {} at {}, and {}, sent at {}, got \
             {}",
            bench.index.name_of(told),
            answer(told),
            told.completed.unwrap_or_default(),
            bench.index.name_of(again),
            again.first_byte.unwrap_or_default(),
            answer(again)
        )],
        help:
            "insert with ON CONFLICT DO NOTHING, or behind a savepoint, and read the winner in a \
               fresh statement."
                .to_owned(),
    })
}
