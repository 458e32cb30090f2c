//! R4, reported as I07: a request is refused as changed only if another one was sent under its key
//! before the refusal returned.
//!
//! A refusal after an acknowledgement of the same request is R3's, and isn't reported twice. Under a
//! business key another key of the same thing may be what it is measured against. What another user
//! sent under the same key string is no excuse, and I09's to report. Of requests that act on an order
//! a conflict may mean the order's status, so they are left out.

use std::collections::HashMap;

use crate::codes::{I07, Severity};
use crate::history::{Attempt, Outcome};

use super::bench::Bench;
use super::i09_key_of_its_user::other_user;
use super::index::{KeyGroup, Variant};
use super::subject::Subject;
use super::words::times;
use super::{Evidence, Finding, Witness};

pub(super) fn finding(bench: &Bench<'_>) -> Option<Finding> {
    let mut wrong = unfounded(bench);
    wrong.retain(|(_, attempt)| other_user(bench, attempt).is_none());
    let &(key, attempt) = wrong.first()?;
    let mut evidence = Evidence::of(&["user", "key", "attempt", "sent at", "answer"]);
    for (key, attempt) in &wrong {
        evidence.rows.push(vec![
            key.user.to_owned(),
            key.key.to_owned(),
            bench.index.name_of(attempt),
            attempt.first_byte.unwrap_or_default().to_string(),
            super::answer(attempt),
        ]);
    }
    let count = wrong.len() as u64;
    Some(Finding {
        code: &I07,
        severity: Severity::Contract,
        title: format!("an unchanged request was refused as changed{}", times(count)),
        count,
        evidence,
        witness: Witness {
            heading: format!("how {} was refused", key.key),
            attempts: vec![attempt.id],
            orders: Vec::new(),
            product: Some(bench.case.history.intent(attempt.intent).product),
            ..Witness::default()
        },
        therefore: vec![format!(
            "the target took something for a change that isn't one, because until {} was answered no \
             other request had been sent under this key",
            bench.index.name_of(attempt)
        )],
        help: "hash a canonical form of the fields that change the intent, not the raw bytes."
            .to_owned(),
    })
}

/// Every mismatch before which nothing else had been sent under its user's key, as far as all that was
/// sent is known.
pub(super) fn unfounded<'b, 'a>(bench: &'b Bench<'a>) -> Vec<(&'b KeyGroup<'a>, &'a Attempt)> {
    if !bench.knows_every_attempt() {
        return Vec::new();
    }
    let is_business = !bench.contract().one_order_per.is_empty();
    let family = if is_business { families(bench) } else { HashMap::new() };
    let mut wrong = Vec::new();
    for (_, key) in bench.index.placing() {
        for variant in &key.variants {
            let subject = Subject::of_intent(variant.intent, bench.contract().unique_by());
            if family.get(&subject).is_some_and(|&count| count > 1) {
                continue;
            }
            wrong.extend(of_variant(bench, key, variant).into_iter().map(|attempt| (key, attempt)));
        }
    }
    wrong
}

/// How many different requests there are for each thing of the contract.
fn families<'a>(bench: &Bench<'a>) -> HashMap<Subject<'a>, u64> {
    let mut families = HashMap::new();
    for variant in bench.index.keys.iter().flat_map(|key| &key.variants) {
        let subject = Subject::of_intent(variant.intent, bench.contract().unique_by());
        *families.entry(subject).or_default() += 1;
    }
    families
}

/// Mismatches of a variant before which no other variant was sent.
fn of_variant<'a>(
    bench: &Bench<'a>,
    key: &KeyGroup<'a>,
    variant: &Variant<'a>,
) -> Vec<&'a Attempt> {
    let others = key.variants.iter().filter(|other| other.intent.id != variant.intent.id);
    let earliest = others
        .flat_map(|other| other.attempts.iter().filter(|attempt| attempt.outcome.was_sent()))
        .filter_map(|attempt| attempt.first_byte)
        .min();
    let told = variant.first_acknowledged().and_then(|attempt| attempt.completed);
    let mismatches = variant.attempts.iter().copied().filter(|attempt| {
        attempt.outcome == Outcome::Refused && attempt.refusal.as_deref() == Some("mismatch")
    });
    mismatches
        .filter(|attempt| !bench.is_shed(attempt))
        .filter(|attempt| told.is_none_or(|told| attempt.first_byte <= Some(told)))
        .filter(|attempt| earliest.is_none_or(|earliest| attempt.completed < Some(earliest)))
        .collect()
}
