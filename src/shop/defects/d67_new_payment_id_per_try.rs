//! D67: every try to pay has a payment id of its own.
//!
//! The provider can't know that it is the same payment, and charges again. Asking about the earlier
//! one doesn't help either: its id is forgotten.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::{order::Order, token::Token};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::NewPaymentIdPerTry,
    id: "D67",
    switch: "new-payment-id-per-try",
    does: "Each try to pay an order has a new payment id, so the provider charges each of them.",
    partners: &[Partner::Flag { name: "payments-url", value: "URL" }],
    needs: &[Need::Provider],
    finds: "burst.race of pays, [lab.payments] drop-share",
};

pub fn payment_id(order: &Order) -> String {
    format!("{}:pay:{}", order.id, Token::fresh().as_str())
}
