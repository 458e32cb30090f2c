//! What the provider answers.
//!
//! A first answer and its repetition are the same to the byte, so that nobody can come to rely on
//! which of the two it was.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Serialize;

use super::ledger::{Charge, Done, RefundRequest, State};

/// Marks a response that must never be sent: its connection is dropped instead.
#[derive(Debug, Clone, Copy)]
pub struct Dropped;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChargeBody<'a> {
    payment_request_id: &'a str,
    order_id: &'a str,
    amount: i64,
    refunded: i64,
    state: State,
}

#[derive(Serialize)]
struct CodeBody<'a> {
    code: &'a str,
}

/// 201 for a charge, 402 for a decline.
pub fn charged(done: &Done<Charge>) -> Response {
    match done {
        Done::This(charge) if charge.state == State::Declined => {
            with_body(StatusCode::PAYMENT_REQUIRED, charge)
        }
        // What has been refunded since isn't part of the answer to the charge.
        Done::This(charge) => {
            with_body(StatusCode::CREATED, &Charge { refunded: 0, ..charge.clone() })
        }
        Done::OtherContent => code(StatusCode::CONFLICT, "OTHER_CONTENT"),
        Done::Unknown => code(StatusCode::NOT_FOUND, "UNKNOWN_CHARGE"),
        Done::TooMuch => code(StatusCode::UNPROCESSABLE_ENTITY, "TOO_MUCH"),
    }
}

pub fn refunded(done: &Done<RefundRequest>) -> Response {
    match done {
        Done::This(refund) => (StatusCode::CREATED, Json(refund)).into_response(),
        Done::OtherContent => code(StatusCode::CONFLICT, "OTHER_CONTENT"),
        Done::Unknown => code(StatusCode::NOT_FOUND, "UNKNOWN_CHARGE"),
        Done::TooMuch => code(StatusCode::UNPROCESSABLE_ENTITY, "TOO_MUCH"),
    }
}

/// How a charge stands now.
pub fn standing(charge: Option<&Charge>) -> Response {
    match charge {
        Some(charge) => with_body(StatusCode::OK, charge),
        None => code(StatusCode::NOT_FOUND, "UNKNOWN_CHARGE"),
    }
}

pub fn code(status: StatusCode, code: &str) -> Response {
    (status, Json(CodeBody { code })).into_response()
}

/// No answer at all.
pub fn dropped() -> Response {
    let mut response = StatusCode::INTERNAL_SERVER_ERROR.into_response();
    response.extensions_mut().insert(Dropped);
    response
}

fn with_body(status: StatusCode, charge: &Charge) -> Response {
    let body = ChargeBody {
        payment_request_id: &charge.request.payment_request_id,
        order_id: &charge.request.order_id,
        amount: charge.request.amount,
        refunded: charge.refunded,
        state: charge.state,
    };
    (status, Json(body)).into_response()
}
