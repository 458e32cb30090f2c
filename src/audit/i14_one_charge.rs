//! I14: one order is charged once, under one payment id, and what is charged is paid for.
//!
//! The provider's log is the evidence; without one nothing is judged. Charges that were given back in
//! full don't count. An id that was declined or given back may be followed by another one. What may
//! still be settled is no violation: a closed order has until `settles-within` for its refund, and an
//! order that is neither paid nor closed until the `recovery-limit` after its charge.

use std::collections::BTreeMap;

use crate::codes::I14;
use crate::history::{AttemptId, OrderRow, PaymentLine};

use super::bench::Bench;
use super::i14_books::{Book, books};
use super::i14_kinds::{Broken, Kind, ids};
use super::index::KeyGroup;
use super::rows::Rows;
use super::ruling::Ruling;
use super::words::{plural, share};
use super::{Evidence, Finding, Witness, same_id};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let Some(rows) = &bench.rows else {
        return Ruling::not_judged(&I14, "no rows were read after the load");
    };
    let Some(lines) = rows.snapshot.payments.as_deref() else {
        return Ruling::not_judged(&I14, "no log of a payment provider");
    };
    let books = books(lines);
    let mut broken: BTreeMap<Kind, Vec<Broken<'_, '_>>> = BTreeMap::new();
    let mut may_be_late = 0_u64;
    for (&order, book) in &books {
        let row = rows.by_id(order);
        let Some(kind) = kind(bench, rows, book, row) else { continue };
        // A refund, or the row itself, may only be late.
        if bench.unrest().is_some() && matches!(kind, Kind::NoOrder | Kind::Closed) {
            may_be_late += 1;
            continue;
        }
        broken.entry(kind).or_default().push(Broken { order, book, row });
    }
    // 2 before 10, where ids are numbers.
    broken.values_mut().for_each(|all| all.sort_by_key(|it| (it.order.len(), it.order)));
    let of = books.values().filter(|book| !book.asked.is_empty()).count();
    let count = broken.values().map(Vec::len).sum::<usize>() as u64;
    let detail = format!(
        "{} charged wrongly, {}",
        share(count, of as u64, "order", "orders"),
        plural(
            books.values().map(|book| book.charges.len() as i128).sum::<i128>(),
            "charge",
            "charges"
        )
    );
    let findings = broken.iter().map(|(&kind, broken)| finding(bench, kind, broken)).collect();
    let ruling = Ruling::of(&I14, detail, findings).unless_none(of, "nothing was charged");
    match bench.unrest().filter(|_| may_be_late > 0) {
        Some(why) => ruling.doubting(
            &I14,
            format!(
                "{} may lack an order or a refund, but {why}",
                plural(may_be_late, "charge", "charges")
            ),
            "audit again when the database is at rest",
        ),
        None => ruling,
    }
}

fn kind(
    bench: &Bench<'_>,
    rows: &Rows<'_>,
    book: &Book<'_>,
    row: Option<&OrderRow>,
) -> Option<Kind> {
    let standing: Vec<_> = book.standing().collect();
    if standing.len() > 1 {
        return Some(Kind::Twice);
    }
    if let Some(charge) = standing.first() {
        let found = astray(bench, rows, charge, row);
        if found.is_some() {
            return found;
        }
    }
    (book.open_ids().len() > 1).then_some(Kind::SeveralIds)
}

/// A charge whose order isn't paid.
fn astray(
    bench: &Bench<'_>,
    rows: &Rows<'_>,
    charge: &PaymentLine,
    row: Option<&OrderRow>,
) -> Option<Kind> {
    let Some(row) = row else {
        // Elsewhere it may be an order of others, whose rows aren't read.
        return bench.columns.is_private.then_some(Kind::NoOrder);
    };
    let columns = &bench.case.profile.audit.orders;
    if columns.paid_at.is_none() || row.paid_us.is_some() {
        return None;
    }
    let started = bench.case.history.run.started.as_microsecond();
    let taken = started + rows.snapshot.taken.0 as i64;
    let is_older = |than: std::time::Duration, since: i64| {
        i128::from(taken) - i128::from(since) >= than.as_micros() as i128
    };
    let settles_within = bench.contract().settles_within.unwrap_or_default();
    match row.closed_us {
        Some(closed) => is_older(settles_within, closed.max(charge.at_us)).then_some(Kind::Closed),
        None => {
            let limit = bench.contract().recovery_limit.max(settles_within);
            is_older(limit, charge.at_us).then_some(Kind::Unsettled)
        }
    }
}

fn finding(bench: &Bench<'_>, kind: Kind, broken: &[Broken<'_, '_>]) -> Finding {
    let mut evidence = Evidence::of(&[
        "order",
        "status",
        "payment ids",
        "charges",
        "charged",
        "refunded",
        "first at",
    ]);
    for it in broken {
        let sum = |amounts: &mut dyn Iterator<Item = i64>| amounts.sum::<i64>().to_string();
        evidence.rows.push(vec![
            it.order.to_owned(),
            it.row.map_or("no row", |row| row.status.as_deref().unwrap_or("-")).to_owned(),
            ids(it.book.asked.iter().copied()),
            it.book.charges.len().to_string(),
            sum(&mut it.book.charges.iter().filter_map(|charge| charge.amount)),
            sum(&mut it.book.refunded.values().copied()),
            it.book.charges.first().map_or_else(|| "-".to_owned(), |first| time(bench, first)),
        ]);
    }
    let (first, count) = (broken[0], broken.len() as u64);
    Finding {
        code: &I14,
        severity: kind.severity(),
        title: kind.title(count),
        count,
        evidence,
        witness: Witness {
            heading: kind.heading(first.order),
            attempts: acting_on(bench, first.order),
            orders: vec![first.order.to_owned()],
            product: first.row.and_then(|row| row.product.as_ref()?.parse().ok()),
            ..Witness::default()
        },
        therefore: vec![kind.therefore(bench, &first)],
        help: kind.help().to_owned(),
    }
}

fn time(bench: &Bench<'_>, line: &PaymentLine) -> String {
    let moment = OrderRow { created_us: Some(line.at_us), ..OrderRow::default() };
    bench.created(&[&moment])
}

/// The first requests that were sent at an order.
fn acting_on(bench: &Bench<'_>, order: &str) -> Vec<AttemptId> {
    let groups = bench.index.keys.iter();
    let acting = groups.filter(|key| key.entity.is_some_and(|it| same_id(it) == same_id(order)));
    let mut sent: Vec<_> = acting
        .flat_map(KeyGroup::attempts)
        .filter(|attempt| attempt.outcome.was_sent())
        .map(|attempt| (attempt.first_byte, attempt.id))
        .collect();
    sent.sort_unstable();
    sent.into_iter().take(3).map(|(_, id)| id).collect()
}
