//! `[client]`, `[budget]`, `[limits]` and `[published]`: how long to wait, and what to compare with.

use super::super::rules::LINE;
use super::super::shape::{Field, Shape, Table};
use super::{MAYBE_NO_WAIT, WAIT};

pub static CLIENT: Table = Table {
    head: "[client]",
    noun: "the client",
    fields: &[
        Field::new(
            "timeout",
            "The wait for a whole reply, from the release of the request to the reply's last byte.",
            WAIT,
        )
        .default("\"10s\""),
        Field::new("connect-timeout", "The wait for a connection.", WAIT).default("\"5s\""),
        Field::new(
            "longest-reply",
            "A longer reply is cut off, and its outcome is unknown.",
            Shape::Size { min: 1 << 10, max: 1 << 30 },
        )
        .default("\"1MiB\""),
        Field::new(
            "retries",
            "How the client asks again while it has no definite answer: same key, same bytes.",
            Shape::Table(&RETRIES),
        )
        .default("{}")
        .example("{ at-most = 8 }"),
    ],
};

static RETRIES: Table = Table {
    head: "`client.retries`",
    noun: "the retries",
    fields: &[
        Field::new(
            "at-most",
            "Requests after the first one; 0 switches retries off.",
            Shape::Count { min: 0, max: 1_000 },
        )
        .default("8"),
        Field::new(
            "first-wait",
            "The wait before the first retry; doubled each time, with jitter of half.",
            MAYBE_NO_WAIT,
        )
        .default("\"20ms\""),
        Field::new("longest-wait", "The doubling stops here.", MAYBE_NO_WAIT).default("\"500ms\""),
    ],
};

pub static BUDGET: Table = Table {
    head: "[budget]",
    noun: "the budget",
    fields: &[Field::new(
        "p99-latency",
        "99 of 100 attempts are answered within this time, in phases without faults.",
        WAIT,
    )
    .example("\"500ms\"")],
};

pub static LIMITS: Table = Table {
    head: "[limits]",
    noun: "the limits",
    fields: &[
        Field::new(
            "drain",
            "How long to wait, when the load has stopped, until nothing of it is left in the target.",
            WAIT,
        )
        .default("\"30s\""),
        Field::new(
            "quiet",
            "The shortest time between two equal readings of the rows before they count as final.",
            WAIT,
        )
        .default("\"200ms\""),
    ],
};

pub static PUBLISHED: Table = Table {
    head: "[published]",
    noun: "the published figure",
    fields: &[Field::new("figure", "The figure in words, with its setting.", Shape::Text(&LINE))
        .required("\"22 users with duplicates (MySQL 8.4, REPEATABLE READ)\"")],
};
