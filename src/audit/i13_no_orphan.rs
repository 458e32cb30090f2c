//! I13: every order of the run stems from an attempt that was sent.
//!
//! An acknowledged order is left to I05, which says the same more exactly. An order with somebody
//! else's user and key on a product of the run is that somebody's.

use crate::codes::{I13, Severity};
use crate::history::OrderRow;

use super::bench::Bench;
use super::index::{Variant, same_id};
use super::rows::{Place, Placed};
use super::ruling::Ruling;
use super::words::{plural, thousands};
use super::{Evidence, Finding, Witness};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let Some(rows) = &bench.rows else {
        return Ruling::not_judged(&I13, "no rows were read after the load");
    };
    if !bench.knows_every_attempt() {
        return Ruling::not_known(&I13);
    }
    let orphans: Vec<(&OrderRow, &str)> = rows
        .fresh
        .iter()
        .filter(|placed| !bench.index.acknowledged.contains_key(&same_id(&placed.row.id)))
        .filter_map(|placed| Some((placed.row, why_orphaned(bench, placed)?)))
        .collect();
    let foreign = rows.fresh.iter().filter(|placed| placed.place == Place::Foreign).count() as u64;
    let mut detail = format!(
        "{} of {} without an attempt",
        thousands(orphans.len() as u64),
        plural(bench.accounting.orders, "order", "orders")
    );
    if foreign > 0 {
        detail.push_str(&format!(", {} of others left out", thousands(foreign)));
    }
    Ruling::of(&I13, detail, finding(bench, &orphans).into_iter().collect())
}

fn why_orphaned(bench: &Bench<'_>, placed: &Placed<'_>) -> Option<&'static str> {
    match placed.place {
        Place::Stray(why) => Some(why),
        Place::Foreign => None,
        Place::Keyless(user) => {
            let groups = &bench.index.users[user];
            let sent = groups.iter().flat_map(|&group| &bench.index.keys[group].variants);
            let none = !sent.into_iter().any(Variant::was_sent);
            none.then_some("nothing was sent for its user")
        }
        Place::Key(group) => {
            let mut sent =
                bench.index.keys[group].variants.iter().filter(|one| one.was_sent()).peekable();
            if sent.peek().is_none() {
                return Some("nothing was sent under its key");
            }
            let asked = sent.any(|variant| bench.asked_for(variant.intent, placed.row));
            (!asked).then_some("nobody asked for its product and quantity under its key")
        }
    }
}

fn finding(bench: &Bench<'_>, orphans: &[(&OrderRow, &str)]) -> Option<Finding> {
    let &(row, why) = orphans.first()?;
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "NULL".to_owned());
    let mut evidence =
        Evidence::of(&["order", "user", "key", "product", "quantity", "created at", "why ours"]);
    for (row, why) in orphans {
        evidence.rows.push(vec![
            row.id.clone(),
            text(&row.user),
            text(&row.key),
            text(&row.product),
            row.quantity.map_or_else(|| "NULL".to_owned(), thousands),
            bench.created(&[*row]),
            (*why).to_owned(),
        ]);
    }
    let count = orphans.len() as u64;
    Some(Finding {
        code: &I13,
        severity: Severity::Critical,
        title: format!("{} that nobody asked for", plural(count, "order", "orders")),
        count,
        evidence,
        witness: Witness {
            heading: format!("where order {} came from", row.id),
            attempts: nearest(bench, row),
            orders: vec![row.id.clone()],
            product: row.product.as_ref().and_then(|id| id.parse().ok()),
        },
        therefore: vec![format!("order {} stems from no attempt, because {why}", row.id)],
        help:
            "compare the rows with the requests of their user; look for state that requests share."
                .to_owned(),
    })
}

/// The first attempts of the row's user, or else of its key, for comparison.
fn nearest(bench: &Bench<'_>, row: &OrderRow) -> Vec<crate::history::AttemptId> {
    let of_user = row.user.as_deref().and_then(|user| bench.index.users.get(user));
    let of_key = row.key.as_deref().and_then(|key| bench.index.key_strings.get(key));
    let groups = of_user.or(of_key).map_or(&[][..], |groups| groups);
    let attempts = groups.iter().flat_map(|&group| &bench.index.keys[group].attempts);
    attempts
        .filter(|attempt| attempt.outcome.was_sent())
        .take(2)
        .map(|attempt| attempt.id)
        .collect()
}
