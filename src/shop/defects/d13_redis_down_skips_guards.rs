//! D13: without Redis an order is placed as if nobody had asked before.
//!
//! "Rather sell than be down". Record and lease can't be asked, and what is put in their place, a look
//! for the order and an insert that yields to it, is left out with them.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::chain::in_transaction::Guard;

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::RedisDownSkipsGuards,
    id: "D13",
    switch: "redis-down-skips-guards",
    does: "While Redis can't be reached, orders are inserted with neither a look nor ON CONFLICT.",
    partners: &[Partner::Defect(Defect::NoUniqueConstraint)],
    needs: &[Need::Record, Need::Arbitration],
    finds: "burst.same-key without Redis",
};

pub fn guard() -> Guard {
    Guard::LookedBefore
}
