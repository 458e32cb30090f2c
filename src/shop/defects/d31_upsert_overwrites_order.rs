//! D31: the order is upserted.
//!
//! One statement, no error, no duplicate. But a second intent under the old key takes the place of
//! the first: the buyer of one unit, whose order was confirmed, has an order of another kind.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::{
    error::ShopError,
    intent::Intent,
    order::{self, Order},
    transaction::OrderConnection,
};

const UPSERT: &str = include_str!("../sql/upsert_order.sql");

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::UpsertOverwritesOrder,
    id: "D31",
    switch: "upsert-overwrites-order",
    does: "ON CONFLICT DO UPDATE writes the new wish over the order that the key stands for.",
    partners: &[Partner::Flag { name: "idempotency", value: "postgres" }],
    needs: &[Need::IndexPerKey],
    finds: "burst.mutated",
};

pub async fn insert(
    connection: &mut OrderConnection,
    intent: &Intent,
) -> Result<Option<Order>, ShopError> {
    order::insert_by(UPSERT, connection, intent).await
}
