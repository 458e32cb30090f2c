//! R5: `in progress` is legal only while something is.
//!
//! The catalogue's rule names another attempt of the key. A pending answer also stands for a lock that
//! couldn't be had, and a lock may be kept per key, user or product, or be one for all orders; so any
//! other attempt is an excuse, unless it was known to be complete before the request left. An attempt
//! with an unknown outcome never is. What comes after an acknowledgement of the same request is R3's.

use crate::codes::{R5, Severity};
use crate::history::{Attempt, Outcome};

use super::bench::Bench;
use super::index::{KeyGroup, Variant};
use super::lanes::{KeyLanes, Lanes};
use super::ruling::Ruling;
use super::words::{plural, thousands, times};
use super::{Evidence, Finding, Witness};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let pending = bench.accounting.pending;
    if pending == 0 {
        return Ruling::not_judged(&R5, "no pending answers");
    }
    if !bench.knows_every_attempt() {
        return Ruling::not_known(&R5);
    }
    let lanes = Lanes::new(&bench.index);
    let may_be_mismatch = bench.contract().mismatch_may_be_in_progress();
    let mut wrong = Vec::new();
    for (_, key) in bench.index.keyed() {
        if may_be_mismatch && key.variants.len() > 1 {
            continue; // What reads as put off may have been refused.
        }
        if !key.attempts().iter().any(|attempt| attempt.outcome == Outcome::Pending) {
            continue;
        }
        let lanes = lanes.of_key(key);
        for variant in &key.variants {
            let found = unfounded(bench, &lanes, variant);
            wrong.extend(found.into_iter().map(|attempt| (key, attempt)));
        }
    }
    let detail = format!(
        "{} of {} without a reason",
        thousands(wrong.len() as u64),
        plural(pending, "wait", "waits")
    );
    let findings = finding(bench, &wrong).into_iter().collect();
    Ruling::of(&R5, detail, findings)
}

fn unfounded<'a>(
    bench: &Bench<'a>,
    lanes: &KeyLanes<'_, 'a>,
    variant: &Variant<'a>,
) -> Vec<&'a Attempt> {
    let told = variant.first_acknowledged().and_then(|attempt| attempt.completed);
    let is_wrong = |attempt: &&Attempt| {
        attempt.outcome == Outcome::Pending
            && told.is_none_or(|told| attempt.first_byte <= Some(told))
            && !bench.may_be_put_off(attempt)
            && !lanes.may_have_waited(attempt)
    };
    variant.attempts.iter().copied().filter(is_wrong).collect()
}

fn finding(bench: &Bench<'_>, wrong: &[(&KeyGroup<'_>, &Attempt)]) -> Option<Finding> {
    let &(key, attempt) = wrong.first()?;
    let mut evidence = Evidence::of(&["user", "key", "attempt", "sent at", "answered at"]);
    for (key, attempt) in wrong {
        evidence.rows.push(vec![
            key.user.to_owned(),
            key.key.to_owned(),
            bench.index.name_of(attempt),
            attempt.first_byte.unwrap_or_default().to_string(),
            attempt.completed.unwrap_or_default().to_string(),
        ]);
    }
    let count = wrong.len() as u64;
    let before = key.attempts().iter().take_while(|other| other.id != attempt.id);
    let last = before.filter(|other| other.outcome.was_sent()).last();
    let mut attempts: Vec<_> = last.into_iter().map(|other| other.id).collect();
    attempts.push(attempt.id);
    Some(Finding {
        code: &R5,
        severity: Severity::Contract,
        title: format!("`in progress` with nothing in progress{}", times(count)),
        count,
        evidence,
        witness: Witness {
            heading: format!("what {} was waiting for", key.key),
            attempts,
            orders: Vec::new(),
            product: Some(bench.case.history.intent(attempt.intent).product),
            ..Witness::default()
        },
        therefore: vec![format!(
            "there was nothing to wait for, because every other attempt was answered more than a \
             second before {} left at {}, or left after its answer",
            bench.index.name_of(attempt),
            attempt.first_byte.unwrap_or_default()
        )],
        help: "release the claim when its request fails, and give it a short processing lease."
            .to_owned(),
    })
}
