//! Takes stock with one conditional UPDATE: the row count is the answer.
//!
//! Reading first and writing what was computed from it would lose an update between the two, so
//! both conditions, enough units and a newer fence, are part of the write. The shelf is read only
//! after the row count said no, to tell the reasons apart.

use super::{Sale, TakesStock, Taking, shelf};
use crate::shop::{error::ShopError, strategy::Going, transaction::OrderConnection};

const TAKE: &str = include_str!("../sql/take_stock.sql");

pub struct Conditional;

impl TakesStock for Conditional {
    fn take<'a>(&'a self, connection: &'a mut OrderConnection, sale: Sale) -> Going<'a, Taking> {
        Box::pin(take(connection, sale))
    }
}

async fn take(connection: &mut OrderConnection, sale: Sale) -> Result<Taking, ShopError> {
    let taken = sqlx::query(TAKE)
        .bind(sale.quantity)
        .bind(sale.product_id)
        .bind(sale.fence)
        .bind(sale.bound)
        .execute(connection.raw())
        .await;
    if connection.checked("taking stock", taken)?.rows_affected() == 1 {
        return Ok(Taking::Done);
    }
    Ok(sale.refused_by(shelf(connection, sale.product_id).await?))
}
