//! `[[phase]]` and the kinds of bursts. A new kind is a key of `burst` and a table here.

use super::super::burst::Release;
use super::super::rules::{LINE, REQUEST_NAME};
use super::super::shape::{Field, Shape, Table};

pub static PHASE: Table = Table {
    head: "[[phase]]",
    noun: "a phase",
    fields: &[
        Field::new("name", "Its name in results, unlike every other's.", Shape::Text(&LINE))
            .required("\"double click\""),
        Field::new("burst", "Attempts that leave together.", Shape::Table(&BURST))
            .required("burst.same-key = { users = 200, threads = 20 }"),
    ],
};

static BURST: Table = Table {
    head: "`burst`",
    noun: "a burst",
    fields: &[Field::new(
        "same-key",
        "Identical bytes: `threads` attempts for each of `users` intents.",
        Shape::Table(&SAME_KEY),
    )
    .alternative("{ users = 200, threads = 20 }")],
};

static SAME_KEY: Table = Table {
    head: "`burst.same-key`",
    noun: "a burst with the same key",
    fields: &[
        Field::new("users", "How many intents, each of a user of its own.", ATTEMPTS)
            .required("200"),
        Field::new("threads", "How many attempts for each of them.", ATTEMPTS).required("20"),
        Field::new("quantity", "Units in each order.", Shape::Count { min: 1, max: 1_000_000 })
            .default("1"),
        Field::new(
            "request",
            "Which `[request.NAME]` is sent. Left out: the first.",
            Shape::Text(&REQUEST_NAME),
        )
        .example("\"place\""),
        Field::new(
            "release",
            "How the last bytes leave: to a target that is stopped and then resumed, or in one loop while it runs.",
            Shape::Word(&[Release::Frozen.word(), Release::Loop.word()]),
        )
        .default("\"frozen\""),
        Field::new(
            "overlap-share",
            "The share of keys whose attempts must overlap, or the run is inconclusive (G1).",
            Shape::Share,
        )
        .default("0.5"),
    ],
};

const ATTEMPTS: Shape = Shape::Count { min: 1, max: 50_000 };
