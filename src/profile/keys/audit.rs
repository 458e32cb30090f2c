//! `[audit]`: which tables and columns hold the truth.
//!
//! A table that is given is taken as it stands: the lab's columns aren't mixed into somebody else's.

use super::super::rules::{COLUMN, LINE, SQL, TABLE};
use super::super::shape::{Field, Shape, Table};

/// The tables of the lab.
pub const OF_THE_LAB: &str = r#"{ movements = {
    table = "stock_movements",
    order = "order_id",
    product = "product_id",
    delta = "delta",
}, stock = {
    table = "product_stock",
    product = "product_id",
    available = "available",
    fence = "last_fence",
} }"#;

const LAB_ORDERS: &str = r#"{
    table = "orders",
    id = "order_id",
    user = "user_id",
    key = "idempotency_key",
    product = "product_id",
    quantity = "quantity",
    fingerprint = "request_fingerprint",
    status = "status",
    created = "created_at",
    paid-at = "paid_at",
    closed-at = "closed_at",
    sold = ["CREATED", "PAYING", "PAID"],
}"#;

const fn column(name: &'static str, doc: &'static str) -> Field {
    Field::new(name, doc, Shape::Text(&COLUMN))
}

pub static AUDIT: Table = Table {
    head: "[audit]",
    noun: "the audit",
    fields: &[
        Field::new("orders", "The table of orders and its columns.", Shape::Table(&ORDERS))
            .default(LAB_ORDERS)
            .example(
                "{ table = \"orders\", id = \"id\", user = \"user_id\", key = \"request_key\" }",
            ),
        Field::new(
            "stock",
            "The table of stock and its columns. Left out beside `orders`: stock is not judged.",
            Shape::Table(&STOCK),
        )
        .example("{ table = \"stock\", product = \"product_id\", available = \"available\" }"),
        Field::new(
            "movements",
            "The table with a row for each stock movement, and its columns. Left out \
             beside `orders`: movements are not judged.",
            Shape::Table(&MOVEMENTS),
        )
        .example(
            "{ table = \"movements\", order = \"order_id\", product = \"product_id\", delta = \"delta\" }",
        ),
        Field::new(
            "sql",
            "Invariants of your own: every row that a query returns, and didn't at the baseline, \
             is a violation.",
            Shape::List { items: &Shape::Table(&CUSTOM), at_least: 0 },
        )
        .default("[]")
        .example(
            "[[audit.sql]]\ntitle = \"no order without an invoice\"\nseverity = \"critical\"\nquery = \"SELECT ...\"",
        ),
    ],
};

static ORDERS: Table = Table {
    head: "`audit.orders`",
    noun: "the table of orders",
    fields: &[
        Field::new("table", "Its name, perhaps with its schema.", Shape::Text(&TABLE))
            .required("\"orders\""),
        column("id", "The order's id, as replies tell it.").required("\"order_id\""),
        column("user", "Who ordered.").example("\"user_id\""),
        column("key", "The idempotency key.").example("\"idempotency_key\""),
        column("product", "What was ordered.").example("\"product_id\""),
        column("quantity", "Units ordered.").example("\"quantity\""),
        column("fingerprint", "The fingerprint of the intent.").example("\"fingerprint\""),
        column("status", "The order's state.").example("\"status\""),
        column("created", "When the order was made.").example("\"created_at\""),
        column("paid-at", "When it was paid; NULL: never.").example("\"paid_at\""),
        column("closed-at", "When it was closed; NULL: never.").example("\"closed_at\""),
        Field::new(
            "sold",
            "The states in which an order holds stock and counts as valid. Left out: all.",
            Shape::List { items: &Shape::Text(&LINE), at_least: 0 },
        )
        .default("[]")
        .example("[\"CREATED\", \"PAID\"]"),
    ],
};

static STOCK: Table = Table {
    head: "`audit.stock`",
    noun: "the table of stock",
    fields: &[
        Field::new("table", "Its name, perhaps with its schema.", Shape::Text(&TABLE))
            .required("\"product_stock\""),
        column("product", "Which product.").required("\"product_id\""),
        column("available", "Units left.").required("\"available\""),
        column("fence", "The last fence that was accepted.").example("\"last_fence\""),
    ],
};

static MOVEMENTS: Table = Table {
    head: "`audit.movements`",
    noun: "the table of movements",
    fields: &[
        Field::new("table", "Its name, perhaps with its schema.", Shape::Text(&TABLE))
            .required("\"stock_movements\""),
        column("order", "For which order.").required("\"order_id\""),
        column("product", "Of which product.").required("\"product_id\""),
        column("delta", "Units; negative for what was taken.").required("\"delta\""),
    ],
};

static CUSTOM: Table = Table {
    head: "[[audit.sql]]",
    noun: "an invariant of yours",
    fields: &[
        Field::new(
            "title",
            "What holds when all is well, unlike every other's.",
            Shape::Text(&LINE),
        )
        .required("\"no order without an invoice\""),
        Field::new(
            "severity",
            "How loud a break is; the first two fail the gate.",
            Shape::Word(&["critical", "contract", "protected", "efficiency"]),
        )
        .default("\"critical\""),
        Field::new("query", "One SELECT, which returns what shouldn't be.", Shape::Text(&SQL))
            .required("\"SELECT order_id FROM orders WHERE quantity < 1\""),
    ],
};
