//! `[[phase]]`: one burst, or a stretch of steady load, with its faults.

use super::super::rules::LINE;
use super::super::shape::{Field, Shape, Table};
use super::burst::{BURST, RATE};
use super::fault::FAULT;

pub static PHASE: Table = Table {
    head: "[[phase]]",
    noun: "a phase",
    fields: &[
        Field::new("name", "Its name in results, unlike every other's.", Shape::Text(&LINE))
            .required("\"double click\""),
        Field::new("burst", "Attempts that leave together.", Shape::Table(&BURST))
            .alternative("burst.same-key = { users = 200, threads = 20 }"),
        Field::new(
            "rate",
            "Steady load in place of a burst: so many attempts a second, whatever the target does.",
            Shape::Table(&RATE),
        )
        .alternative("{ per-second = 200, for = \"30s\" }"),
        Field::new(
            "fault",
            "What is done to the target's wires and stores meanwhile.",
            Shape::List { items: &Shape::Table(&FAULT), at_least: 0 },
        )
        .default("[]")
        .example("[[phase.fault]]\nat.step = { after = \"postgres COMMIT\" }\ndo.hold = {}"),
    ],
};
