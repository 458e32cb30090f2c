//! `[contract]`: what the target promises about duplicates.
//!
//! No clause has a default here: what is left out is the preset's, so that presets stay data.

use super::super::contract::{BusinessColumn, Hint, ReplayBody};
use super::super::rules::{HEADER_NAME, LINE, POINTER};
use super::super::shape::{Field, Shape, Table};
use super::WAIT;

const STATUSES: Shape = Shape::List { items: &Shape::Count { min: 100, max: 599 }, at_least: 1 };

const fn answer(name: &'static str, doc: &'static str) -> Field {
    Field::new(name, doc, Shape::Table(&ANSWER)).example("{ status = [409] }")
}

pub static CONTRACT: Table = Table {
    head: "[contract]",
    noun: "the contract",
    fields: &[
        Field::new(
            "preset",
            "The contract that holds wherever this table doesn't say otherwise.",
            Shape::Word(&["order-strict"]),
        )
        .default("\"order-strict\""),
        Field::new(
            "one-order-per",
            "The columns of which each combination has at most one order. Left out: user and key.",
            Shape::List {
                items: &Shape::Word(&[
                    BusinessColumn::User.word(),
                    BusinessColumn::Key.word(),
                    BusinessColumn::Product.word(),
                ]),
                at_least: 0,
            },
        )
        .default("[]")
        .example("[\"user\"]"),
        Field::new(
            "recovery-limit",
            "The longest time to a definite answer, also after a crash.",
            WAIT,
        )
        .example("\"30s\""),
        Field::new("first", "Statuses of a first success.", STATUSES).example("[201]"),
        Field::new("replay", "What a replay must be.", Shape::Table(&REPLAY))
            .example("{ body = \"json\" }"),
        Field::new(
            "replay-marker",
            "A header that tells a replay from a first answer.",
            Shape::Text(&HEADER_NAME),
        )
        .example("\"Idempotent-Replayed\""),
        answer("in-progress", "The answer while the first attempt is still at work."),
        answer("other-parameters", "The answer to a known key with another intent."),
        answer("missing-key", "The answer to a request without a key."),
        answer("business-rejection", "Sold out, and other refusals of the business."),
        answer("shed", "Refused ahead of the idempotency layer, such as 401 and 429."),
        answer("parked", "The answer for an outcome that needs reconciliation."),
        Field::new(
            "hint",
            "What a pending answer must carry: nothing, `Retry-After`, `Location`, or one of them.",
            Shape::Word(&[
                Hint::None.word(),
                Hint::RetryAfter.word(),
                Hint::Location.word(),
                Hint::Either.word(),
            ]),
        )
        .example("\"either\""),
    ],
};

static REPLAY: Table = Table {
    head: "`contract.replay`",
    noun: "a replay",
    fields: &[
        Field::new("status", "Its statuses. Left out: the first answer's.", STATUSES)
            .example("[200]"),
        Field::new(
            "body",
            "How much of its body equals the first answer's.",
            Shape::Word(&[
                ReplayBody::Bytes.word(),
                ReplayBody::Json.word(),
                ReplayBody::OrderId.word(),
            ]),
        )
        .example("\"bytes\""),
    ],
};

static ANSWER: Table = Table {
    head: "an answer of the contract",
    noun: "an answer",
    fields: &[
        Field::new("status", "Any of these statuses.", STATUSES).required("[409]"),
        Field::new(
            "code",
            "Where statuses don't decide: any of these codes in the body.",
            Shape::List { items: &Shape::Text(&LINE), at_least: 1 },
        )
        .example("[\"IN_PROGRESS\"]"),
        Field::new("code-at", "Where in the body the code is.", Shape::Text(&POINTER))
            .default("\"/code\""),
    ],
};
