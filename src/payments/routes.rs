//! What the shop talks to: charges, their state, refunds.
//!
//! A charge that takes long and whose client hangs up meanwhile is carried out all the same, in a
//! task of its own, as with a real provider: hanging up is no way to cancel a payment.

use std::{io, sync::Arc};

use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::StatusCode,
    response::Response,
    routing::{get, post},
};
use tokio::time::sleep;
use tokio_util::task::TaskTracker;

use super::{
    answer,
    ledger::{ChargeRequest, Ledger, RefundRequest},
    mood::Mood,
};

const LONGEST_ID: usize = 255;

#[derive(Debug, Clone)]
pub struct Provider {
    pub ledger: Arc<Ledger>,
    /// Owns the charges under way.
    pub under_way: TaskTracker,
}

pub fn charges(provider: Provider) -> Router {
    Router::new()
        .route("/charges", post(post_charge))
        .route("/charges/{id}", get(get_charge))
        .route("/refunds", post(post_refund))
        .route("/healthz", get(|| async { answer::code(StatusCode::OK, "READY") }))
        .with_state(provider)
}

async fn post_charge(State(provider): State<Provider>, body: Bytes) -> Response {
    let request = match serde_json::from_slice::<ChargeRequest>(&body) {
        Ok(request) if is_id(&request.payment_request_id) && request.amount > 0 => request,
        _ => return answer::code(StatusCode::BAD_REQUEST, "INVALID"),
    };
    let ledger = Arc::clone(&provider.ledger);
    let carried_out = provider.under_way.spawn(async move { charge(&ledger, &request).await });
    match carried_out.await {
        Ok(Ok(response)) => response,
        _ => answer::code(StatusCode::INTERNAL_SERVER_ERROR, "LOG_FAILED"),
    }
}

async fn charge(ledger: &Ledger, request: &ChargeRequest) -> io::Result<Response> {
    let meeting = ledger.note_charge_request(request)?;
    if !meeting.delay.is_zero() {
        sleep(meeting.delay).await;
    }
    if meeting.mood == Some(Mood::Fail) {
        return Ok(answer::code(StatusCode::INTERNAL_SERVER_ERROR, "FAILED"));
    }
    let done = ledger.charge(request, meeting.mood)?;
    Ok(match meeting.mood {
        Some(Mood::FailAfter) => answer::code(StatusCode::INTERNAL_SERVER_ERROR, "FAILED"),
        Some(Mood::DropAfter) => answer::dropped(),
        _ => answer::charged(&done),
    })
}

async fn get_charge(State(provider): State<Provider>, Path(id): Path<String>) -> Response {
    if provider.ledger.note_state_request(&id).is_err() {
        return answer::code(StatusCode::INTERNAL_SERVER_ERROR, "LOG_FAILED");
    }
    answer::standing(provider.ledger.find(&id).as_ref())
}

async fn post_refund(State(provider): State<Provider>, body: Bytes) -> Response {
    let request = match serde_json::from_slice::<RefundRequest>(&body) {
        Ok(request) if is_id(&request.refund_request_id) && request.amount > 0 => request,
        _ => return answer::code(StatusCode::BAD_REQUEST, "INVALID"),
    };
    match provider.ledger.refund(&request) {
        Ok(done) => answer::refunded(&done),
        Err(_) => answer::code(StatusCode::INTERNAL_SERVER_ERROR, "LOG_FAILED"),
    }
}

fn is_id(text: &str) -> bool {
    (1..=LONGEST_ID).contains(&text.len())
}
