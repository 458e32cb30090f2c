//! What the service answers, and how an answer of the contract is put into words.

use axum::body::Body;
use axum::response::Response;
use dupeproof::profile::{Answer, Hint, Replay, ReplayBody};
use serde_json::{Map, Value, json};

use crate::asked::Asked;

#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// Whether it names an order.
    pub is_success: bool,
}

/// An answer with the first of its statuses, and its code where it has one.
pub fn to(answer: &Answer) -> Reply {
    let body = match &answer.code {
        Some(code) => at(&code.pointer, code.values[0].as_str().into()),
        None => json!({ "error": "as agreed" }),
    };
    Reply::new(answer.statuses[0], &body.to_string())
}

/// The same answer with a code that isn't its own.
pub fn to_in_other_words(answer: &Answer) -> Reply {
    let code = answer.code.as_ref().expect("only where the contract has a code");
    Reply::new(answer.statuses[0], &at(&code.pointer, "OTHER".into()).to_string())
}

/// What no preset knows.
pub fn outside_of_contract() -> Reply {
    Reply::new(418, "{\"error\":\"a teapot\"}")
}

/// The first answer to an order.
pub fn order(status: u16, order: i64, asked: &Asked) -> Reply {
    let body = format!(
        "{{\"orderId\":{order},\"made\":{{\"product\":{},\"quantity\":{}}}}}",
        asked.product, asked.quantity
    );
    Reply { is_success: true, ..Reply::new(status, &body) }
}

impl Reply {
    pub fn new(status: u16, body: &str) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { status, headers, body: body.to_owned(), is_success: false }
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn hinting(self, hint: Hint, asked: &Asked) -> Self {
        let by_header = match hint {
            Hint::None => return self,
            Hint::Either => asked.product % 2 == 0,
            Hint::RetryAfter => true,
            Hint::Location => false,
        };
        if by_header {
            self.with("retry-after", "1")
        } else {
            self.with("location", &format!("/orders/of/{}", asked.user))
        }
    }

    /// A success as a replay, with all the freedom that the contract leaves.
    pub fn again(&self, replay: &Replay, number: u64) -> Self {
        let value: Value = serde_json::from_str(&self.body).unwrap();
        let body = match replay.body {
            ReplayBody::Bytes => self.body.clone(),
            ReplayBody::Json => serde_json::to_string_pretty(&value).unwrap(),
            ReplayBody::OrderId => json!({ "orderId": value["orderId"] }).to_string(),
            ReplayBody::Current => {
                json!({ "orderId": value["orderId"], "readAt": number }).to_string()
            }
        };
        let status = replay.statuses.as_ref().map_or(self.status, |statuses| statuses[0]);
        Self { status, body, ..self.clone() }
    }

    pub fn into_response(self) -> Response {
        let mut response = Response::builder().status(self.status);
        for (name, value) in &self.headers {
            response = response.header(name, value);
        }
        response.body(Body::from(self.body)).unwrap()
    }
}

/// A value at a JSON pointer, and what has to be around it.
fn at(pointer: &str, value: Value) -> Value {
    let Some((rest, name)) = pointer.rsplit_once('/') else { return value };
    let around = match name {
        "0" => json!([value]),
        name => Value::Object(Map::from_iter([(name.to_owned(), value)])),
    };
    at(rest, around)
}
