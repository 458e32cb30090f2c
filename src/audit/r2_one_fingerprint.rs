//! R2, reported as I07: at most one fingerprint of a key is accepted.
//!
//! Two acknowledged fingerprints are a contradiction in themselves. A pending one beside an
//! acknowledged one is only held against the target if it can't have rolled back and freed the claim
//! (no attempt of either ended unknown, parked or refused by the business) and can't have waited for
//! a lease that an attempt of another key held.

use std::borrow::Cow;

use crate::codes::{I07, Severity};
use crate::history::{Attempt, Outcome};

use super::bench::Bench;
use super::index::{KeyGroup, Variant, same_id};
use super::lanes::Lanes;
use super::words::times;
use super::{Evidence, Finding, Witness, answer};

/// Two attempts of one key with different requests, of which at most one should have been let in.
struct Pair<'a> {
    user: &'a str,
    key: &'a str,
    accepted: &'a Attempt,
    other: &'a Attempt,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    SecondOrder,
    SameOrder,
    Pending,
}

pub(super) fn findings(bench: &Bench<'_>) -> Vec<Finding> {
    let mut lanes = None;
    let mut pairs = Vec::new();
    for (group, key) in bench.index.keyed().filter(|(_, key)| key.variants.len() > 1) {
        pairs.extend(acknowledged(key).or_else(|| {
            let lanes = lanes.get_or_insert_with(|| Lanes::new(&bench.index));
            pending(bench, lanes, group, key)
        }));
    }
    let (orders, rest): (Vec<_>, Vec<_>) =
        pairs.into_iter().partition(|pair| pair.kind == Kind::SecondOrder);
    let orders =
        finding(bench, &orders, Severity::Critical, "a changed request got an order of its own");
    let rest = finding(
        bench,
        &rest,
        Severity::Contract,
        "a changed request was accepted under a used key",
    );
    orders.into_iter().chain(rest).collect()
}

/// Two fingerprints acknowledged.
fn acknowledged<'a>(key: &KeyGroup<'a>) -> Option<Pair<'a>> {
    let mut firsts: Vec<&Attempt> =
        key.variants.iter().filter_map(Variant::first_acknowledged).collect();
    firsts.sort_by_key(|attempt| (attempt.completed, attempt.id));
    let (accepted, rest) = firsts.split_first()?;
    let id = |attempt: &Attempt| attempt.order.as_deref().map(same_id).map(Cow::into_owned);
    let second = rest.iter().find(|other| id(other) != id(accepted));
    let kind = if second.is_some() { Kind::SecondOrder } else { Kind::SameOrder };
    let other = second.or(rest.first())?;
    Some(Pair { user: key.user, key: key.key, accepted, other, kind })
}

/// One fingerprint acknowledged, another one let in as pending.
fn pending<'a>(
    bench: &Bench<'a>,
    lanes: &Lanes<'a>,
    group: usize,
    key: &KeyGroup<'a>,
) -> Option<Pair<'a>> {
    if !bench.knows_every_attempt() {
        return None;
    }
    let winner = key.variants.iter().find(|variant| variant.first_acknowledged().is_some())?;
    let accepted = winner.first_acknowledged()?;
    for variant in key.variants.iter().filter(|one| one.intent.id != winner.intent.id) {
        let both = || variant.attempts.iter().chain(&winner.attempts);
        if both().any(|attempt| may_have_freed(bench, attempt, accepted)) {
            continue;
        }
        let product = variant.intent.product;
        let other = variant.attempts.iter().copied().find(|attempt| {
            attempt.outcome == Outcome::Pending
                && !bench.index.is_disturbed(attempt)
                && !lanes.may_have_waited_for_another_key(key.user, group, product, attempt)
        });
        if let Some(other) = other {
            let kind = Kind::Pending;
            return Some(Pair { user: key.user, key: key.key, accepted, other, kind });
        }
    }
    None
}

/// Whether an attempt may have held the claim and given it up before the acknowledgement. Its own
/// answer may have arrived later; so what counts is that it had begun.
fn may_have_freed(bench: &Bench<'_>, attempt: &Attempt, accepted: &Attempt) -> bool {
    let ended = match attempt.outcome {
        Outcome::Unknown | Outcome::Parked => true,
        Outcome::Refused => {
            attempt.refusal.as_deref() != Some("mismatch") && !bench.is_shed(attempt)
        }
        Outcome::Acknowledged | Outcome::Pending | Outcome::NotSent => false,
    };
    ended && attempt.first_byte <= accepted.completed
}

fn finding(
    bench: &Bench<'_>,
    pairs: &[Pair<'_>],
    severity: Severity,
    title: &str,
) -> Option<Finding> {
    let witness = pairs.first()?;
    let mut evidence = Evidence::of(&["user", "key", "accepted", "changed request"]);
    for pair in pairs {
        let (one, other) = (answer(pair.accepted), answer(pair.other));
        evidence.rows.push([pair.user, pair.key, &one, &other].map(str::to_owned).to_vec());
    }
    let (one, other) = (bench.index.name(witness.accepted), bench.index.name(witness.other));
    let orders = [witness.accepted, witness.other].into_iter().filter_map(|it| it.order.clone());
    let because = match witness.kind {
        Kind::SecondOrder | Kind::SameOrder => format!(
            "two different requests were accepted under one key, because {one} got {} and {other}, with \
             another request, got {}",
            answer(witness.accepted),
            answer(witness.other)
        ),
        Kind::Pending => format!(
            "{other} was let in although its request wasn't that of the key, because {one} got {}, no \
             attempt of either can have given the key up before, and no attempt of another key can \
             have kept {other} waiting",
            answer(witness.accepted)
        ),
    };
    Some(Finding {
        code: &I07,
        severity,
        title: format!("{title}{}", times(pairs.len() as u64)),
        count: pairs.len() as u64,
        evidence,
        witness: Witness {
            heading: format!("how {} came to two meanings", witness.key),
            attempts: vec![witness.accepted.id, witness.other.id],
            orders: orders.collect::<std::collections::BTreeSet<_>>().into_iter().collect(),
            product: Some(bench.case.history.intent(witness.accepted.intent).product),
        },
        therefore: vec![because],
        help: "compare the stored fingerprint before anything else, also while in progress, over every \
               field that changes the intent."
            .to_owned(),
    })
}
