//! The ways in which an order is charged wrongly, and what is said about each.

use crate::codes::Severity;
use crate::history::OrderRow;

use super::bench::Bench;
use super::i14_books::Book;
use super::words::{list, plural, span};

/// Ids shown in one cell.
const MOST_IN_A_CELL: usize = 6;

/// An order that breaks the invariant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Broken<'b, 'a> {
    pub order: &'a str,
    pub book: &'b Book<'a>,
    pub row: Option<&'a OrderRow>,
}

/// In which way. The first that fits is the one that is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Twice,
    NoOrder,
    Closed,
    Unsettled,
    SeveralIds,
}

impl Kind {
    pub const fn severity(self) -> Severity {
        match self {
            Self::Twice | Self::NoOrder | Self::Closed => Severity::Critical,
            Self::Unsettled | Self::SeveralIds => Severity::Contract,
        }
    }

    pub fn title(self, count: u64) -> String {
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

    pub fn heading(self, order: &str) -> String {
        match self {
            Self::Twice => format!("how order {order} was charged twice"),
            Self::NoOrder => format!("what became of order {order}, which was charged"),
            Self::Closed => format!("how order {order} was charged and closed"),
            Self::Unsettled => format!("how order {order} was charged and stayed unpaid"),
            Self::SeveralIds => format!("how order {order} got several payment ids"),
        }
    }

    pub fn therefore(self, bench: &Bench<'_>, broken: &Broken<'_, '_>) -> String {
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

    pub const fn help(self) -> &'static str {
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

pub(super) fn ids<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    list(&ids.collect::<Vec<_>>(), MOST_IN_A_CELL)
}
