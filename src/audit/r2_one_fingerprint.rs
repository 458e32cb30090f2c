//! R2, reported as I07: at most one fingerprint of a key is accepted.
//!
//! Two acknowledged fingerprints with two orders are a contradiction under any contract, and so is an
//! order that holds what was only asked for after it had been acknowledged. Where the contract rejects
//! changed parameters, nobody may be told of an order that holds something else either, and a pending
//! fingerprint beside an acknowledged one is held against the target if it can't have rolled back and
//! freed the claim (no attempt of either ended unknown, parked or refused by the business) and can't
//! have waited for a lease that an attempt of another key held. Of the lab's own shop we know how long
//! it waits for a lease: whoever was put off sooner met the claim.

use std::borrow::Cow;

use crate::codes::{I07, Severity};
use crate::history::{Attempt, Outcome};
use crate::profile::{OtherParameters, Profile, Target};

use super::bench::Bench;
use super::index::{KeyGroup, Variant, may_have_acted, same_id};
use super::lanes::{KeyLanes, Lanes};
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

/// Worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    SecondOrder,
    /// The order took on the changed request after it had been acknowledged.
    Changed,
    SameOrder,
    /// An order was handed out that holds another request.
    OfAnother,
    Pending,
}

impl Kind {
    const fn is_critical(self) -> bool {
        matches!(self, Self::SecondOrder | Self::Changed)
    }
}

pub(super) fn findings(bench: &Bench<'_>) -> Vec<Finding> {
    let lanes = Lanes::new(&bench.index);
    let mut pairs = Vec::new();
    for (_, key) in bench.index.placing().filter(|(_, key)| key.variants.len() > 1) {
        let by_order = acknowledged(key).into_iter().chain(by_row(bench, key));
        let by_order = by_order.min_by_key(|pair| pair.kind);
        match &bench.contract().other_parameters {
            OtherParameters::Rejected { while_in_progress, .. } => {
                pairs.extend(
                    by_order
                        .or_else(|| pending(bench, &lanes.of_key(key), key, *while_in_progress)),
                );
            }
            OtherParameters::OldResult | OtherParameters::Unsaid => {
                pairs.extend(by_order.filter(|pair| pair.kind.is_critical()));
            }
        }
    }
    let (orders, rest): (Vec<_>, Vec<_>) =
        pairs.into_iter().partition(|pair| pair.kind.is_critical());
    let all_changed = orders.iter().all(|pair| pair.kind == Kind::Changed);
    let title = if all_changed {
        "an acknowledged order took on a changed request"
    } else {
        "a changed request got an order of its own"
    };
    let orders = finding(bench, &orders, Severity::Critical, title);
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

/// An acknowledged order whose row holds what another fingerprint asked for. Who came first wins; so
/// the row is only called changed if the other one left after the acknowledgement had arrived, and
/// nothing at all is said where an earlier one may be missing.
fn by_row<'a>(bench: &Bench<'a>, key: &KeyGroup<'a>) -> Option<Pair<'a>> {
    if !bench.knows_every_attempt() {
        return None;
    }
    let told = key.variants.iter().filter_map(|it| Some((it, it.first_acknowledged()?)));
    let (winner, first) = told.min_by_key(|(_, it)| (it.completed, it.id))?;
    let row = bench.rows.as_ref()?.by_id(first.order.as_deref()?)?;
    if bench.asked_for(winner.intent, row) {
        return None;
    }
    let mut others = key.variants.iter().filter(|it| bench.asked_for(it.intent, row));
    let other = others.find(|it| it.may_have_acted())?;
    let earliest = other.attempts.iter().copied().find(|attempt| may_have_acted(attempt))?;
    let (user, key) = (key.user, key.key);
    Some(if earliest.first_byte > first.completed {
        Pair { user, key, accepted: first, other: earliest, kind: Kind::Changed }
    } else {
        Pair { user, key, accepted: earliest, other: first, kind: Kind::OfAnother }
    })
}

/// One fingerprint acknowledged, another one let in as pending.
fn pending<'a>(
    bench: &Bench<'a>,
    lanes: &KeyLanes<'_, 'a>,
    key: &KeyGroup<'a>,
    while_in_progress: bool,
) -> Option<Pair<'a>> {
    // What reads as put off may have been refused, where one answer stands for both.
    if !bench.knows_every_attempt() || bench.contract().mismatch_may_be_in_progress() {
        return None;
    }
    let winner = key.variants.iter().find(|variant| variant.first_acknowledged().is_some())?;
    let accepted = winner.first_acknowledged()?;
    for variant in key.variants.iter().filter(|one| one.intent.id != winner.intent.id) {
        let both = || variant.attempts.iter().chain(winner.attempts);
        if both().any(|attempt| may_have_freed(bench, attempt, accepted)) {
            continue;
        }
        let put_off = || variant.attempts.iter().filter(|it| it.outcome == Outcome::Pending);
        let has_waited = |attempt: &Attempt| {
            !is_no_lease(bench, attempt) && lanes.may_have_waited_for_another_key(attempt)
        };
        // One that waited for a lease held the claim meanwhile, and the others may have met that.
        if put_off().any(|attempt| has_waited(attempt) && attempt.first_byte <= accepted.completed)
        {
            continue;
        }
        let is_due =
            |attempt: &Attempt| while_in_progress || attempt.first_byte > accepted.completed;
        let other = put_off().copied().find(|attempt| {
            is_due(attempt)
                && !bench.index.is_disturbed(attempt)
                && !bench.faults.excuses.lost(attempt)
                && !has_waited(attempt)
        });
        if let Some(other) = other {
            let kind = Kind::Pending;
            return Some(Pair { user: key.user, key: key.key, accepted, other, kind });
        }
    }
    None
}

