//! `[lab]` and `[products]`: the embedded shop and its goods.
//!
//! The words are those of the shop's own flags, which they are passed on to.

use super::super::rules::DEFECT;
use super::super::shape::{Field, Shape, Table};
use super::payments::PAYMENTS;
use super::{MAYBE_NO_WAIT, WAIT};

pub static LAB: Table = Table {
    head: "[lab]",
    noun: "the lab",
    fields: &[
        Field::new(
            "instances",
            "How many processes of the shop answer.",
            Shape::Count { min: 1, max: 16 },
        )
        .default("2"),
        Field::new(
            "defects",
            "Defects of the shop that are switched on, by name or number. `dupeproof shop --list-defects` lists them.",
            Shape::List { items: &Shape::Text(&DEFECT), at_least: 0 },
        )
        .default("[]")
        .example("[\"unlock-before-commit\"]"),
        Field::new(
            "idempotency",
            "Where the shop keeps its idempotency records; `token`: one-time tokens in their place; `none` shows what lies behind them.",
            Shape::Word(&["redis+postgres", "postgres", "token", "none"]),
        )
        .default("\"redis+postgres\""),
        Field::new(
            "redis-down",
            "What the shop does while Redis can't be reached: `arbitrate` lets the database decide, `reject` answers 503.",
            Shape::Word(&["arbitrate", "reject"]),
        )
        .default("\"arbitrate\""),
        Field::new(
            "lock",
            "What keeps others out while the shop places an order.",
            Shape::Word(&["redis", "postgres-advisory", "none"]),
        )
        .default("\"redis\""),
        Field::new(
            "lock-per",
            "What one lock of the shop covers; `global`: all orders.",
            Shape::Word(&["product", "user", "global"]),
        )
        .default("\"product\""),
        Field::new(
            "lease-kind",
            "Whether the holder of the lease in Redis may take it again.",
            Shape::Word(&["plain", "reentrant"]),
        )
        .default("\"plain\""),
        Field::new(
            "begin",
            "When the shop's transaction begins; `before-lock-with-read` also takes its snapshot before the lock.",
            Shape::Word(&["after-lock", "before-lock", "before-lock-with-read"]),
        )
        .default("\"after-lock\""),
        Field::new(
            "isolation",
            "The isolation level of the shop's transactions.",
            Shape::Word(&["read-committed", "repeatable-read", "serializable"]),
        )
        .default("\"read-committed\""),
        Field::new(
            "one-order-per",
            "The business key of the shop: an order for each key, or for each user.",
            Shape::Word(&["key", "user"]),
        )
        .default("\"key\""),
        Field::new(
            "pool-size",
            "PostgreSQL connections of each instance.",
            Shape::Count { min: 1, max: 500 },
        )
        .default("20"),
        Field::new(
            "stock",
            "How an order takes its units; `none` takes nothing, and stock isn't judged then.",
            Shape::Word(&["conditional", "version", "select-for-update", "none"]),
        )
        .default("\"conditional\""),
        Field::new("lock-poll", "The wait between two tries to get the lock.", WAIT)
            .default("\"5ms\""),
        Field::new("lock-wait", "How long the shop tries to get the lock.", WAIT).default("\"2s\""),
        Field::new("lease", "The life of the shop's lock in Redis, renewed every third of it.", WAIT)
            .default("\"3s\""),
        Field::new(
            "processing-lease",
            "How long an idempotency record may be in progress before a duplicate looks for its \
             order. Left out: four leases.",
            WAIT,
        )
        .example("\"12s\""),
        Field::new(
            "owners-at-most",
            "How many owners of an idempotency record may go missing before its intent is parked.",
            Shape::Count { min: 1, max: 1_000 },
        )
        .default("3"),
        Field::new("record-ttl", "The life of an idempotency record.", WAIT).default("\"24h\""),
        Field::new("token-ttl", "The life of a submit token.", WAIT).default("\"10m\""),
        Field::new("redis-timeout", "How long the shop waits for a reply of Redis.", WAIT)
            .default("\"5s\""),
        Field::new(
            "work-time",
            "How long an order takes inside the lock, beside its statements.",
            MAYBE_NO_WAIT,
        )
        .default("\"0ms\""),
        Field::new(
            "order-window",
            "Within this time the shop takes equal orders of a user for one. Left out: each key is \
             an order.",
            WAIT,
        )
        .example("\"10s\""),
        Field::new(
            "proxies",
            "Whether each instance reaches PostgreSQL, Redis and the payment provider through \
             proxies of its own, which pass everything on and tell what they saw.",
            Shape::Flag,
        )
        .default("true"),
        Field::new(
            "payments",
            "The payment provider that the shop pays through. Left out: there is none, and paying \
             an order needs nobody.",
            Shape::Table(&PAYMENTS),
        )
        .example("{ drop-share = 0.2 }"),
    ],
};

pub static PRODUCTS: Table = Table {
    head: "[products]",
    noun: "the products",
    fields: &[
        Field::new(
            "count",
            "How many products there are; the users of a burst are dealt out over them.",
            Shape::Count { min: 1, max: 1_000_000 },
        )
        .default("12"),
        Field::new(
            "stock",
            "Units of each product at the start.",
            Shape::Count { min: 0, max: 1_000_000_000 },
        )
        .default("10000"),
    ],
};
