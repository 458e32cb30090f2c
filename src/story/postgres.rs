//! What the database shows: rows, not statements.
//!
//! A row's time is its own `created_at`, which PostgreSQL sets when the transaction begins, not when
//! it commits; the line says so by naming the column.

use crate::audit::{Case, Finding, Scene, Witness, created, same_id, thousands};
use crate::history::{OrderRow, RunTime, Snapshot};

use super::{Need, steps};

/// The witness's orders whose inserts no wire shows.
pub(super) fn orders(case: &Case<'_>, witness: &Witness) -> Vec<(Need, Scene)> {
    unseen_rows(case, witness).into_iter().map(|row| order(case, row)).collect()
}

/// Their rows. Inserts that can't be told apart stand for them, if there are enough.
pub(super) fn unseen_rows<'a>(case: &Case<'a>, witness: &Witness) -> Vec<&'a OrderRow> {
    let Some(snapshot) = case.after.or(case.before_repair) else { return Vec::new() };
    let inserts = || witness.steps.iter().filter(|seen| steps::is_order(seen));
    let is_seen = |row: &OrderRow| {
        inserts().filter_map(|seen| seen.order.as_deref()).any(|id| same_id(id) == same_id(&row.id))
    };
    let unseen: Vec<&OrderRow> =
        snapshot.orders.iter().filter(|row| is_told(witness, row) && !is_seen(row)).collect();
    match inserts().filter(|seen| seen.order.is_none()).count() >= unseen.len() {
        true => Vec::new(),
        false => unseen,
    }
}

/// That an acknowledged order isn't there.
pub(super) fn missing(case: &Case<'_>, witness: &Witness) -> Option<(Need, Scene)> {
    let snapshot = case.after.filter(|_| witness.orders.is_empty())?;
    let told = case.history.attempts.iter().find(|it| witness.attempts.first() == Some(&it.id))?;
    let order = told.order.as_deref()?;
    let table = &case.profile.audit.orders.table;
    Some(scene(
        Need::Key,
        Some(snapshot.taken),
        format!("read at rest: {table} has no order {order}"),
    ))
}

/// The stock of the witness's product, at the baseline and in each audit.
pub(super) fn stock(case: &Case<'_>, witness: &Witness) -> Vec<(Need, Scene)> {
    let Some(product) = witness.product.map(|id| id.to_string()) else { return Vec::new() };
    let read = |need, snapshot: &Snapshot, when: &str| {
        let row = snapshot.stock.get(&product)?;
        let what = format!("{when}: product {product} has {} available", thousands(row.available));
        Some(scene(need, Some(snapshot.taken), what))
    };
    let baseline = read(Need::Key, case.baseline, "baseline");
    let before =
        case.before_repair.and_then(|snapshot| read(Need::Background, snapshot, "before repair"));
    let after = case.after.and_then(|snapshot| read(Need::Key, snapshot, "at the end"));
    baseline.into_iter().chain(before).chain(after).collect()
}

/// What was moved for the order that a finding's evidence begins with, in both audits.
pub(super) fn movements(case: &Case<'_>, finding: &Finding) -> Vec<(Need, Scene)> {
    let Some(order) = finding.evidence.rows.first().and_then(|row| row.first()) else {
        return Vec::new();
    };
    let read = |snapshot: &Snapshot, when: &str| {
        let moved = snapshot.movements.as_ref()?.iter().filter(|movement| {
            movement.order.as_deref().is_some_and(|name| same_id(name) == same_id(order))
        });
        let moved: Vec<String> = moved
            .take(3)
            .map(|it| format!("{} of product {}", thousands(it.delta), it.product))
            .collect();
        let what = match moved.as_slice() {
            [] => format!("{when}: no movement names order {order}"),
            moved => format!("{when}: order {order} moved {}", moved.join(", ")),
        };
        Some(scene(Need::Key, Some(snapshot.taken), what))
    };
    let before = case.before_repair.and_then(|snapshot| read(snapshot, "before repair"));
    let after = case.after.and_then(|snapshot| read(snapshot, "at the end"));
    before.into_iter().chain(after).collect()
}

/// When the witness's orders were paid and closed, and what they are now.
pub(super) fn transitions(case: &Case<'_>, witness: &Witness) -> Vec<(Need, Scene)> {
    let Some(snapshot) = case.after.or(case.before_repair) else { return Vec::new() };
    let columns = &case.profile.audit.orders;
    let mut scenes = Vec::new();
    for row in snapshot.orders.iter().filter(|row| is_told(witness, row)) {
        for (column, us) in [(&columns.paid_at, row.paid_us), (&columns.closed_at, row.closed_us)] {
            let (Some(column), Some(us)) = (column, us) else { continue };
            let moment = OrderRow { created_us: Some(us), ..OrderRow::default() };
            let what = format!("UPDATE {} ... order {} (by {column})", columns.table, row.id);
            scenes.push(scene(Need::Key, created(case, &moment), what));
        }
        if let Some(status) = &row.status {
            let what = format!("read: order {} is {status}", row.id);
            scenes.push(scene(Need::Telling, Some(snapshot.taken), what));
        }
    }
    scenes
}

fn is_told(witness: &Witness, row: &OrderRow) -> bool {
    witness.orders.iter().any(|id| same_id(id) == same_id(&row.id))
}

fn order(case: &Case<'_>, row: &OrderRow) -> (Need, Scene) {
    let columns = &case.profile.audit.orders;
    let at = created(case, row);
    let mut what = format!("INSERT INTO {} ... order {}", columns.table, row.id);
    if let Some(quantity) = row.quantity {
        what.push_str(&format!(", quantity {}", thousands(quantity)));
    }
    if let Some(status) = &row.status {
        what.push_str(&format!(", {status}"));
    }
    what.push_str(&match (&columns.created, at, row.created_us) {
        (Some(column), Some(_), _) => format!(" (by {column})"),
        (Some(column), None, Some(_)) => format!(" ({column} is of another clock)"),
        _ => " (time not known)".to_owned(),
    });
    scene(Need::Key, at, what)
}

fn scene(need: Need, at: Option<RunTime>, what: String) -> (Need, Scene) {
    (need, Scene { at, seen_by: "postgres".to_owned(), what })
}
