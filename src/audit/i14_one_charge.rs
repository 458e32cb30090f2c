//! I14: one order is charged once, under one payment id, and what is charged is paid for.
//!
//! The provider's log is the evidence; without one nothing is judged. Charges that were given back in
//! full don't count. An id that was declined or given back may be followed by another one. What may
//! still be settled is no violation: a closed order has until `settles-within` for its refund, and an
//! order that is neither paid nor closed until the `recovery-limit` after its charge.

use std::collections::{BTreeMap, BTreeSet};

use crate::codes::{I14, Severity};
use crate::history::{AttemptId, OrderRow, PaymentEvent, PaymentLine};

use super::bench::Bench;
use super::index::KeyGroup;
use super::rows::Rows;
use super::ruling::Ruling;
use super::words::{list, plural, share, span};
use super::{Evidence, Finding, Witness, same_id};

/// Ids shown in one cell.
const MOST_IN_A_CELL: usize = 6;

/// Everything that the log has on one order.
#[derive(Debug, Default)]
struct Book<'a> {
    /// Payment ids that were asked for, in the order of the log.
    asked: Vec<&'a str>,
    declined: BTreeSet<&'a str>,
    charges: Vec<&'a PaymentLine>,
    refunded: BTreeMap<&'a str, i64>,
}

impl<'a> Book<'a> {
    /// Charges that weren't given back in full.
    fn standing(&self) -> impl Iterator<Item = &'a PaymentLine> {
        self.charges.iter().copied().filter(|charge| !self.is_given_back(charge))
    }

    fn is_given_back(&self, charge: &PaymentLine) -> bool {
        let refunded = self.refunded.get(&*charge.id).copied().unwrap_or(0);
        charge.amount.is_some_and(|amount| refunded >= amount)
    }

    /// Ids that may each have taken money, and keep it.
    fn open_ids(&self) -> Vec<&'a str> {
        let given_back = |id: &str| {
            self.charges.iter().any(|charge| &*charge.id == id && self.is_given_back(charge))
        };
        let ids = self.asked.iter().copied();
        ids.filter(|id| !self.declined.contains(id) && !given_back(id)).collect()
    }
}

/// An order that breaks the invariant.
#[derive(Debug, Clone, Copy)]
struct Broken<'b, 'a> {
    order: &'a str,
    book: &'b Book<'a>,
    row: Option<&'a OrderRow>,
}

/// In which way. The first that fits is the one that is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Twice,
    NoOrder,
    Closed,
    Unsettled,
    SeveralIds,
}

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

fn books(lines: &[PaymentLine]) -> BTreeMap<&str, Book<'_>> {
    let order_of: BTreeMap<&str, &str> =
        lines.iter().filter_map(|line| Some((&*line.id, line.order.as_deref()?))).collect();
    let mut books: BTreeMap<&str, Book<'_>> = BTreeMap::new();
    for line in lines {
        let Some(order) = order_of.get(&*line.id) else { continue };
        let book = books.entry(order).or_default();
        match line.event {
            PaymentEvent::ChargeRequest if !book.asked.contains(&&*line.id) => {
                book.asked.push(&line.id);
            }
            PaymentEvent::Charge => book.charges.push(line),
            PaymentEvent::Decline => {
                book.declined.insert(&line.id);
            }
            PaymentEvent::Refund => {
                *book.refunded.entry(&line.id).or_default() += line.amount.unwrap_or(0);
            }
            PaymentEvent::ChargeRequest
            | PaymentEvent::StateRequest
            | PaymentEvent::RefundRequest => {}
        }
    }
    books
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

impl Kind {
    const fn severity(self) -> Severity {
        match self {
            Self::Twice | Self::NoOrder | Self::Closed => Severity::Critical,
            Self::Unsettled | Self::SeveralIds => Severity::Contract,
        }
    }

    fn title(self, count: u64) -> String {
        let orders = |one, many| plural(count, one, many);
        match self {
            Self::Twice => format!("{} charged more than once", orders("order is", "orders are")),
            Self::NoOrder => format!(
                "{} an order that isn't there",
                orders("charge is for", "charges are each for")
            ),
            Self::Closed => {
                format!("{} charged and closed, without a refund", orders("order is", "orders are"))
            }
            Self::Unsettled => {
                format!("{} charged and not paid", orders("order is", "orders are"))
            }
            Self::SeveralIds => {
                format!("{} several payment ids", orders("order has", "orders have"))
            }
        }
    }

    fn heading(self, order: &str) -> String {
        match self {
            Self::Twice => format!("how order {order} was charged twice"),
            Self::NoOrder => format!("what became of order {order}, which was charged"),
            Self::Closed => format!("how order {order} was charged and closed"),
            Self::Unsettled => format!("how order {order} was charged and stayed unpaid"),
            Self::SeveralIds => format!("how order {order} got several payment ids"),
        }
    }

    fn therefore(self, bench: &Bench<'_>, broken: &Broken<'_, '_>) -> String {
        let order = broken.order;
        let first = broken.book.charges.first().map_or("-", |charge| &*charge.id);
        match self {
            Self::Twice => format!(
                "the buyer has paid {} for order {order}, because the provider took them for \
                 different payments: their ids are {}",
                plural(broken.book.standing().count() as i128, "time", "times"),
                ids(broken.book.standing().map(|charge| &*charge.id))
            ),
            Self::NoOrder => format!(
                "the money was taken before the order was there to stay, because payment {first} \
                 names order {order}, and the table has none"
            ),
            Self::Closed => format!(
                "the money was taken for goods that are back on the shelf, because payment {first} \
                 was charged and never refunded, and order {order} is closed"
            ),
            Self::Unsettled => format!(
                "nobody asked the provider what had become of payment {first}, because it had been \
                 charged, and order {order} was still {} after more than {}",
                broken.row.and_then(|row| row.status.as_deref()).unwrap_or("unpaid"),
                span(bench.contract().recovery_limit)
            ),
            Self::SeveralIds => format!(
                "a lost reply is enough to charge order {order} twice, because it was asked for under \
                 {}, and the provider can't know that they are one payment",
                ids(broken.book.open_ids().into_iter())
            ),
        }
    }

    const fn help(self) -> &'static str {
        match self {
            Self::Twice | Self::SeveralIds => {
                "derive the payment id from the order (`{order}:pay`), keep it for each retry, and ask \
                 the provider about it before charging again. Refund what was charged twice."
            }
            Self::NoOrder | Self::Closed => {
                "commit the step to PAYING first and charge afterwards; refuse to close what is PAYING. \
                 Refund these charges."
            }
            Self::Unsettled => {
                "ask the provider about every order that has been PAYING for long, by its payment id, \
                 and do what it says by a conditional update."
            }
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
        },
        therefore: vec![kind.therefore(bench, &first)],
        help: kind.help().to_owned(),
    }
}

fn ids<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    list(&ids.collect::<Vec<_>>(), MOST_IN_A_CELL)
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
