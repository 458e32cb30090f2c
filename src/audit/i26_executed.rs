//! I26, second part: where the contract executes requests without a key, one isn't rejected for it.
//!
//! Only a rejection for the key itself, or an answer that the contract doesn't know: sold out and
//! 429 are as good without a key as with one. An empty key may be taken for a malformed one.

use crate::codes::{I26, Severity};
use crate::history::{Attempt, KeyForm, Outcome};
use crate::profile::MissingKey;

use super::bench::Bench;
use super::unagreed::{is_outside, vouched};
use super::words::plural;
use super::{Evidence, Finding, Witness, answer};

/// The finding, and of how many requests; `None` where no such request is due to be executed.
pub(super) fn judged(bench: &Bench<'_>) -> Option<(u64, Option<Finding>)> {
    if bench.contract().missing_key != MissingKey::Executed {
        return None;
    }
    let history = bench.case.history;
    let keyless = history.attempts.iter().filter(|it| it.outcome.was_sent());
    let keyless = keyless.filter(|it| history.intent(it.intent).key_form == KeyForm::Missing);
    let keyless: Vec<&Attempt> = keyless.collect();
    if keyless.is_empty() {
        return None;
    }
    let vouched = vouched(bench);
    let wrong = keyless.iter().copied().filter(|it| {
        is_for_its_key(it) && vouched.contains(history.intent(it.intent).request.as_str())
    });
    Some((keyless.len() as u64, finding(bench, &wrong.collect::<Vec<_>>())))
}

fn is_for_its_key(attempt: &Attempt) -> bool {
    const FOR_ITS_KEY: [&str; 2] = ["missing-key", "malformed-key"];
    let refusal = attempt.refusal.as_deref().filter(|_| attempt.outcome == Outcome::Refused);
    is_outside(attempt) || refusal.is_some_and(|why| FOR_ITS_KEY.contains(&why))
}

fn finding(bench: &Bench<'_>, wrong: &[&Attempt]) -> Option<Finding> {
    let witness = wrong.iter().min_by_key(|it| (it.first_byte, it.id))?;
    let mut evidence = Evidence::of(&["user", "key was", "sent at", "answer"]);
    for attempt in wrong {
        evidence.rows.push(vec![
            bench.case.history.intent(attempt.intent).user.clone(),
            "missing".to_owned(),
            attempt.first_byte.unwrap_or_default().to_string(),
            answer(attempt),
        ]);
    }
    let count = wrong.len() as u64;
    let intent = bench.case.history.intent(witness.intent);
    Some(Finding {
        code: &I26,
        severity: Severity::Contract,
        title: format!(
            "{} rejected for want of a key",
            plural(count, "request was", "requests were")
        ),
        count,
        evidence,
        witness: Witness {
            heading: format!("what {} got without a key", intent.user),
            attempts: vec![witness.id],
            orders: Vec::new(),
            product: Some(intent.product),
            ..Witness::default()
        },
        therefore: vec![format!(
            "a client that may leave the key out can't, because {} had none and got {}, and the \
             contract executes such requests",
            bench.index.name_of(witness),
            answer(witness)
        )],
        help: "execute it; or declare in `[contract] missing-key` how it is rejected.".to_owned(),
    })
}