/// Whether the lab's shop put an attempt off sooner than it gives up on a lock: that is when the next
/// pause would end too late, and a pause is up to one and a half times its setting.
fn is_no_lease(bench: &Bench<'_>, attempt: &Attempt) -> bool {
    let took = attempt.completed.zip(attempt.first_byte).map(|(end, begin)| end.since(begin));
    let Profile { target, lab, .. } = &bench.case.profile;
    let earliest = lab.lock_wait.saturating_sub(lab.lock_poll * 2);
    *target == Target::Lab && took.is_some_and(|took| took < earliest)
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
    let (one, other) = (bench.index.name_of(witness.accepted), bench.index.name_of(witness.other));
    let orders = [witness.accepted, witness.other]
        .into_iter()
        .filter_map(|it| it.order.as_deref().map(str::to_owned));
    let because = match witness.kind {
        Kind::SecondOrder | Kind::SameOrder => format!(
            "two different requests were accepted under one key, because {one} got {} and {other}, with \
             another request, got {}",
            answer(witness.accepted),
            answer(witness.other)
        ),
        Kind::Changed => format!(
            "order {} isn't what {one} was promised any more, because the row holds what {other} asked \
             for, and {other} left at {}, after the answer of {one} had arrived at {}",
            witness.accepted.order.as_deref().unwrap_or("-"),
            witness.other.first_byte.unwrap_or_default(),
            witness.accepted.completed.unwrap_or_default()
        ),
        Kind::OfAnother => format!(
            "{other} was told of an order that isn't its own, because it got {}, and the row of that \
             order holds what {one} had asked for under the same key",
            answer(witness.other)
        ),
        Kind::Pending => format!(
            "{other} was let in although its request wasn't that of the key, because {one} got {}, no \
             attempt of either can have given the key up before, and {}",
            answer(witness.accepted),
            if is_no_lease(bench, witness.other) {
                format!("{other} was put off sooner than the shop gives up on a lease")
            } else {
                format!("no attempt of another key can have kept {other} waiting")
            }
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
            ..Witness::default()
        },
        therefore: vec![because],
        help: "compare the stored fingerprint before anything else, also while in progress, over every \
               field that changes the intent."
            .to_owned(),
    })
}
