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
    mutate = { "/quantity" = [2, 3] },
    defaults = { "/addressVersion" = 1 },
    absent-or-null = ["/coupon"],
    number-forms = true,
} }"#;

const fn method(name: &'static str, doc: &'static str) -> Field {
    Field::new(name, doc, Shape::Template(&REQUEST_PATH)).alternative("\"/orders\"")
}

static REQUEST: Table = Table {
    head: "[request.NAME]",
    noun: "a request",
    fields: &[
        method("post", "POST, and its path. Holes: {user}, {key}, {product}, {quantity}, {uuid}, {order} in a race, {token}."),
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
        Field::new(
            "mutate",
            "What changes the intent: where in the body, and the values that it may get.",
            Shape::Map {
                names: &POINTER,
                values: &Shape::List { items: &Shape::Json, at_least: 1 },
            },
        )
        .default("{}")
        .example("{ \"/quantity\" = [2, 3] }"),
        Field::new(
            "defaults",
            "Fields with a default: a variant with the same intent may leave them out, or write \
             them where the body does not.",
            Shape::Map { names: &POINTER, values: &Shape::Json },
        )
        .default("{}")
        .example("{ \"/gift\" = false }"),
        Field::new(
            "absent-or-null",
            "Fields for which absent and null are the same (TOML has no null).",
            Shape::List { items: &Shape::Text(&POINTER), at_least: 0 },
        )
        .default("[]")
        .example("[\"/coupon\"]"),
        Field::new(
            "number-forms",
            "Whether 1 may be written as 1.0 or 1e0 without changing the intent.",
            Shape::Flag,
        )
        .default("false"),
    ],
};
