//! I16: another key is another order, unless the contract declares a window.
//!
//! Within a window equal bodies of a user are one order; two are held against the target only if all
//! attempts of both, from the first byte of the earlier to the last acknowledgement of the later,
//! lie within one window, so that it doesn't matter from where the target counts. And one order for
//! two keys is too few if the second key was only sent a whole window after the first was answered.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::codes::{I16, Severity};
use crate::history::{Attempt, RunTime};

use super::bench::Bench;
use super::index::{Variant, same_id};
use super::owner::{self, Borrowed};
use super::ruling::Ruling;
use super::words::{plural, span, times};
use super::{Evidence, Finding, Witness, answer, i09_key_of_its_user::first_told};

/// Two orders for equal bodies within one window.
struct Split<'a> {
    user: &'a str,
    one: &'a Attempt,
    other: &'a Attempt,
    within: Duration,
}

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    if !bench.contract().one_order_per.is_empty() {
        return Ruling::not_judged(&I16, "a business key decides, whatever the keys are");
    }
    let window = bench.contract().window;
    let merged: Vec<Borrowed<'_>> = owner::borrowed(bench)
        .into_iter()
        .filter(|it| bench.index.keys[it.owner].user == bench.index.keys[it.group].user)
        .filter(|it| window.is_none_or(|window| is_too_late(bench, it, window)))
        .collect();
    let split = window.map_or_else(Vec::new, |window| split(bench, window));
    let several = bench.index.users.values().filter(|groups| groups.as_slice().len() > 1).count();
    let detail = format!(
        "{} in {} with several keys",
        match window {
            None => plural(merged.len() as u64, "merged order", "merged orders"),
            Some(_) => {
                plural((merged.len() + split.len()) as u64, "wrong order", "wrong orders")
            }
        },
        plural(several as u64, "user", "users")
    );
    let findings = merging(bench, &merged).into_iter().chain(splitting(bench, &split, window));
    Ruling::of(&I16, detail, findings.collect())
}

/// Whether the two keys can't be one order even under a window.
fn is_too_late(bench: &Bench<'_>, it: &Borrowed<'_>, window: Duration) -> bool {
    let (own, owner) = (&bench.index.keys[it.group], &bench.index.keys[it.owner]);
    let mine = bench.case.history.intent(it.told.intent);
    let is_equal =
        owner.variants.iter().any(|theirs| theirs.intent.fingerprint == mine.fingerprint);
    let begun = own.attempts.iter().filter_map(|attempt| attempt.first_byte).min();
    let told = owner.variants.iter().filter_map(Variant::first_acknowledged);
    let answered = told.filter_map(|attempt| attempt.completed).min();
    !is_equal || answered.zip(begun).is_some_and(|(told, begun)| begun > told.plus(window))
}

/// Neighbours in time among a user's acknowledged equal bodies.
fn split<'a>(bench: &Bench<'a>, window: Duration) -> Vec<Split<'a>> {
    let mut bodies: BTreeMap<(&str, &str, &str), Vec<(RunTime, RunTime, &Attempt)>> =
        BTreeMap::new();
    for groups in bench.index.users.values().filter(|groups| groups.as_slice().len() > 1) {
        let keys = groups.as_slice().iter().map(|&group| &bench.index.keys[group]);
        for variant in keys.filter(|key| key.is_keyed).flat_map(|key| &key.variants) {
            let begin = variant.attempts.iter().filter_map(|attempt| attempt.first_byte).min();
            let told = variant.first_acknowledged();
            if let (Some(begin), Some(told)) = (begin, told) {
                let intent = variant.intent;
                let body = (&*intent.user, &*intent.request, &*intent.fingerprint);
                let end = told.completed.unwrap_or_default();
                bodies.entry(body).or_default().push((begin, end, told));
            }
        }
    }
    let mut split = Vec::new();
    for ((user, ..), mut told) in bodies {
        told.sort_unstable_by_key(|&(begin, _, attempt)| (begin, attempt.id));
        for pair in told.windows(2) {
            let [(begin, end, one), (_, other_end, other)] = pair else { continue };
            let id =
                |attempt: &Attempt| attempt.order.as_deref().map(|id| same_id(id).into_owned());
            let within = (*end).max(*other_end).since(*begin);
            if id(one) != id(other) && within < window {
                split.push(Split { user, one, other, within });
            }
        }
    }
    split
}

fn merging(bench: &Bench<'_>, merged: &[Borrowed<'_>]) -> Option<Finding> {
    let witness = merged.first()?;
    let mut evidence = Evidence::of(&["user", "key", "order", "which is of key", "told at"]);
    for it in merged {
        let (own, owner) = (&bench.index.keys[it.group], &bench.index.keys[it.owner]);
        evidence.rows.push(vec![
            own.user.to_owned(),
            own.key.to_owned(),
            it.told.order.as_deref().unwrap_or("-").to_owned(),
            owner.key.to_owned(),
            it.told.completed.unwrap_or_default().to_string(),
        ]);
    }
    let (own, owner) = (&bench.index.keys[witness.group], &bench.index.keys[witness.owner]);
    let order = witness.told.order.as_deref().unwrap_or("-");
    let count = merged.len() as u64;
    let mut attempts = first_told(owner, order);
    attempts.push(witness.told.id);
    Some(Finding {
        code: &I16,
        severity: Severity::Contract,
        title: format!("two keys got one order{}", times(count)),
        count,
        evidence,
        witness: Witness {
            heading: format!("how {} got the order of {}", own.key, owner.key),
            attempts,
            orders: vec![order.to_owned()],
            product: owner.variants.first().map(|variant| variant.intent.product),
        },
        therefore: vec![format!(
            "two purchases were taken for one, because {} of {} got {}, and that order is of {}, a key \
             of its own",
            bench.index.name_of(witness.told),
            own.key,
            answer(witness.told),
            owner.key
        )],
        help: "let the key decide, not the body; if equal bodies are meant to be one order for a \
               while, declare `contract.window`."
            .to_owned(),
    })
}

fn splitting(bench: &Bench<'_>, split: &[Split<'_>], window: Option<Duration>) -> Option<Finding> {
    let witness = split.first()?;
    let mut evidence = Evidence::of(&["user", "one answer", "other answer", "within"]);
    for it in split {
        let cells = [it.user, &answer(it.one), &answer(it.other), &span(it.within)];
        evidence.rows.push(cells.map(str::to_owned).to_vec());
    }
    let count = split.len() as u64;
    let key = |attempt: &Attempt| bench.case.history.intent(attempt.intent).key.clone();
    let orders = [witness.one, witness.other].into_iter().filter_map(|it| it.order.as_deref());
    Some(Finding {
        code: &I16,
        severity: Severity::Critical,
        title: format!("equal requests within one window got two orders{}", times(count)),
        count,
        evidence,
        witness: Witness {
            heading: format!("how {} bought twice within one window", witness.user),
            attempts: vec![witness.one.id, witness.other.id],
            orders: orders.map(str::to_owned).collect(),
            product: Some(bench.case.history.intent(witness.one.intent).product),
        },
        therefore: vec![format!(
            "one order was due, because {} and {} sent equal bodies, and from the first byte of the one \
             to the answer of the other it took {}, less than the window of {}",
            key(witness.one),
            key(witness.other),
            span(witness.within),
            span(window.unwrap_or_default())
        )],
        help: "measure the window from the first order of the user, not from a fixed grid."
            .to_owned(),
    })
}
