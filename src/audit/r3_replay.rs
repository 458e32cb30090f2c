//! R3: once a request was acknowledged, it stays acknowledged.
//!
//! Every attempt with the same request whose first byte left after the acknowledgement had arrived is
//! acknowledged too, or its outcome is unknown, or it was shed in front of the idempotency layer.
//! Another order id is I06. Where the contract hands out the old result to changed requests, they are
//! the same request here. Attempts near the end of an instance or a fault
//! are exempt (S05).

use crate::codes::{R3, Severity};
use crate::history::{Attempt, Outcome};
use crate::profile::OtherParameters;

use super::bench::Bench;
use super::index::{KeyGroup, Variant};
use super::ruling::Ruling;
use super::words::{plural, thousands, times};
use super::{Evidence, Finding, Witness, answer};

/// An attempt that wasn't replayed, with the acknowledgement that it came after.
struct Break<'a> {
    user: &'a str,
    key: &'a str,
    told: &'a Attempt,
    again: &'a Attempt,
}

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    // The end of an instance would be an excuse, and may not have been recorded.
    if !bench.knows_every_attempt() {
        return Ruling::not_known(&R3);
    }
    let mut of = 0;
    let mut breaks = Vec::new();
    let is_old_result = bench.contract().other_parameters == OtherParameters::OldResult;
    for (_, key) in bench.index.keyed() {
        // Whatever is asked under the key, the first result is the answer.
        let of_key = is_old_result.then(|| first_of_key(key)).flatten();
        for variant in &key.variants {
            let Some(told) = of_key.or_else(|| variant.first_acknowledged()) else { continue };
            let begin = variant.attempts.partition_point(|at| at.first_byte <= told.completed);
            for &again in variant.attempts[begin..].iter().filter(|at| at.outcome.was_sent()) {
                of += 1;
                if is_broken(bench, key, again) {
                    breaks.push(one(key, told, again));
                }
            }
        }
    }
    let detail = format!(
        "{} of {} turned away",
        thousands(breaks.len() as u64),
        plural(of, "later attempt", "later attempts")
    );
    let findings = finding(bench, &breaks).into_iter().collect();
    Ruling::of(&R3, detail, findings)
        .unless_none(of as usize, "nothing was asked after an acknowledgement")
}

/// The acknowledgement that arrived first, whatever was asked for.
fn first_of_key<'a>(key: &KeyGroup<'a>) -> Option<&'a Attempt> {
    let told = key.variants.iter().filter_map(Variant::first_acknowledged);
    told.filter(|_| key.places()).min_by_key(|it| (it.completed, it.id))
}

fn one<'a>(key: &KeyGroup<'a>, told: &'a Attempt, again: &'a Attempt) -> Break<'a> {
    Break { user: key.user, key: key.key, told, again }
}

fn is_broken(bench: &Bench<'_>, key: &KeyGroup<'_>, again: &Attempt) -> bool {
    let put_off = match again.outcome {
        Outcome::Pending | Outcome::Parked => true,
        // What acts on an order may be refused, because the order has moved on.
        Outcome::Refused => key.places() && !bench.is_shed(again),
        Outcome::Acknowledged | Outcome::Unknown | Outcome::NotSent => false,
    };
    put_off && !bench.may_be_put_off(again)
}

fn finding(bench: &Bench<'_>, breaks: &[Break<'_>]) -> Option<Finding> {
    let witness = breaks.first()?;
    let mut evidence =
        Evidence::of(&["user", "key", "acknowledged", "at", "asked again at", "answer"]);
    for it in breaks {
        evidence.rows.push(vec![
            it.user.to_owned(),
            it.key.to_owned(),
            answer(it.told),
            it.told.completed.unwrap_or_default().to_string(),
            it.again.first_byte.unwrap_or_default().to_string(),
            answer(it.again),
        ]);
    }
    let count = breaks.len() as u64;
    let seat = |attempt: &Attempt| bench.index.seats[attempt.intent.0 as usize];
    let (told, again) = (bench.index.name_of(witness.told), bench.index.name_of(witness.again));
    Some(Finding {
        code: &R3,
        severity: Severity::Contract,
        title: format!("an acknowledged request was not replayed{}", times(count)),
        count,
        evidence,
        witness: Witness {
            heading: format!("how {} was acknowledged and then wasn't", witness.key),
            attempts: vec![witness.told.id, witness.again.id],
            orders: witness.told.order.iter().map(ToString::to_string).collect(),
            product: Some(bench.case.history.intent(witness.told.intent).product),
            ..Witness::default()
        },
        therefore: vec![format!(
            "a client that lost the first answer is misled, because {told} had got {} at {}, and \
             {again}, {} sent at {}, got {}",
            answer(witness.told),
            witness.told.completed.unwrap_or_default(),
            if seat(witness.told) == seat(witness.again) {
                "the same request"
            } else {
                "a changed request that gets the old result by the contract,"
            },
            witness.again.first_byte.unwrap_or_default(),
            answer(witness.again)
        )],
        help:
            "look the record up before any other check, and the orders table where there is none."
                .to_owned(),
    })
}
