//! Which visit wrote which order.
//!
//! By the row's user and key where a visit has them to itself, or else by the row's time: that of the
//! insert or that of its BEGIN, as the column has it, if all orders of the witness can be told so.

use crate::history::OrderRow;

use super::bench::{Bench, created};
use super::steps::Placed;
use super::visits::Visit;
use super::{Witness, same_id};

/// How far the clocks of a row and of a step may lie apart, once they can be compared.
const CLOCK_SLACK_US: u64 = 100;

/// Says which visit wrote which order: by the time of the insert, or by that of its BEGIN, whichever of
/// the two fits all of them.
pub(super) fn name(bench: &Bench<'_>, witness: &Witness, visits: &mut [Visit<'_>]) {
    let Some(snapshot) = bench.case.after.or(bench.case.before_repair) else { return };
    let is_told = |row: &&OrderRow| witness.orders.iter().any(|id| same_id(id) == same_id(&row.id));
    let rows: Vec<&OrderRow> = snapshot.orders.iter().filter(is_told).collect();
    let by_key = by_key(bench, &rows, visits);
    if !by_key.is_empty() {
        for (row, visit) in by_key {
            visits[visit].order = Some(rows[row].id.to_string());
        }
        return;
    }
    let by_insert = pairs(bench, &rows, visits, |visit| visit.insert);
    for (row, visit) in
        by_insert.or_else(|| pairs(bench, &rows, visits, Visit::begin)).unwrap_or_default()
    {
        visits[visit].order = Some(rows[row].id.to_string());
    }
}

/// Rows and visits of a user and key that has one of each.
fn by_key(bench: &Bench<'_>, rows: &[&OrderRow], visits: &[Visit<'_>]) -> Vec<(usize, usize)> {
    let name = |visit: &Visit<'_>| {
        let intent = visit.insert.intent.map(|id| bench.case.history.intent(id));
        intent.map(|intent| (intent.user.as_str(), intent.key.as_str()))
    };
    let named = |row: &OrderRow, visit: &Visit<'_>| {
        row.user.as_deref().zip(row.key.as_deref()).is_some_and(|of| Some(of) == name(visit))
    };
    let is_alone = |row: &OrderRow| {
        let alike = rows.iter().filter(|it| (&it.user, &it.key) == (&row.user, &row.key));
        alike.count() == 1
    };
    let pairs = rows.iter().enumerate().filter_map(|(place, row)| {
        let mut of = visits.iter().enumerate().filter(|(_, visit)| named(row, visit));
        let (visit, _) = of.next().filter(|_| of.next().is_none())?;
        is_alone(row).then_some((place, visit))
    });
    pairs.collect()
}

/// Rows and visits, if each row was made while one visit alone, and of each row another one, was at this
/// step.
fn pairs<'a>(
    bench: &Bench<'_>,
    rows: &[&OrderRow],
    visits: &[Visit<'a>],
    step: impl Fn(&Visit<'a>) -> Placed<'a>,
) -> Option<Vec<(usize, usize)>> {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (row, order) in rows.iter().enumerate() {
        let at = created(&bench.case, order)?.0;
        let is_it = |visit: &&Visit<'a>| {
            let step = step(visit).step;
            let end = step.answered.unwrap_or(step.asked).0;
            step.asked.0.saturating_sub(CLOCK_SLACK_US) <= at && at <= end + CLOCK_SLACK_US
        };
        let mut fitting = visits.iter().enumerate().filter(|(_, visit)| is_it(visit));
        let (visit, _) = fitting.next().filter(|_| fitting.next().is_none())?;
        if pairs.iter().any(|&(_, other)| other == visit) {
            return None;
        }
        pairs.push((row, visit));
    }
    Some(pairs)
}
