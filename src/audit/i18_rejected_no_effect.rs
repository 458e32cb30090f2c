//! I18: a request that was rejected for its key or its parameters had no effect.
//!
//! Product and quantity of a row tell whose effect it was, and so does the stored fingerprint where it
//! is mapped: it changed between the two audits although no request with another meaning was let in.

use crate::codes::{I18, Severity};
use crate::history::{OrderRow, Outcome};

use super::bench::Bench;
use super::effects::{self, Effect};
use super::index::{Variant, same_id};
use super::rows::Place;
use super::ruling::Ruling;
use super::words::{plural, thousands};
use super::{Evidence, Finding, Witness, answer, i08b_rejection_leaves_nothing as i08b};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    if bench.rows.is_none() {
        return Ruling::not_judged(&I18, "no rows were read after the load");
    }
    if !bench.knows_every_attempt() {
        return Ruling::not_known(&I18);
    }
    let effects: Vec<Effect<'_>> =
        effects::of_rejected(bench).into_iter().filter(|it| !it.by_business).collect();
    let changed = changed(bench);
    let detail = format!(
        "{} of rejected requests, {} changed by one",
        plural(effects.len() as u64, "order", "orders"),
        thousands(changed.len() as u64)
    );
    let findings = placed(bench, &effects).into_iter().chain(marked(&changed));
    let attempts = bench.case.history.attempts.iter();
    let refused = attempts.filter(|attempt| attempt.outcome == Outcome::Refused).count();
    Ruling::of(&I18, detail, findings.collect()).unless_none(refused, "nothing was refused")
}

fn placed(bench: &Bench<'_>, effects: &[Effect<'_>]) -> Option<Finding> {
    let witness = effects.first()?;
    let name = bench.index.name_of(witness.rejected);
    let count = effects.len() as u64;
    Some(Finding {
        code: &I18,
        severity: Severity::Critical,
        title: format!(
            "{} what only rejected requests asked for",
            plural(count, "order holds", "orders hold")
        ),
        count,
        evidence: i08b::evidence(bench, effects),
        witness: i08b::heading(witness, "was rejected and had an effect"),
        therefore: vec![format!(
            "order {} is the effect of {name}, because {name} got {}, and no attempt that was let in or \
             left open asked for what the order holds",
            witness.row.id,
            answer(witness.rejected)
        )],
        help: "check the key and compare the fingerprint before anything is written.".to_owned(),
    })
}

/// Orders whose stored fingerprint is another one at the end than before the repair, of keys under
/// which one meaning only was let in.
fn changed<'a>(bench: &Bench<'a>) -> Vec<(&'a OrderRow, &'a OrderRow)> {
    let (Some(before), Some(rows)) = (bench.case.before_repair, &bench.rows) else {
        return Vec::new();
    };
    if bench.case.profile.audit.orders.fingerprint.is_none()
        || bench.case.after.is_none()
        || bench.contract().settles_within.is_some()
    {
        return Vec::new();
    }
    let earlier: std::collections::HashMap<_, &OrderRow> =
        before.orders.iter().map(|row| (same_id(&row.id), row)).collect();
    let mut changed = Vec::new();
    for placed in &rows.fresh {
        let Place::Key(group) = placed.place else { continue };
        let Some(&old) = earlier.get(&same_id(&placed.row.id)) else { continue };
        let variants = &bench.index.keys[group].variants;
        let let_in = variants.iter().filter(|variant| Variant::may_have_acted(variant)).count();
        let is_known = old.fingerprint.is_some() && placed.row.fingerprint.is_some();
        if is_known
            && old.fingerprint != placed.row.fingerprint
            && variants.len() > 1
            && let_in == 1
        {
            changed.push((old, placed.row));
        }
    }
    changed
}

fn marked(changed: &[(&OrderRow, &OrderRow)]) -> Option<Finding> {
    let (old, new) = changed.first()?;
    let text = |value: &Option<_>| match value {
        Some(text) => format!("{text}"),
        None => "NULL".to_owned(),
    };
    let mut evidence = Evidence::of(&["order", "before repair", "at the end"]);
    for (old, new) in changed {
        let (old_print, new_print) = (text(&old.fingerprint), text(&new.fingerprint));
        evidence.rows.push(vec![new.id.to_string(), old_print, new_print]);
    }
    let count = changed.len() as u64;
    Some(Finding {
        code: &I18,
        severity: Severity::Critical,
        title: format!("the fingerprint of {} changed", plural(count, "order", "orders")),
        count,
        evidence,
        witness: Witness {
            heading: format!("what became of order {}", new.id),
            orders: vec![new.id.to_string()],
            product: new.product.as_ref().and_then(|id| id.parse().ok()),
            ..Witness::default()
        },
        therefore: vec![format!(
            "a rejected request wrote to order {}, because its fingerprint was {} before the repair and \
             is {} now, and only one meaning of its key was let in",
            new.id,
            text(&old.fingerprint),
            text(&new.fingerprint)
        )],
        help: "never update the fingerprint of an order; compare it and refuse.".to_owned(),
    })
}
