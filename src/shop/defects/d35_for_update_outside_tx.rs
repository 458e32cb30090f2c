//! D35: the row is locked by a SELECT ... FOR UPDATE that stands outside the transaction.
//!
//! Looks locked. But a statement of its own is a transaction of its own: the row is free again when it
//! is answered, and what is written afterwards was computed from what may be old by then.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::{
    error::ShopError,
    stock::{self, Sale, Taking},
    transaction::OrderConnection,
};

const READ_FOR_UPDATE: &str = include_str!("../sql/read_stock_for_update.sql");
const WRITE: &str = include_str!("../sql/write_stock.sql");

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::ForUpdateOutsideTx,
    id: "D35",
    switch: "for-update-outside-tx",
    does: "Stock is read FOR UPDATE outside the transaction that writes the difference back.",
    partners: &[Partner::Flag { name: "lock-per", value: "user" }],
    needs: &[Need::Stock],
    finds: "burst.same-key of one product; burst.last-unit",
};

/// Nothing was written so far: the transaction is begun anew once the stock is known.
pub async fn take(connection: &mut OrderConnection, sale: Sale) -> Result<Taking, ShopError> {
    connection.rollback().await?;
    let read = stock::shelf_by(READ_FOR_UPDATE, connection, sale.product_id).await?;
    connection.begin().await?;
    let Some(read) = read else {
        return Ok(Taking::UnknownProduct);
    };
    if read.available < sale.quantity {
        return Ok(sale.refused_by(Some(read)));
    }
    stock::take_by(WRITE, read.available - sale.quantity, connection, sale).await
}
