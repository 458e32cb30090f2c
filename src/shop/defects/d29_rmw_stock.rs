//! D29: stock is read, and what was computed from it is written back.
//!
//! Between the two somebody else may have done the same, and one of the two sales vanishes. At
//! read committed PostgreSQL has no objection; from repeatable read upwards it answers 40001.

use super::{Defect, DefectInfo, Partner};
use crate::shop::{
    error::ShopError,
    intent::Intent,
    stock::{self, Taking},
    transaction::OrderConnection,
};

const WRITE: &str = include_str!("../sql/write_stock.sql");

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::RmwStock,
    id: "D29",
    switch: "rmw-stock",
    does: "Stock is read, and the literal difference written back without a condition.",
    partners: &[Partner::Flag { name: "lock-per", value: "user" }],
    finds: "burst.last-unit",
};

pub async fn take(connection: &mut OrderConnection, intent: &Intent) -> Result<Taking, ShopError> {
    let Some(available) = stock::available(connection, intent.wish.product_id).await? else {
        return Ok(Taking::UnknownProduct);
    };
    if available < intent.wish.quantity {
        return Ok(Taking::SoldOut);
    }
    let written = sqlx::query(WRITE)
        .bind(available - intent.wish.quantity)
        .bind(intent.wish.product_id)
        .execute(connection.raw())
        .await;
    connection.checked("writing stock", written)?;
    Ok(Taking::Done)
}
