//! D23: stock is taken without asking whether there is any.
//!
//! The check constraint on the column goes too: with it the database would refuse the order in
//! the shop's place, and many tables don't have one.

use super::{Defect, DefectInfo};
use crate::shop::{
    error::ShopError, intent::Intent, schema::StockCheck, stock::Taking,
    transaction::OrderConnection,
};

const TAKE: &str = include_str!("../sql/take_stock_unguarded.sql");

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::NoAvailableGuard,
    id: "D23",
    switch: "no-available-guard",
    does: "Stock is taken without `available >= quantity`, and the column has no check.",
    partners: &[],
    finds: "burst.last-unit",
};

pub fn check() -> StockCheck {
    StockCheck::None
}

pub async fn take(connection: &mut OrderConnection, intent: &Intent) -> Result<Taking, ShopError> {
    let taken = sqlx::query(TAKE)
        .bind(intent.wish.quantity)
        .bind(intent.wish.product_id)
        .execute(connection.raw())
        .await;
    match connection.checked("taking stock", taken)?.rows_affected() {
        0 => Ok(Taking::UnknownProduct),
        _ => Ok(Taking::Done),
    }
}
