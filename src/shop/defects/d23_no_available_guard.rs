//! D23: stock is taken without asking whether there is any.
//!
//! The check constraint on the column goes too: with it the database would refuse the order in
//! the shop's place, and many tables don't have one.

use super::{Defect, DefectInfo, Need};
use crate::shop::{
    error::ShopError,
    schema::StockCheck,
    stock::{self, Sale, Taking},
    transaction::OrderConnection,
};

const TAKE: &str = include_str!("../sql/take_stock_unguarded.sql");

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::NoAvailableGuard,
    id: "D23",
    switch: "no-available-guard",
    does: "Stock is taken without `available >= quantity`, and the column has no check.",
    partners: &[],
    needs: &[Need::Stock],
    finds: "burst.last-unit",
};

pub fn check() -> StockCheck {
    StockCheck::None
}

pub async fn take(connection: &mut OrderConnection, sale: Sale) -> Result<Taking, ShopError> {
    stock::take_by(TAKE, sale.quantity, connection, sale).await
}
