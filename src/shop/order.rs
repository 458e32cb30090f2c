//! Orders in PostgreSQL: looked for, and inserted.
//!
//! An insert that meets the unique index is an answer, not an error: there is a winner already.
//! With `ON CONFLICT DO NOTHING` the refusal costs nothing and is silent; a plain INSERT has it
//! written to PostgreSQL's log, where an experiment can count it, and leaves a transaction in
//! which nothing can be read any more. Either way the caller rolls back, so that the stock it
//! took is there again, and reads the winner outside.

use super::{
    error::ShopError,
    fingerprint::Fingerprint,
    intent::{Intent, Name},
    life::Subject,
    settings::OneOrderPer,
    state::Shop,
    transaction::OrderConnection,
    window,
};

const INSERT: &str = include_str!("sql/insert_order.sql");
const INSERT_UNLESS_THERE: &str = include_str!("sql/insert_order_unless_there.sql");
const BY_USER: &str = include_str!("sql/order_by_user.sql");
const BY_ID: &str = include_str!("sql/order_by_id.sql");
const BY_ID_OF_USER: &str = include_str!("sql/order_by_id_of_user.sql");

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    pub id: i64,
    pub product_id: i64,
    pub quantity: i32,
    pub fingerprint: Fingerprint,
    pub status: String,
    /// Under which it was placed.
    pub key: Option<String>,
}

/// The columns of an order, as every statement gives them.
pub type Row = (i64, i64, i32, String, String, Option<String>);

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
    match insert_or_fail(connection, intent, how).await {
        Err(error) if error.is_unique_violation() => Ok(None),
        inserted => inserted,
    }
}

/// The refusal of a plain INSERT is an error here.
pub async fn insert_or_fail(
    connection: &mut OrderConnection,
    intent: &Intent,
    how: Insert,
) -> Result<Option<Order>, ShopError> {
    let statement = match how {
        Insert::Plain => INSERT,
        Insert::UnlessThere => INSERT_UNLESS_THERE,
    };
    insert_by(statement, connection, intent).await
}

/// By a statement that gives the order's number, or no row.
pub async fn insert_by(
    statement: &'static str,
    connection: &mut OrderConnection,
    intent: &Intent,
) -> Result<Option<Order>, ShopError> {
    let wish = &intent.wish;
    let inserted = sqlx::query_scalar(statement)
        .bind(&intent.user)
        .bind(intent.name.key())
        .bind(wish.product_id)
        .bind(wish.quantity)
        .bind(wish.address_version)
        .bind(&wish.coupon)
        .bind(intent.fingerprint.as_str())
        .bind(intent.name.window().map(|window| window.as_secs_f64()))
        .fetch_optional(connection.raw())
        .await;
    let inserted: Option<i64> = connection.checked("inserting the order", inserted)?;
    Ok(inserted.map(|id| Order {
        id,
        product_id: wish.product_id,
        quantity: wish.quantity,
        fingerprint: intent.fingerprint.clone(),
        status: "CREATED".to_owned(),
        key: intent.name.key().map(str::to_owned),
    }))
}

/// The order that stands for this intent, as the connection's transaction sees it if it has one.
pub async fn find(
    shop: &Shop,
    connection: &mut OrderConnection,
    intent: &Intent,
) -> Result<Option<Order>, ShopError> {
    let query = match (shop.settings.one_order_per, &intent.name) {
        (OneOrderPer::User, _) => sqlx::query_as(BY_USER).bind(&intent.user),
        (OneOrderPer::Key, Name::Key(key)) => {
            sqlx::query_as(shop.scope.order_by_key()).bind(&intent.user).bind(key)
        }
        (OneOrderPer::Key, Name::Window(window)) => {
            return window::find(connection, intent, *window).await;
        }
        (OneOrderPer::Key, Name::Nothing) => return Ok(None),
    };
    let found = query.fetch_optional(connection.raw()).await;
    let found: Option<Row> = connection.checked("looking for the order", found)?;
    Ok(found.map(Order::from))
}

/// The order of a user under a key, whatever it holds.
pub async fn by_key(shop: &Shop, user: &str, key: &str) -> Result<Option<Order>, ShopError> {
    let found: Option<Row> = sqlx::query_as(shop.scope.order_by_key())
        .bind(user)
        .bind(key)
        .fetch_optional(&shop.postgres)
        .await
        .map_err(|source| ShopError::Postgres { doing: "reading an order", source })?;
    Ok(found.map(Order::from))
}

pub async fn by_id(shop: &Shop, id: i64) -> Result<Option<Order>, ShopError> {
    let found: Option<Row> = sqlx::query_as(BY_ID)
        .bind(id)
        .fetch_optional(&shop.postgres)
        .await
        .map_err(|source| ShopError::Postgres { doing: "reading an order", source })?;
    Ok(found.map(Order::from))
}

/// `None` also for the order of another user.
pub async fn of_user(
    connection: &mut OrderConnection,
    subject: &Subject,
) -> Result<Option<Order>, ShopError> {
    let found = sqlx::query_as(BY_ID_OF_USER)
        .bind(subject.order_id)
        .bind(&subject.user)
        .fetch_optional(connection.raw())
        .await;
    let found: Option<Row> = connection.checked("reading the order", found)?;
    Ok(found.map(Order::from))
}

impl From<Row> for Order {
    fn from((id, product_id, quantity, fingerprint, status, key): Row) -> Self {
        let fingerprint = Fingerprint::read(fingerprint);
        Self { id, product_id, quantity, fingerprint, status, key }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// One unit of product 42.
    pub fn order(status: &str) -> Order {
        let fingerprint = Fingerprint::over("an order");
        let (status, key) = (status.to_owned(), Some("k1".to_owned()));
        Order { id: 1417, product_id: 42, quantity: 1, fingerprint, status, key }
    }
}
