//! The intents that no program can decide any more: noted for a person, listed by an endpoint.
//!
//! A row is a question, not an answer: whether the order exists is looked up whenever the list is
//! asked for, and a case is closed when a later duplicate finds the order.

use axum::{Json, response::IntoResponse};
use serde::Serialize;

use super::{error::ShopError, intent::Intent, state::Shop};

const NOTE: &str = include_str!("sql/note_reconciliation.sql");
const RESOLVE: &str = include_str!("sql/resolve_reconciliation.sql");
const OPEN: &str = include_str!("sql/open_reconciliations.sql");

/// One open case.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    user_id: String,
    idempotency_key: String,
    reason: String,
    noted_at: String,
    /// The order, if one has turned up.
    order_id: Option<i64>,
}

pub async fn note(shop: &Shop, intent: &Intent, reason: &str) -> Result<(), ShopError> {
    sqlx::query(NOTE)
        .bind(&intent.user)
        .bind(intent.name.key())
        .bind(intent.fingerprint.as_str())
        .bind(reason)
        .execute(&shop.postgres)
        .await
        .map(drop)
        .map_err(failed("noting an intent for reconciliation"))
}

pub async fn resolve(shop: &Shop, intent: &Intent) -> Result<(), ShopError> {
    sqlx::query(RESOLVE)
        .bind(&intent.user)
        .bind(intent.name.key())
        .execute(&shop.postgres)
        .await
        .map(drop)
        .map_err(failed("closing a case of reconciliation"))
}

/// The answer of `GET /reconciliation`.
pub async fn open(shop: &Shop) -> Result<impl IntoResponse, ShopError> {
    let rows: Vec<(String, String, String, String, Option<i64>)> = sqlx::query_as(OPEN)
        .fetch_all(&shop.postgres)
        .await
        .map_err(failed("listing the open cases"))?;
    let case = |(user_id, idempotency_key, reason, noted_at, order_id)| Case {
        user_id,
        idempotency_key,
        reason,
        noted_at,
        order_id,
    };
    Ok(Json(rows.into_iter().map(case).collect::<Vec<_>>()))
}

fn failed(doing: &'static str) -> impl Fn(sqlx::Error) -> ShopError {
    move |source| ShopError::Postgres { doing, source }
}
