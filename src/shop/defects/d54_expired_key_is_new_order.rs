//! D54: what the record doesn't know never happened.
//!
//! A key that comes without a record is taken for a new one, and the order table isn't asked. Whoever
//! retries after the record's end, the buyer of the last unit say, is told "sold out", and where
//! no index is in the way has a second order.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::order::Order;

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::ExpiredKeyIsNewOrder,
    id: "D54",
    switch: "expired-key-is-new-order",
    does: "Once the record is gone nobody looks for its order, so a retry counts as a new intent.",
    partners: &[Partner::Defect(Defect::NoUniqueConstraint)],
    needs: &[Need::Record],
    finds: "the record's end, then a retry",
};

/// In the place of the look for the order.
pub fn winner() -> Option<Order> {
    None
}
