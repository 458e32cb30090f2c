//! D29: stock is read, and what was computed from it is written back.
//!
//! Between the two somebody else may have done the same, and one of the two sales vanishes. At
//! read committed PostgreSQL has no objection; from repeatable read upwards it answers 40001.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::{
    error::ShopError,
    stock::{self, Sale, Taking},
    transaction::OrderConnection,
};

const WRITE: &str = include_str!("../sql/write_stock.sql");

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::RmwStock,
    id: "D29",
    switch: "rmw-stock",
    does: "Stock is read, and the literal difference written back without a condition.",
    partners: &[Partner::Flag { name: "lock-per", value: "user" }],
    needs: &[Need::Stock],
    finds: "burst.last-unit",
};

pub async fn take(connection: &mut OrderConnection, sale: Sale) -> Result<Taking, ShopError> {
    let Some(read) = stock::shelf(connection, sale.product_id).await? else {
        return Ok(Taking::UnknownProduct);
    };
    if read.available < sale.quantity {
        return Ok(sale.refused_by(Some(read)));
    }
    stock::take_by(WRITE, read.available - sale.quantity, connection, sale).await
}
