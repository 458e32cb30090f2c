//! The tables of these tests, and how a profile names them.

use dupeproof::codes::Severity;
use dupeproof::profile::{AuditTables, CustomCheck, MovementsTable, OrdersTable, StockTable};

/// Orders with all columns, a stock, a ledger; nothing in them.
pub const SCHEMA: &str = r#"
CREATE TABLE "order" (
    id bigint PRIMARY KEY,
    "user" text NOT NULL,
    key text,
    product bigint NOT NULL,
    quantity int NOT NULL,
    status text NOT NULL DEFAULT 'CREATED',
    created timestamptz NOT NULL DEFAULT now(),
    paid timestamptz,
    closed boolean
);
CREATE UNIQUE INDEX one_per_key ON "order" ("user", key) INCLUDE (product);
CREATE TABLE stock (product bigint PRIMARY KEY, available int CHECK (available > -100));
CREATE TABLE moves (id bigserial, "order" bigint, product bigint NOT NULL, delta int NOT NULL);
"#;

pub fn tables() -> AuditTables {
    let column = |name: &str| Some(name.to_owned());
    AuditTables {
        orders: OrdersTable {
            table: "order".to_owned(),
            id: "id".to_owned(),
            user: column("user"),
            key: column("key"),
            product: column("product"),
            quantity: column("quantity"),
            fingerprint: None,
            status: column("status"),
            created: column("created"),
            sold: vec!["CREATED".to_owned(), "PAID".to_owned()],
            paid_at: column("paid"),
            closed_at: column("closed"),
        },
        stock: Some(StockTable {
            table: "stock".to_owned(),
            product: "product".to_owned(),
            available: "available".to_owned(),
            fence: None,
        }),
        movements: Some(MovementsTable {
            table: "moves".to_owned(),
            order: "order".to_owned(),
            product: "product".to_owned(),
            delta: "delta".to_owned(),
        }),
        sql: Vec::new(),
    }
}

pub fn own(title: &str, query: &str) -> CustomCheck {
    CustomCheck { title: title.to_owned(), severity: Severity::Contract, query: query.to_owned() }
}
