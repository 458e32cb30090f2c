//! What the shop answers. One value serves the first answer, the stored one and every replay.
//!
//! A replay must be the first answer again, byte for byte, whether it comes from the record in
//! Redis or is made from the row in PostgreSQL. So there is one way to make a body, its fields
//! have a fixed order, and it says `CREATED` even if the order has moved on since: the current
//! state is what `GET /orders/{id}` is for.

use axum::{
    body::Body,
    extract::rejection::BytesRejection,
    http::{HeaderName, HeaderValue, Response, StatusCode, header},
    response::IntoResponse,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use super::{error::ShopError, order::Order, token::Token};

/// What a client with an unfinished duplicate is told to wait.
const RETRY_AFTER_S: HeaderValue = HeaderValue::from_static("1");

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: StatusCode,
    /// Empty where there is nothing to point at.
    pub location: String,
    pub body: String,
    /// Whether it says when to come back.
    pub has_hint: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OrderBody<'a> {
    order_id: i64,
    status: &'a str,
    product_id: i64,
    quantity: i32,
}

#[derive(Serialize)]
struct CodeBody<'a> {
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
}

#[derive(Serialize)]
struct TokenBody<'a> {
    token: &'a str,
}

impl Answer {
    pub fn created(order: &Order) -> Self {
        let location = format!("/orders/{}", order.id);
        Self::stored(StatusCode::CREATED, location, order_body(order, "CREATED"))
    }

    /// As it was when it was given first.
    pub fn stored(status: StatusCode, location: String, body: String) -> Self {
        Self { status, location, body, has_hint: false }
    }

    pub fn current(order: &Order) -> Self {
        Self::stored(StatusCode::OK, String::new(), order_body(order, &order.status))
    }

    pub fn token(status: StatusCode, token: &Token) -> Self {
        let body = serde_json::to_string(&TokenBody { token: token.as_str() })
            .expect("a string always serialises");
        Self::stored(status, String::new(), body)
    }

    pub fn code(status: StatusCode, code: &str) -> Self {
        Self::coded(status, &CodeBody { code, message: None, status: None })
    }

    /// Nothing is certain yet: ask again, and not before a second has passed.
    pub fn come_back(code: &str) -> Self {
        Self { has_hint: true, ..Self::code(StatusCode::ACCEPTED, code) }
    }

    /// The same, and where to look for the order of this key meanwhile.
    pub fn come_back_to(code: &str, key: Option<&str>) -> Self {
        let encoded = key.map(|key| utf8_percent_encode(key, NON_ALPHANUMERIC));
        let location = encoded.map_or_else(String::new, |key| format!("/orders/by-key/{key}"));
        Self { location, ..Self::come_back(code) }
    }

    /// A refusal that tells the state which it is due to.
    pub fn with_state(status: StatusCode, code: &str, state: &str) -> Self {
        Self::coded(status, &CodeBody { code, message: None, status: Some(state) })
    }

    pub fn unknown_order() -> Self {
        Self::code(StatusCode::NOT_FOUND, "UNKNOWN_ORDER")
    }

    pub fn invalid(message: &str) -> Self {
        Self::with_message(StatusCode::BAD_REQUEST, "INVALID", message)
    }

    /// A body that was too large, or ended early.
    pub fn unread(rejection: &BytesRejection) -> Self {
        Self::with_message(rejection.status(), "INVALID", &rejection.body_text())
    }

    /// What happened, without its cause: a cause may name hosts and users.
    pub fn failure(error: &ShopError) -> Self {
        Self::with_message(error.status(), "INTERNAL", &error.to_string())
    }

    pub fn interrupted() -> Self {
        let message = "the request ended early";
        Self::with_message(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL", message)
    }

    fn with_message(status: StatusCode, code: &str, message: &str) -> Self {
        Self::coded(status, &CodeBody { code, message: Some(message), status: None })
    }

    fn coded(status: StatusCode, body: &CodeBody) -> Self {
        let body = serde_json::to_string(body).expect("strings always serialise");
        Self::stored(status, String::new(), body)
    }
}

fn order_body(order: &Order, status: &str) -> String {
    serde_json::to_string(&OrderBody {
        order_id: order.id,
        status,
        product_id: order.product_id,
        quantity: order.quantity,
    })
    .expect("numbers and a string always serialise")
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = self.status;
        let mut set = |name: HeaderName, value| response.headers_mut().insert(name, value);
        set(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.has_hint {
            set(header::RETRY_AFTER, RETRY_AFTER_S);
        }
        if let Ok(location) = HeaderValue::from_str(&self.location)
            && !location.is_empty()
        {
            set(header::LOCATION, location);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shop::order::tests::order;

    #[test]
    fn a_created_order_is_answered_with_its_place() {
        let response = Answer::created(&order("CREATED")).into_response();
        assert_eq!(response.status(), StatusCode::CREATED);
        assert_eq!(response.headers()["location"], "/orders/1417");
        assert!(!response.headers().contains_key("retry-after"));
    }

    #[test]
    fn a_replay_has_the_first_body_even_if_the_order_moved_on() {
        let first = Answer::created(&order("CREATED"));
        assert_eq!(
            first.body,
            r#"{"orderId":1417,"status":"CREATED","productId":42,"quantity":1}"#
        );
        assert_eq!(Answer::created(&order("PAID")), first);
    }

    #[test]
    fn a_refusal_says_which_state_it_is_due_to() {
        let refused = Answer::with_state(StatusCode::CONFLICT, "WRONG_STATE", "CLOSED");
        assert_eq!(refused.body, r#"{"code":"WRONG_STATE","status":"CLOSED"}"#);
    }

    #[test]
    fn whoever_must_ask_again_is_told_when() {
        let response = Answer::come_back("BUSY").into_response();
        assert_eq!(response.status(), StatusCode::ACCEPTED);
        assert_eq!(response.headers()["retry-after"], "1");
        assert!(!response.headers().contains_key("location"));
        let response = Answer::come_back_to("BUSY", Some("k 1/2")).into_response();
        assert_eq!(response.headers()["location"], "/orders/by-key/k%201%2F2");
    }
}
