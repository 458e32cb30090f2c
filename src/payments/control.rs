//! The control port: what a drill or a test orders for the next charges.
//!
//! On a port of its own, so that ordering is never part of what is measured or put through a proxy.

use std::sync::Arc;

use axum::{
    Json, Router,
    body::Bytes,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};

use super::{answer, ledger::Ledger, plan};

pub fn control(ledger: Arc<Ledger>) -> Router {
    Router::new()
        .route("/", get(totals))
        .route("/next", post(next).delete(forget))
        .with_state(ledger)
}

async fn totals(State(ledger): State<Arc<Ledger>>) -> Response {
    Json(ledger.totals()).into_response()
}

/// `{"count": 3, "do": "drop-after"}`, after what was ordered before.
async fn next(State(ledger): State<Arc<Ledger>>, body: Bytes) -> Response {
    match serde_json::from_slice::<plan::Order>(&body) {
        Ok(order) => {
            ledger.planning(|plan| plan.add(order));
            Json(ledger.totals()).into_response()
        }
        Err(error) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}

async fn forget(State(ledger): State<Arc<Ledger>>) -> Response {
    ledger.planning(plan::Plan::clear);
    answer::code(StatusCode::OK, "FORGOTTEN")
}
