//! Takes stock with one conditional UPDATE: the row count is the answer.
//!
//! Reading first and writing what was computed from it would lose an update between the two, so
//! the condition is part of the write. Stock is read only after the row count said no, to tell
//! "sold out" from "no such product".

use super::{error::ShopError, intent::Intent, transaction::OrderConnection};

const TAKE: &str = include_str!("sql/take_stock.sql");
const READ: &str = include_str!("sql/read_stock.sql");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taking {
    Done,
    SoldOut,
    UnknownProduct,
}

pub async fn take(connection: &mut OrderConnection, intent: &Intent) -> Result<Taking, ShopError> {
    let taken = sqlx::query(TAKE)
        .bind(intent.quantity)
        .bind(intent.product_id)
        .execute(connection.raw())
        .await;
    if connection.checked("taking stock", taken)?.rows_affected() == 1 {
        return Ok(Taking::Done);
    }
    match available(connection, intent.product_id).await? {
        Some(_) => Ok(Taking::SoldOut),
        None => Ok(Taking::UnknownProduct),
    }
}

/// `None` for a product that isn't in the table.
pub async fn available(
    connection: &mut OrderConnection,
    product_id: i64,
) -> Result<Option<i32>, ShopError> {
    let read = sqlx::query_scalar(READ)
        .bind(product_id)
        .fetch_optional(connection.raw())
        .await;
    connection.checked("reading stock", read)
}
