//! `[contract]`: what the target promises about duplicates.
//!
//! No clause has a default here: what is left out is the preset's, and presets are files that are
//! read with this very description.

use super::super::contract::{
    AfterExpiry, BusinessColumn, Hint, KeyScope, KeySyntax, RedisDown, ReplayBody,
};
use super::super::presets;
use super::super::rules::{HEADER_NAME, LINE, POINTER};
use super::super::shape::{Field, Shape, Table};
use super::WAIT;

const STATUSES: Shape = Shape::List { items: &Shape::Count { min: 100, max: 599 }, at_least: 1 };

/// An answer, or one of the words for having none.
const fn answer(name: &'static str, doc: &'static str, shape: Shape) -> Field {
    Field::new(name, doc, shape).example("{ status = [409] }")
}

const ANSWER: Shape = Shape::Table(&PLAIN_ANSWER);
const MAYBE_ANSWER: Shape = Shape::WordOr {
    words: &["unsaid"],
    or: &ANSWER,
    wanted: "a table such as `{ status = [409] }`, or \"unsaid\"",
};

pub static CONTRACT: Table = Table {
    head: "[contract]",
    noun: "the contract",
    fields: &[
        Field::new(
            "preset",
            "The contract that holds wherever this table doesn't say otherwise.",
            Shape::Word(&presets::NAMES),
        )
        .default("\"order-strict\""),
        Field::new(
            "key",
            "Where the key travels and what it may look like; what is left out is the preset's.",
            Shape::Table(&KEY),
        )
        .example("{ header = \"Idempotency-Key\", longest = 255 }"),
        Field::new(
            "one-order-per",
            "The columns of which each combination has at most one order. Empty: user and key.",
            Shape::List {
                items: &Shape::Word(&[
                    BusinessColumn::User.word(),
                    BusinessColumn::Key.word(),
                    BusinessColumn::Product.word(),
                ]),
                at_least: 0,
            },
        )
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
            "A header that tells a replay from a first answer, or `none`.",
            Shape::WordOr {
                words: &["none"],
                or: &Shape::Text(&HEADER_NAME),
                wanted: "a header's name, or `none`",
            },
        )
        .example("\"Idempotent-Replayed\""),
        answer(
            "in-progress",
            "The answer while the first attempt is still at work; `unsaid` where there is none.",
            MAYBE_ANSWER,
        ),
        answer(
            "other-parameters",
            "The answer to a known key with another intent: a rejection, the first one's stored \
             result (`old-result`), or `unsaid`.",
            Shape::WordOr {
                words: &["old-result", "unsaid"],
                or: &Shape::Table(&MISMATCH),
                wanted: "a table such as `{ status = [409] }`, \"old-result\" or \"unsaid\"",
            },
        ),
        answer(
            "missing-key",
            "The answer to a request without a key: a rejection, an unprotected order \
             (`executed`), or `unsaid`.",
            Shape::WordOr {
                words: &["executed", "unsaid"],
                or: &ANSWER,
                wanted: "a table such as `{ status = [400] }`, \"executed\" or \"unsaid\"",
            },
        ),
        answer(
            "malformed-key",
            "The answer to a key that breaks the rule for keys, or `unsaid`.",
            MAYBE_ANSWER,
        ),
        answer("business-rejection", "Sold out, and other refusals of the business.", ANSWER),
        answer("shed", "Refused ahead of the idempotency layer, such as 401 and 429.", ANSWER),
        answer(
            "parked",
            "The answer for an outcome that needs reconciliation; `unsaid` where there is none.",
            MAYBE_ANSWER,
        ),
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
        Field::new(
            "rejection-is-stored",
            "Whether a key gets a business rejection again; otherwise it is decided anew.",
            Shape::Flag,
        )
        .example("true"),
        Field::new(
            "after-expiry",
            "What a key gets once its record has expired.",
            Shape::Word(&[
                AfterExpiry::SameOrder.word(),
                AfterExpiry::NewOrder.word(),
                AfterExpiry::Rejected.word(),
            ]),
        )
        .example("\"same-order\""),
        Field::new(
            "window",
            "Equal bodies under different keys are one order within this time. `none`: each key \
             is an order.",
            Shape::WordOr { words: &["none"], or: &WAIT, wanted: "a duration, or `none`" },
        )
        .example("\"10s\""),
        Field::new(
            "settles-within",
            "A saga heals within this time what the first audit sees. `atomic`: nothing to heal.",
            Shape::WordOr { words: &["atomic"], or: &WAIT, wanted: "a duration, or `atomic`" },
        )
        .example("\"5s\""),
        Field::new(
            "longest-wait",
            "The longest wait for any reply while no fault is at work.",
            WAIT,
        )
        .example("\"10s\""),
        Field::new(
            "redis-down",
            "What happens while Redis can't be reached: requests are served with less protection \
             (`degrade`), turned away (`reject`), or decided by the database alone. `unsaid`: any of \
             these. A lab's is that of `[lab] redis-down`.",
            Shape::Word(&[
                RedisDown::Degrade.word(),
                RedisDown::Reject.word(),
                RedisDown::Database.word(),
                "unsaid",
            ]),
        )
        .example("\"database\""),
    ],
};

