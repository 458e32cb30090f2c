//! `[request.NAME]`: what is sent.
//!
//! The method is the key, and its value the path: `post = "/orders"`.

use super::super::rules::{HEADER_NAME, HEADER_VALUE, POINTER, REQUEST_NAME, REQUEST_PATH};
use super::super::shape::{Field, Shape, Table};

pub const REQUESTS: Shape = Shape::Map { names: &REQUEST_NAME, values: &Shape::Table(&REQUEST) };

/// What the shop of the lab takes.
pub const OF_THE_LAB: &str = r#"{ place = {
    post = "/orders",
    headers = { Idempotency-Key = "{key}", X-User-Id = "{user}" },
    body = { userId = "{user}", productId = "{product}", quantity = "{quantity}", traceId = "{uuid}" },
    ignored = ["/traceId"],
} }"#;

const fn method(name: &'static str, doc: &'static str) -> Field {
    Field::new(name, doc, Shape::Template(&REQUEST_PATH)).alternative("\"/orders\"")
}

static REQUEST: Table = Table {
    head: "[request.NAME]",
    noun: "a request",
    fields: &[
        method("post", "POST, and its path. Holes: {user}, {key}, {product}, {quantity}, {uuid}."),
        method("put", "PUT, and its path."),
        method("patch", "PATCH, and its path."),
        method("delete", "DELETE, and its path."),
        Field::new(
            "headers",
            "Headers in this order. Their values are templates, and may take `${NAME}` from the environment.",
            Shape::Map { names: &HEADER_NAME, values: &Shape::Template(&HEADER_VALUE) },
        )
        .default("{}")
        .example("{ Idempotency-Key = \"{key}\" }"),
        Field::new(
            "body",
            "The JSON body, fields in this order. A text that is only `{product}` or `{quantity}` becomes a number.",
            Shape::JsonTemplate,
        )
        .example("{ productId = \"{product}\" }"),
        Field::new(
            "order-id",
            "Where in the reply to a success the order's id is.",
            Shape::Text(&POINTER),
        )
        .default("\"/orderId\""),
        Field::new(
            "ignored",
            "Where in the body are values that don't change the intent, such as trace ids.",
            Shape::List { items: &Shape::Text(&POINTER), at_least: 0 },
        )
        .default("[]")
        .example("[\"/traceId\"]"),
    ],
};
