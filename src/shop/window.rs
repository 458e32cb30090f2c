//! The business key of requests without a key: user and product, within a window of time.
//!
//! A unique index needs windows with fixed edges, and two clicks may be on either side of one.
//! So the look goes back by a whole window from now, into the neighbouring one, and before it a
//! lock on the business key itself is taken in PostgreSQL: the index would let both clicks in.
//! Above read committed the look may be older than that lock; there the lease on the product
//! keeps the edge.

use std::time::Duration;

use super::{
    error::ShopError,
    intent::Intent,
    order::{self, Order},
    transaction::OrderConnection,
};

const LOCK: &str = include_str!("sql/window_lock.sql");
const BY_WINDOW: &str = include_str!("sql/order_by_window.sql");

/// Within the transaction that goes on to insert the order: the lock ends with it.
pub async fn look(
    connection: &mut OrderConnection,
    intent: &Intent,
    window: Duration,
) -> Result<Option<Order>, ShopError> {
    let locked = sqlx::query(LOCK)
        .bind(&intent.user)
        .bind(intent.wish.product_id)
        .execute(connection.raw())
        .await;
    connection.checked("locking the business key", locked)?;
    find(connection, intent, window).await
}

pub async fn find(
    connection: &mut OrderConnection,
    intent: &Intent,
    window: Duration,
) -> Result<Option<Order>, ShopError> {
    find_by(BY_WINDOW, connection, intent, window).await
}

/// By a statement over user, product and the window's length.
pub async fn find_by(
    statement: &'static str,
    connection: &mut OrderConnection,
    intent: &Intent,
    window: Duration,
) -> Result<Option<Order>, ShopError> {
    let found = sqlx::query_as(statement)
        .bind(&intent.user)
        .bind(intent.wish.product_id)
        .bind(window.as_secs_f64())
        .fetch_optional(connection.raw())
        .await;
    let found: Option<order::Row> = connection.checked("looking for the order", found)?;
    Ok(found.map(Order::from))
}
