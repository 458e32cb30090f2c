//! I16: another key is another order, unless the contract declares a window.
//!
//! Within a window equal bodies of a user are one order. Two are held against the target only if both
//! must have been placed within one window: from the first byte of anybody who may have placed either
//! of them to the first answer that names the later one, so that it doesn't matter from where the
//! target counts. And one order for two keys is too few if the second key was only sent a whole window
//! after the first was answered.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::codes::{I16, Severity};
use crate::history::{Attempt, RunTime};

use super::bench::Bench;
use super::index::{Variant, same_id};
use super::owner::Borrowed;
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
    // Who was first within a window can't be told if somebody may be missing.
    if window.is_some() && !bench.knows_every_attempt() {
        return Ruling::not_known(&I16);
    }
    let merged: Vec<Borrowed<'_>> = bench
        .borrowed()
        .iter()
        .copied()
        .filter(|it| bench.index.keys[it.owner].user == bench.index.keys[it.group].user)
        .filter(|it| window.is_none_or(|window| is_too_late(bench, it, window)))
        .collect();
    // A pool's user may have begun a window elsewhere.
    let window_of_its_own = window.filter(|_| !bench.index.users_are_a_pool);
    let split = window_of_its_own.map_or_else(Vec::new, |window| split(bench, window));
    let several = bench.index.names.users().filter(|names| names.len() > 1).count();
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
    Ruling::of(&I16, detail, findings.collect()).unless_none(several, "no user with several keys")
}

/// Whether the two keys can't be one order even under a window.
fn is_too_late(bench: &Bench<'_>, it: &Borrowed<'_>, window: Duration) -> bool {
    let (own, owner) = (&bench.index.keys[it.group], &bench.index.keys[it.owner]);
    let mine = bench.case.history.intent(it.told.intent);
    let is_equal =
        owner.variants.iter().any(|theirs| theirs.intent.fingerprint == mine.fingerprint);
    let begun = own.attempts().iter().filter_map(|attempt| attempt.first_byte).min();
    let told = owner.variants.iter().filter_map(Variant::first_acknowledged);
    let answered = told.filter_map(|attempt| attempt.completed).min();
    !is_equal || answered.zip(begun).is_some_and(|(told, begun)| begun > told.plus(window))
}

/// One order for a body: between which moments it was placed, and who was told of it first.
struct Placed<'a> {
    begin: RunTime,
    end: RunTime,
    told: &'a Attempt,
}

/// Neighbours in time among the orders that a user's equal bodies got.
fn split<'a>(bench: &Bench<'a>, window: Duration) -> Vec<Split<'a>> {
    let mut bodies: BTreeMap<(&str, &str, &str), Vec<&Variant<'a>>> = BTreeMap::new();
    for names in bench.index.names.users().filter(|names| names.len() > 1) {
        let keys = names.iter().map(|name| &bench.index.keys[name.group as usize]);
        for variant in keys.filter(|key| key.is_keyed).flat_map(|key| &key.variants) {
            let intent = variant.intent;
            let body = (&*intent.user, &*intent.request, &*intent.fingerprint);
            bodies.entry(body).or_default().push(variant);
        }
    }
    let mut split = Vec::new();
    for ((user, ..), variants) in bodies {
        for pair in orders(&variants).windows(2) {
            let [one, other] = pair else { continue };
            let within = one.end.max(other.end).since(one.begin.min(other.begin));
            if within < window {
                split.push(Split { user, one: one.told, other: other.told, within });
            }
        }
    }
    split
}

/// The orders that equal bodies were told of, in the order of time. A key that was told of one may
/// have been merged into it long after, and a key that was told of none may have placed any of them.
fn orders<'a>(variants: &[&Variant<'a>]) -> Vec<Placed<'a>> {
    let begin = |variant: &Variant<'_>| {
        variant.attempts.iter().filter_map(|attempt| attempt.first_byte).min()
    };
    let is_open = |variant: &&&Variant<'_>| {
        variant.first_acknowledged().is_none() && variant.may_have_acted()
    };
    let open = variants.iter().filter(is_open).filter_map(|variant| begin(variant)).min();
    let mut orders: BTreeMap<Cow<'_, str>, Placed<'_>> = BTreeMap::new();
    for variant in variants {
        let (Some(told), Some(begin)) = (variant.first_acknowledged(), begin(variant)) else {
            continue;
        };
        let (Some(id), Some(end)) = (told.order.as_deref(), told.completed) else { continue };
        let begin = open.map_or(begin, |open| open.min(begin));
        let placed = orders.entry(same_id(id)).or_insert(Placed { begin, end, told });
        placed.begin = placed.begin.min(begin);
        if (end, told.id) < (placed.end, placed.told.id) {
            (placed.end, placed.told) = (end, told);
        }
    }
    let mut orders: Vec<_> = orders.into_values().collect();
    orders.sort_unstable_by_key(|placed| (placed.begin, placed.told.id));
    orders
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
            ..Witness::default()
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
            ..Witness::default()
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
