//! I06, second part: a business rejection that is stored isn't decided anew.
//!
//! Where the contract stores rejections, a key that was turned down stays turned down. So no attempt of
//! the same request that left after the rejection had arrived is acknowledged. What was under way
//! together with the rejection is no proof: it may have been the first.

use crate::codes::{I06, Severity};
use crate::history::{Attempt, Outcome};

use super::bench::Bench;
use super::index::{KeyGroup, Variant};
use super::words::times;
use super::{Evidence, Finding, Witness, answer};

pub(super) fn finding(bench: &Bench<'_>) -> Option<Finding> {
    if !bench.contract().rejection_is_stored {
        return None;
    }
    let pairs: Vec<(&KeyGroup<'_>, &Attempt, &Attempt)> = bench
        .index
        .placing()
        .flat_map(|(_, key)| key.variants.iter().map(move |variant| (key, variant)))
        .filter_map(|(key, variant)| pair(variant).map(|(no, yes)| (key, no, yes)))
        .collect();
    let &(key, no, yes) = pairs.first()?;
    let mut evidence = Evidence::of(&["user", "key", "rejected", "at", "asked again at", "answer"]);
    for (key, no, yes) in &pairs {
        evidence.rows.push(vec![
            key.user.to_owned(),
            key.key.to_owned(),
            answer(no),
            no.completed.unwrap_or_default().to_string(),
            yes.first_byte.unwrap_or_default().to_string(),
            answer(yes),
        ]);
    }
    let count = pairs.len() as u64;
    Some(Finding {
        code: &I06,
        severity: Severity::Contract,
        title: format!("a stored rejection was decided anew{}", times(count)),
        count,
        evidence,
        witness: Witness {
            heading: format!("how {} was turned down and then served", key.key),
            attempts: vec![no.id, yes.id],
            orders: yes.order.iter().map(ToString::to_string).collect(),
            product: Some(bench.case.history.intent(no.intent).product),
            ..Witness::default()
        },
        therefore: vec![format!(
            "a client that believed the rejection has an order, because {} had got {} at {}, and {}, \
             the same request sent at {}, got {}, and the contract stores rejections",
            bench.index.name_of(no),
            answer(no),
            no.completed.unwrap_or_default(),
            bench.index.name_of(yes),
            yes.first_byte.unwrap_or_default(),
            answer(yes)
        )],
        help: "store the rejection with the record; or declare `rejection-is-stored = false`."
            .to_owned(),
    })
}

/// A rejection, and an acknowledgement that was asked for after it.
fn pair<'a>(variant: &Variant<'a>) -> Option<(&'a Attempt, &'a Attempt)> {
    let rejected =
        variant.attempts.iter().copied().filter(|it| {
            it.outcome == Outcome::Refused && it.refusal.as_deref() == Some("business")
        });
    let no = rejected.filter(|it| it.completed.is_some()).min_by_key(|it| (it.completed, it.id))?;
    let yes = variant.acknowledged().find(|it| it.first_byte > no.completed)?;
    Some((no, yes))
}
