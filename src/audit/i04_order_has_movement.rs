//! I04: an order and its stock movement go together.
//!
//! Both audits are compared. What is still apart at the end is critical; what was apart before the
//! repair and isn't any more was healed by a retry, and misled its caller meanwhile (a contract that
//! says `settles-within` is a saga's, and then it is only an inefficiency, rule S04). Each audit counts
//! only if the database was at rest when it was read. Orders of others, and movements of a pool's
//! products that name an order nobody knows, are left alone.

use std::collections::BTreeMap;

use crate::codes::{I04, Severity};
use crate::history::{OrderRow, RunTime, Snapshot};

use super::bench::Bench;
use super::index::same_id;
use super::ledger::Ledger;
use super::rows::{Place, Rows};
use super::ruling::Ruling;
use super::words::{plural, share, span, thousands, times};
use super::{Evidence, Finding, Witness};

/// From how many movements on, none of which names an order of the run, the column isn't believed.
const ENOUGH: usize = 3;

/// An order and what was moved for it.
#[derive(Clone, Copy, Debug)]
struct Odd<'a> {
    row: Option<&'a OrderRow>,
    product: &'a str,
    due: i128,
    moved: i128,
}

/// By order id and product.
type Odds<'a> = BTreeMap<(String, String), Odd<'a>>;

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    if bench.case.profile.audit.movements.is_none() {
        return Ruling::not_judged(&I04, "no table of stock movements in the profile");
    }
    if !bench.columns.sums {
        return Ruling::not_judged(&I04, "no product and quantity columns in the profile");
    }
    let Some((rows, ledger)) =
        bench.rows.as_ref().and_then(|rows| Some((rows, Ledger::of(rows.snapshot)?)))
    else {
        return Ruling::not_judged(&I04, "the movements were not read");
    };
    if is_mismapped(rows, &ledger) {
        return Ruling::not_judged(&I04, "movements name no order").doubting(
            &I04,
            "none of the movements names an order of the run, although both are there",
            "name the column that holds the order's id in `[audit] movements`",
        );
    }
    let of = rows.fresh.iter().filter(|it| it.valid && it.place != Place::Foreign).count() as u64;
    let now = odds(bench, rows, &ledger);
    let before_rows = earlier(bench);
    let before_ledger = before_rows.as_ref().and_then(|rows| Ledger::of(rows.snapshot));
    let healed: Odds<'_> = match (&before_rows, &before_ledger) {
        (Some(rows), Some(ledger)) => {
            let mut before = odds(bench, rows, ledger);
            before.retain(|key, _| !now.contains_key(key));
            before
        }
        _ => Odds::new(),
    };
    let detail = format!(
        "{} apart, {} healed later",
        share(now.len() as u64, of, "order", "orders"),
        thousands(healed.len() as u64)
    );
    if let Some(why) = why_unsure(bench).filter(|_| !now.is_empty()) {
        return Ruling::of(&I04, detail, healing(bench, &healed).into_iter().collect()).doubting(
            &I04,
            format!(
                "{} without matching movements, but {why}",
                plural(now.len() as u64, "order is", "orders are")
            ),
            "audit again when the database is at rest and everything has settled",
        );
    }
    let findings = staying(bench, &now).into_iter().chain(healing(bench, &healed));
    Ruling::of(&I04, detail, findings.collect())
}

/// Why what is apart at the end may still come together.
fn why_unsure(bench: &Bench<'_>) -> Option<String> {
    if let Some(why) = bench.unrest() {
        return Some(why.to_owned());
    }
    let settles = bench.contract().settles_within?;
    let attempts = bench.case.history.attempts.iter();
    let last = attempts.filter_map(|attempt| attempt.completed).max()?;
    let taken = bench.case.after?.taken;
    (taken < last.plus(settles)).then(|| {
        format!(
            "the contract gives it {} to settle, and {} had passed",
            span(settles),
            span(taken.since(last))
        )
    })
}

fn is_mismapped(rows: &Rows<'_>, ledger: &Ledger<'_>) -> bool {
    let valid = rows.fresh.iter().filter(|it| it.valid && it.place != Place::Foreign);
    let names_none = !ledger.orders.keys().any(|order| rows.by_id(order).is_some());
    ledger.orders.len() >= ENOUGH && valid.count() >= ENOUGH && names_none
}

/// The rows before the repair, if the database was at rest when they were read.
fn earlier<'a>(bench: &Bench<'a>) -> Option<Rows<'a>> {
    let before: &Snapshot = bench.case.before_repair.filter(|_| bench.knows_every_attempt())?;
    let drains = bench.case.history.drains.iter().filter(|drain| drain.ended <= before.taken);
    let drain = drains.max_by_key(|drain| drain.ended)?;
    let is_open = |(begin, end): (Option<RunTime>, Option<RunTime>)| {
        begin.is_some_and(|begin| begin <= before.taken) && end.is_none_or(|end| end > drain.ended)
    };
    let mut attempts = bench.case.history.attempts.iter();
    let at_rest =
        drain.drained && !attempts.any(|attempt| is_open((attempt.first_byte, attempt.completed)));
    at_rest.then(|| Rows::new(&bench.case, &bench.index, &bench.columns, before))
}