static KEY: Table = Table {
    head: "`contract.key`",
    noun: "the rule for keys",
    fields: &[
        Field::new("header", "The header that carries it.", Shape::Text(&HEADER_NAME))
            .example("\"Idempotency-Key\""),
        Field::new("body", "Or where in the body it is.", Shape::Text(&POINTER))
            .example("\"/idempotency_key\""),
        Field::new(
            "syntax",
            "How it is written: as it is, as an RFC 8941 string in double quotes, or as a UUID.",
            Shape::Word(&[KeySyntax::Raw.word(), KeySyntax::Quoted.word(), KeySyntax::Uuid.word()]),
        )
        .example("\"raw\""),
        Field::new(
            "longest",
            "The most characters of a key, or `unsaid`.",
            Shape::WordOr {
                words: &["unsaid"],
                or: &Shape::Count { min: 1, max: 1_000_000 },
                wanted: "a whole number, or \"unsaid\"",
            },
        )
        .example("255"),
        Field::new(
            "scope",
            "For whom a key is unique: two users may send the same string and get two results, or \
             all users of an account share one name space.",
            Shape::Word(&[KeyScope::User.word(), KeyScope::Account.word()]),
        )
        .example("\"user\""),
    ],
};

static REPLAY: Table = Table {
    head: "`contract.replay`",
    noun: "a replay",
    fields: &[
        Field::new(
            "status",
            "Its statuses, or `first`: the first answer's.",
            Shape::WordOr {
                words: &["first"],
                or: &STATUSES,
                wanted: "a list of statuses, or \"first\"",
            },
        )
        .example("[200]"),
        Field::new(
            "body",
            "How much of its body equals the first answer's; `current`: the order as it is now.",
            Shape::Word(&[
                ReplayBody::Bytes.word(),
                ReplayBody::Json.word(),
                ReplayBody::OrderId.word(),
                ReplayBody::Current.word(),
            ]),
        )
        .example("\"bytes\""),
    ],
};

const CODES: Shape = Shape::List { items: &Shape::Text(&LINE), at_least: 1 };
const STATUS: Field = Field::new("status", "Any of these statuses.", STATUSES).required("[409]");
const CODE: Field =
    Field::new("code", "Where statuses don't decide: any of these codes in the body.", CODES)
        .example("[\"IN_PROGRESS\"]");
const CODE_AT: Field =
    Field::new("code-at", "Where in the body the code is.", Shape::Text(&POINTER))
        .default("\"/code\"");

static PLAIN_ANSWER: Table = Table {
    head: "an answer of the contract",
    noun: "an answer",
    fields: &[STATUS, CODE, CODE_AT],
};

static MISMATCH: Table = Table {
    head: "`contract.other-parameters`",
    noun: "the answer to other parameters",
    fields: &[
        STATUS,
        CODE,
        CODE_AT,
        Field::new(
            "while-in-progress",
            "Whether the intent is compared first, also while the first attempt is at work.",
            Shape::Flag,
        )
        .default("true"),
    ],
};
