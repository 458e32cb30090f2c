//! Takes stock with one conditional UPDATE: the row count is the answer.
//!
//! Reading first and writing what was computed from it would lose an update between the two, so
//! the condition is part of the write. Stock is read only after the row count said no, to tell
//! "sold out" from "no such product". Each change of the shelf has its movement, written in the
//! same transaction, so that the sum of the movements explains what is left.

use super::{
    error::ShopError, intent::Intent, order::Order, settings::Stock, state::Shop,
    transaction::OrderConnection,
};

const TAKE: &str = include_str!("sql/take_stock.sql");
const PUT_BACK: &str = include_str!("sql/put_stock_back.sql");
const READ: &str = include_str!("sql/read_stock.sql");
const INSERT_MOVEMENT: &str = include_str!("sql/insert_movement.sql");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taking {
    Done,
    SoldOut,
    UnknownProduct,
}

pub async fn take(connection: &mut OrderConnection, intent: &Intent) -> Result<Taking, ShopError> {
    let taken = sqlx::query(TAKE)
        .bind(intent.wish.quantity)
        .bind(intent.wish.product_id)
        .execute(connection.raw())
        .await;
    if connection.checked("taking stock", taken)?.rows_affected() == 1 {
        return Ok(Taking::Done);
    }
    match available(connection, intent.wish.product_id).await? {
        Some(_) => Ok(Taking::SoldOut),
        None => Ok(Taking::UnknownProduct),
    }
}

/// The movement of a sale, once the order has its number.
pub async fn note_sale(
    shop: &Shop,
    connection: &mut OrderConnection,
    order: &Order,
) -> Result<(), ShopError> {
    match shop.settings.stock {
        Stock::Conditional => note(connection, order, -order.quantity).await,
        Stock::None => Ok(()),
    }
}

/// Puts the units of a closed order on the shelf again.
pub async fn put_back(
    shop: &Shop,
    connection: &mut OrderConnection,
    order: &Order,
) -> Result<(), ShopError> {
    if shop.settings.stock == Stock::None {
        return Ok(());
    }
    let put = sqlx::query(PUT_BACK)
        .bind(order.quantity)
        .bind(order.product_id)
        .execute(connection.raw())
        .await;
    connection.checked("putting stock back", put)?;
    note(connection, order, order.quantity).await
}

/// `None` for a product that isn't in the table.
pub async fn available(
    connection: &mut OrderConnection,
    product_id: i64,
) -> Result<Option<i32>, ShopError> {
    let read = sqlx::query_scalar(READ).bind(product_id).fetch_optional(connection.raw()).await;
    connection.checked("reading stock", read)
}

async fn note(
    connection: &mut OrderConnection,
    order: &Order,
    delta: i32,
) -> Result<(), ShopError> {
    let noted = sqlx::query(INSERT_MOVEMENT)
        .bind(order.id)
        .bind(order.product_id)
        .bind(delta)
        .execute(connection.raw())
        .await;
    connection.checked("noting the movement", noted).map(drop)
}
