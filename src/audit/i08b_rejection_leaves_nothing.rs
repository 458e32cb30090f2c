//! I08b: what the business rejected left no order.
//!
//! Movements without an order are I04's. Nothing is claimed about an intent of which any attempt may
//! have had an effect.

use crate::codes::{I08B, Severity};
use crate::history::Outcome;

use super::bench::Bench;
use super::effects::{self, Effect};
use super::ruling::Ruling;
use super::words::{plural, thousands};
use super::{Evidence, Finding, Witness, answer};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    if bench.rows.is_none() {
        return Ruling::not_judged(&I08B, "no rows were read after the load");
    }
    if !bench.knows_every_attempt() {
        return Ruling::not_known(&I08B);
    }
    let effects: Vec<Effect<'_>> =
        effects::of_rejected(bench).into_iter().filter(|it| it.by_business).collect();
    let rejected = bench.case.history.attempts.iter().filter(|attempt| {
        attempt.outcome == Outcome::Refused && attempt.refusal.as_deref() == Some("business")
    });
    let rejected = rejected.count();
    let detail = format!(
        "{} after {}",
        plural(effects.len() as u64, "order", "orders"),
        plural(rejected as u64, "rejection", "rejections")
    );
    Ruling::of(&I08B, detail, finding(bench, &effects).into_iter().collect())
        .unless_none(rejected, "no business rejection")
}

fn finding(bench: &Bench<'_>, effects: &[Effect<'_>]) -> Option<Finding> {
    let witness = effects.first()?;
    let name = bench.index.name_of(witness.rejected);
    let count = effects.len() as u64;
    Some(Finding {
        code: &I08B,
        severity: Severity::Critical,
        title: format!("{} of rejected intents", plural(count, "order", "orders")),
        count,
        evidence: evidence(bench, effects),
        witness: heading(witness, "was rejected and placed"),
        therefore: vec![format!(
            "order {} is of a request that was rejected, because {name} got {}, no other attempt for \
             what it holds was acknowledged or left open, and the order is valid",
            witness.row.id,
            answer(witness.rejected)
        )],
        help: "check and write in one transaction, and let a rejection roll it back.".to_owned(),
    })
}

/// Each order with the rejection that it contradicts.
pub(super) fn evidence(bench: &Bench<'_>, effects: &[Effect<'_>]) -> Evidence {
    let mut evidence =
        Evidence::of(&["user", "key", "order", "quantity", "created at", "rejection"]);
    for it in effects {
        evidence.rows.push(vec![
            it.user.to_owned(),
            it.key.to_owned(),
            it.row.id.to_string(),
            it.row.quantity.map_or_else(|| "-".to_owned(), thousands),
            bench.created(&[it.row]),
            answer(it.rejected),
        ]);
    }
    evidence
}

pub(super) fn heading(effect: &Effect<'_>, what: &str) -> Witness {
    let name = if effect.key.is_empty() { effect.user } else { effect.key };
    Witness {
        heading: format!("how {name} {what}"),
        attempts: vec![effect.rejected.id],
        orders: vec![effect.row.id.to_string()],
        product: effect.row.product.as_ref().and_then(|id| id.parse().ok()),
        ..Witness::default()
    }
}
