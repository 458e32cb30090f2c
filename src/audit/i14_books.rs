//! The payment provider's log, order by order.
//!
//! A line that names no order, such as a refund's, is about the order that another line of its id
//! names.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::{PaymentEvent, PaymentLine};

/// Everything that the log has on one order.
#[derive(Debug, Default)]
pub(super) struct Book<'a> {
    /// Payment ids that were asked for, in the order of the log.
    pub asked: Vec<&'a str>,
    declined: BTreeSet<&'a str>,
    pub charges: Vec<&'a PaymentLine>,
    pub refunded: BTreeMap<&'a str, i64>,
}

impl<'a> Book<'a> {
    /// Charges that weren't given back in full.
    pub fn standing(&self) -> impl Iterator<Item = &'a PaymentLine> {
        self.charges.iter().copied().filter(|charge| !self.is_given_back(charge))
    }

    fn is_given_back(&self, charge: &PaymentLine) -> bool {
        let refunded = self.refunded.get(&*charge.id).copied().unwrap_or(0);
        charge.amount.is_some_and(|amount| refunded >= amount)
    }

    /// Ids that may each have taken money, and keep it.
    pub fn open_ids(&self) -> Vec<&'a str> {
        let given_back = |id: &str| {
            self.charges.iter().any(|charge| &*charge.id == id && self.is_given_back(charge))
        };
        let ids = self.asked.iter().copied();
        ids.filter(|id| !self.declined.contains(id) && !given_back(id)).collect()
    }
}

pub(super) fn books(lines: &[PaymentLine]) -> BTreeMap<&str, Book<'_>> {
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
