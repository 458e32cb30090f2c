//! I13: every order of the run stems from an attempt that was sent.
//!
//! An acknowledged order is left to I05, which says the same more exactly. An order with somebody
//! else's user and key on a product of the run is that somebody's. A user of a pool may be at work
//! elsewhere meanwhile, so an order of its own that can't be explained is a doubt, not a finding.

use std::sync::Arc;

use crate::codes::{I13, Severity};
use crate::history::OrderRow;

use super::bench::Bench;
use super::index::Variant;
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
        .filter(|placed| bench.index.told(&placed.row.id).is_none())
        .filter_map(|placed| Some((placed.row, why_orphaned(bench, placed)?)))
        .collect();
    let (strange, orphans): (Vec<_>, Vec<_>) = orphans
        .into_iter()
        .partition(|(row, _)| bench.index.users_are_a_pool && row.user.is_some());
    let foreign = rows.fresh.iter().filter(|placed| placed.place == Place::Foreign).count() as u64;
    let mut detail = format!(
        "{} of {} without an attempt",
        thousands(orphans.len() as u64),
        plural(bench.accounting.orders, "order", "orders")
    );
    if foreign > 0 {
        detail.push_str(&format!(", {} of others left out", thousands(foreign)));
    }
    let ruling = Ruling::of(&I13, detail, finding(bench, &orphans).into_iter().collect());
    let Some((row, why)) = strange.first() else { return ruling };
    ruling.doubting(
        &I13,
        format!(
            "{} of the pool's users can't be explained (order {}: {why}); the users may be at work \
             elsewhere",
            plural(strange.len() as u64, "order", "orders"),
            row.id
        ),
        "give the run users that nobody else uses meanwhile",
    )
}

fn why_orphaned(bench: &Bench<'_>, placed: &Placed<'_>) -> Option<&'static str> {
    match placed.place {
        Place::Stray(why) => Some(why),
        Place::Foreign => None,
        Place::Keyless(user) => {
            let groups = bench.index.placed_by(user);
            let sent = groups.flat_map(|group| &bench.index.keys[group].variants);
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
    let text = |value: &Option<Arc<str>>| value.as_deref().unwrap_or("NULL").to_owned();
    let mut evidence =
        Evidence::of(&["order", "user", "key", "product", "quantity", "created at", "why ours"]);
    for (row, why) in orphans {
        evidence.rows.push(vec![
            row.id.to_string(),
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
            orders: vec![row.id.to_string()],
            product: row.product.as_ref().and_then(|id| id.parse().ok()),
            ..Witness::default()
        },
        therefore: vec![format!("order {} stems from no attempt, because {why}", row.id)],
        help:
            "compare the rows with the requests of their user; look for state that requests share."
                .to_owned(),
    })
}

/// The first attempts of the row's user, or else of its key, for comparison.
fn nearest(bench: &Bench<'_>, row: &OrderRow) -> Vec<crate::history::AttemptId> {
    let names = &bench.index.names;
    let of_user = row.user.as_deref().and_then(|user| names.of_user(user));
    let groups: Vec<u32> = match of_user {
        Some((_, of_user)) => of_user.iter().map(|name| name.group).collect(),
        None => {
            let of_key = row.key.as_deref().map_or(&[][..], |key| names.of_key(key));
            of_key.iter().map(|name| name.group).collect()
        }
    };
    let attempts = groups.iter().flat_map(|&group| bench.index.keys[group as usize].attempts());
    attempts
        .filter(|attempt| attempt.outcome.was_sent())
        .take(2)
        .map(|attempt| attempt.id)
        .collect()
}
