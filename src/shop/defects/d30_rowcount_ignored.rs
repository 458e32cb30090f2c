//! D30: the stock UPDATE has its conditions, and nobody looks how many rows it changed.
//!
//! Looks careful, since stock can't fall below zero. But an UPDATE that found nothing to take is no
//! error, and the order is placed all the same.

use super::{Defect, DefectInfo, Need};
use crate::shop::{
    error::ShopError,
    stock::{self, Sale, Taking},
    transaction::OrderConnection,
};

const TAKE: &str = include_str!("../sql/take_stock.sql");

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::RowcountIgnored,
    id: "D30",
    switch: "rowcount-ignored",
    does: "An UPDATE of the stock that changed no row counts as a sale.",
    partners: &[],
    needs: &[Need::Stock],
    finds: "burst.last-unit",
};

pub async fn take(connection: &mut OrderConnection, sale: Sale) -> Result<Taking, ShopError> {
    stock::changes_a_row(TAKE, sale.quantity, connection, sale).await.map(|_| Taking::Done)
}
