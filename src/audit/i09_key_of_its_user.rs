//! I09: one key string of two users is two intents.
//!
//! Two ways to see that it isn't: an order is acknowledged to a user whose order it isn't, or a
//! request is refused as changed although its own user never sent another one (rule R4), while
//! another user had sent that key string. Where keys belong to the account, users share a group, and
//! this check is about orders of different keys only.

use crate::codes::{I09, Severity};
use crate::history::Attempt;
use crate::profile::{BusinessColumn, KeyScope};

use super::bench::Bench;
use super::index::KeyGroup;
use super::owner::Borrowed;
use super::ruling::Ruling;
use super::words::{plural, times};
use super::{Evidence, Finding, Witness, answer, r4_mismatch};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    if !bench.contract().unique_by().contains(&BusinessColumn::User) {
        return Ruling::not_judged(&I09, "orders aren't told apart by user");
    }
    let borrowed: Vec<Borrowed<'_>> = bench
        .borrowed()
        .iter()
        .copied()
        .filter(|it| bench.index.keys[it.owner].user != bench.index.keys[it.group].user)
        .collect();
    let refused: Vec<(&KeyGroup<'_>, &Attempt)> = r4_mismatch::unfounded(bench)
        .into_iter()
        .filter(|(_, attempt)| other_user(bench, attempt).is_some())
        .collect();
    let shared = bench.index.names.keys().filter(|groups| groups.len() > 1).count();
    let detail = match bench.contract().key.scope {
        KeyScope::User => format!(
            "{} in {}",
            plural((borrowed.len() + refused.len()) as u64, "mix-up", "mix-ups"),
            plural(shared as u64, "key string of several users", "key strings of several users")
        ),
        KeyScope::Account => format!(
            "{} between users; a shared key string is one intent",
            plural(borrowed.len() as u64, "mix-up", "mix-ups")
        ),
    };
    let findings = told(bench, &borrowed).into_iter().chain(kept_out(bench, &refused));
    Ruling::of(&I09, detail, findings.collect())
        .unless_none(shared, "no key string of several users")
}

/// An attempt of another user under the same key string that was begun before this one was answered.
pub(super) fn other_user<'a>(bench: &Bench<'a>, attempt: &Attempt) -> Option<&'a Attempt> {
    let (group, _) = bench.index.seat_of(attempt);
    let key = &bench.index.keys[group];
    if bench.contract().key.scope != KeyScope::User || key.key.is_empty() {
        return None;
    }
    let groups = bench.index.names.of_key(key.key);
    let others = groups.iter().map(|name| &bench.index.keys[name.group as usize]);
    let mut others = others.filter(|other| other.is_keyed && other.user != key.user);
    others.find_map(|other| {
        let mut sent = other.attempts().iter().copied().filter(|it| it.outcome.was_sent());
        sent.next().filter(|other| other.first_byte <= attempt.completed)
    })
}

fn told(bench: &Bench<'_>, borrowed: &[Borrowed<'_>]) -> Option<Finding> {
    let witness = borrowed.first()?;
    let mut evidence = Evidence::of(&["user", "key", "order", "which is of", "told at"]);
    for it in borrowed {
        let (own, owner) = (&bench.index.keys[it.group], &bench.index.keys[it.owner]);
        evidence.rows.push(vec![
            own.user.to_owned(),
            own.key.to_owned(),
            it.told.order.as_deref().unwrap_or("-").to_owned(),
            owner.user.to_owned(),
            it.told.completed.unwrap_or_default().to_string(),
        ]);
    }
    let (own, owner) = (&bench.index.keys[witness.group], &bench.index.keys[witness.owner]);
    let order = witness.told.order.as_deref().unwrap_or("-");
    let count = borrowed.len() as u64;
    let mut attempts = first_told(owner, order);
    attempts.push(witness.told.id);
    Some(Finding {
        code: &I09,
        severity: Severity::Contract,
        title: format!("a user was told of another user's order{}", times(count)),
        count,
        evidence,
        witness: Witness {
            heading: format!("how {} got order {order} of {}", own.user, owner.user),
            attempts,
            orders: vec![order.to_owned()],
            product: owner.variants.first().map(|variant| variant.intent.product),
            ..Witness::default()
        },
        therefore: vec![format!(
            "{} of {} was served with {}'s order, because it got {}, and that order is of {} (key {})",
            bench.index.name_of(witness.told),
            own.user,
            owner.user,
            answer(witness.told),
            owner.user,
            owner.key
        )],
        help: "make the user part of the record's key and of the unique index.".to_owned(),
    })
}

/// The first attempt of the owner that was told of its order.
pub(super) fn first_told(owner: &KeyGroup<'_>, order: &str) -> Vec<crate::history::AttemptId> {
    let id = super::same_id(order);
    let told = owner.variants.iter().flat_map(super::index::Variant::acknowledged);
    let told = told.filter(|it| it.order.as_deref().map(super::same_id) == Some(id.clone()));
    told.min_by_key(|it| (it.completed, it.id)).map(|it| it.id).into_iter().collect()
}

fn kept_out(bench: &Bench<'_>, refused: &[(&KeyGroup<'_>, &Attempt)]) -> Option<Finding> {
    let &(key, attempt) = refused.first()?;
    let other = other_user(bench, attempt)?;
    let mut evidence = Evidence::of(&["user", "key", "sent at", "answer"]);
    for (key, attempt) in refused {
        evidence.rows.push(vec![
            key.user.to_owned(),
            key.key.to_owned(),
            attempt.first_byte.unwrap_or_default().to_string(),
            answer(attempt),
        ]);
    }
    let count = refused.len() as u64;
    let other_user = &bench.case.history.intent(other.intent).user;
    Some(Finding {
        code: &I09,
        severity: Severity::Contract,
        title: format!("a user was refused because of another user's key{}", times(count)),
        count,
        evidence,
        witness: Witness {
            heading: format!("how {} of {} was refused", key.key, key.user),
            attempts: vec![other.id, attempt.id],
            orders: Vec::new(),
            product: Some(bench.case.history.intent(attempt.intent).product),
            ..Witness::default()
        },
        therefore: vec![format!(
            "{} of {} was measured against {other_user}'s request, because it got {}, {} had sent \
             nothing else under this key, and {other_user} had",
            bench.index.name_of(attempt),
            key.user,
            answer(attempt),
            key.user
        )],
        help: "make the user part of the record's key and of the unique index.".to_owned(),
    })
}
