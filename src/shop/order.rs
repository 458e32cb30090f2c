//! Orders in PostgreSQL: looked for, and inserted.
//!
//! An insert that meets the unique index is an answer, not an error: there is a winner already.
//! With `ON CONFLICT DO NOTHING` the refusal costs nothing and is silent; a plain INSERT has it
//! written to PostgreSQL's log, where an experiment can count it, and leaves a transaction in
//! which nothing can be read any more. Either way the caller rolls back, so that the stock it
//! took is there again, and reads the winner
//! outside.

use sqlx::error::DatabaseError;

use super::{
    error::ShopError,
    fingerprint::Fingerprint,
    intent::Intent,
    settings::{OneOrderPer, Settings},
    state::Shop,
    transaction::OrderConnection,
};

const INSERT: &str = include_str!("sql/insert_order.sql");
const INSERT_UNLESS_THERE: &str = include_str!("sql/insert_order_unless_there.sql");
const BY_KEY: &str = include_str!("sql/order_by_key.sql");
const BY_USER: &str = include_str!("sql/order_by_user.sql");
const BY_ID: &str = include_str!("sql/order_by_id.sql");

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    pub id: i64,
    pub product_id: i64,
    pub quantity: i32,
    pub fingerprint: Fingerprint,
    pub status: String,
}

type Row = (i64, i64, i32, String, String);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Insert {
    Plain,
    UnlessThere,
}

/// `None` if the unique index has an order there already.
pub async fn insert(
    connection: &mut OrderConnection,
    intent: &Intent,
    how: Insert,
) -> Result<Option<Order>, ShopError> {
    let statement = match how {
        Insert::Plain => INSERT,
        Insert::UnlessThere => INSERT_UNLESS_THERE,
    };
    let inserted = sqlx::query_scalar(statement)
        .bind(&intent.user)
        .bind(&intent.key)
        .bind(intent.product_id)
        .bind(intent.quantity)
        .bind(intent.fingerprint.as_str())
        .fetch_optional(connection.raw())
        .await;
    let is_there_already = matches!(&inserted, Err(error) if is_unique_violation(error));
    let inserted = connection.checked("inserting the order", inserted);
    if is_there_already {
        return Ok(None);
    }
    Ok(inserted?.map(|id| Order {
        id,
        product_id: intent.product_id,
        quantity: intent.quantity,
        fingerprint: intent.fingerprint.clone(),
        status: "CREATED".to_owned(),
    }))
}

/// The order that stands for this intent, as the connection's transaction sees it if it has one.
pub async fn find(
    connection: &mut OrderConnection,
    settings: &Settings,
    intent: &Intent,
) -> Result<Option<Order>, ShopError> {
    let query = match settings.one_order_per {
        OneOrderPer::Key => sqlx::query_as(BY_KEY).bind(&intent.user).bind(&intent.key),
        OneOrderPer::User => sqlx::query_as(BY_USER).bind(&intent.user),
    };
    let found = query.fetch_optional(connection.raw()).await;
    let found: Option<Row> = connection.checked("looking for the order", found)?;
    Ok(found.map(Order::from))
}

pub async fn by_id(shop: &Shop, id: i64) -> Result<Option<Order>, ShopError> {
    let found: Option<Row> = sqlx::query_as(BY_ID)
        .bind(id)
        .fetch_optional(&shop.postgres)
        .await
        .map_err(|source| ShopError::Postgres {
            doing: "reading an order",
            source,
        })?;
    Ok(found.map(Order::from))
}

fn is_unique_violation(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .is_some_and(DatabaseError::is_unique_violation)
}

impl From<Row> for Order {
    fn from((id, product_id, quantity, fingerprint, status): Row) -> Self {
        Self {
            id,
            product_id,
            quantity,
            fingerprint: Fingerprint::read(fingerprint),
            status,
        }
    }
}