fn odds<'a>(bench: &Bench<'a>, rows: &Rows<'a>, ledger: &Ledger<'a>) -> Odds<'a> {
    let mut odds = Odds::new();
    let none = BTreeMap::new();
    for placed in rows.fresh.iter().filter(|placed| placed.place != Place::Foreign) {
        let (Some(product), Some(quantity)) = (placed.row.product.as_deref(), placed.row.quantity)
        else {
            continue;
        };
        let id = same_id(&placed.row.id);
        let moved = ledger.orders.get(&id).unwrap_or(&none);
        let due = if placed.valid { -i128::from(quantity) } else { 0 };
        let products = moved.keys().copied().filter(|other| *other != product);
        for product in std::iter::once(product).chain(products) {
            let due = if Some(product) == placed.row.product.as_deref() { due } else { 0 };
            let moved = moved.get(product).copied().unwrap_or(0);
            if due != moved {
                let odd = Odd { row: Some(placed.row), product, due, moved };
                odds.insert((id.clone().into_owned(), product.to_owned()), odd);
            }
        }
    }
    let old: std::collections::HashSet<_> = Ledger::of(bench.case.baseline)
        .map(|ledger| ledger.orders.into_keys().collect())
        .unwrap_or_default();
    for (order, products) in &ledger.orders {
        let is_known = rows.by_id(order).is_some() || old.contains(order);
        let is_ours = !bench.index.products_are_a_pool || bench.index.told(order).is_some();
        if is_known || !is_ours {
            continue;
        }
        for (&product, &moved) in products.iter().filter(|(_, moved)| **moved != 0) {
            let odd = Odd { row: None, product, due: 0, moved };
            odds.insert((order.clone().into_owned(), product.to_owned()), odd);
        }
    }
    odds
}

fn staying(bench: &Bench<'_>, odds: &Odds<'_>) -> Option<Finding> {
    let count = odds.len() as u64;
    Some(Finding {
        severity: Severity::Critical,
        title: format!("an order and its stock movement don't match{}", times(count)),
        help:
            "change stock, movement and order in one transaction; correct the listed ones by hand."
                .to_owned(),
        ..finding(bench, odds, "and it still is so at the end")?
    })
}

fn healing(bench: &Bench<'_>, odds: &Odds<'_>) -> Option<Finding> {
    let count = odds.len() as u64;
    let settles = bench.contract().settles_within;
    Some(Finding {
        severity: if settles.is_some() { Severity::Efficiency } else { Severity::Contract },
        title: format!("an order had its stock movement only after a retry{}", times(count)),
        help: "change stock, movement and order in one transaction; or, if the steps are a saga, say so \
               with `contract.settles-within`."
            .to_owned(),
        ..finding(bench, odds, "and only what was asked again has healed it")?
    })
}

fn finding(bench: &Bench<'_>, odds: &Odds<'_>, since: &str) -> Option<Finding> {
    let ((order, _), witness) = odds.iter().next()?;
    let mut evidence = Evidence::of(&["order", "product", "due", "moved", "what is there"]);
    for ((order, _), odd) in odds {
        let what = match (odd.row, odd.moved) {
            (None, _) => "a movement without its order",
            (Some(_), 0) => "an order without its movement",
            _ => "another quantity",
        };
        evidence.rows.push(vec![
            order.clone(),
            odd.product.to_owned(),
            thousands(odd.due),
            thousands(odd.moved),
            what.to_owned(),
        ]);
    }
    let moved = plural(witness.moved, "unit", "units");
    let were = if witness.moved == 1 { "was" } else { "were" };
    let because = match witness.row {
        None => format!(
            "{moved} of product {} {were} moved for order {order}, which isn't in the table",
            witness.product
        ),
        Some(_) => format!(
            "order {order} calls for a movement of {}, and {moved} of product {} {were} moved for it",
            thousands(witness.due),
            witness.product
        ),
    };
    let orders: Vec<String> = witness.row.map(|row| row.id.to_string()).into_iter().collect();
    Some(Finding {
        code: &I04,
        severity: Severity::Critical,
        title: String::new(),
        count: odds.len() as u64,
        evidence,
        witness: Witness {
            heading: format!("what was moved for order {order}"),
            attempts: bench.told_of(std::slice::from_ref(order)),
            orders,
            product: witness.product.parse().ok(),
            ..Witness::default()
        },
        therefore: vec![format!(
            "stock and order weren't changed together, because {because}, {since}"
        )],
        help: String::new(),
    })
}
