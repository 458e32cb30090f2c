//! D26: the unique index refuses the second order, and the buyer is told of a failure.
//!
//! The data is right. But the buyer has an order, and reads that it went wrong.

use super::{Defect, DefectInfo, Partner};
use crate::shop::{
    error::ShopError,
    intent::Intent,
    order::{self, Insert, Order},
    transaction::OrderConnection,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::DuplicateKey500,
    id: "D26",
    switch: "duplicate-key-500",
    does: "A plain INSERT that meets the unique index is answered with 500.",
    partners: &[Partner::Flag { name: "idempotency", value: "postgres" }],
    needs: &[],
    finds: "burst.same-key, burst.sequential",
};

pub async fn insert(
    connection: &mut OrderConnection,
    intent: &Intent,
) -> Result<Option<Order>, ShopError> {
    order::insert_or_fail(connection, intent, Insert::Plain).await
}
