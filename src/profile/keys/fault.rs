//! `[[phase.fault]]`: what is done to the target's wires and stores, and when. What can be done stands in
//! `act.rs`.

use super::super::pattern::STEP_PATTERN;
use super::super::rules::{LINE, REDIS_KEY, SQL, TABLE};
use super::super::shape::{Field, Shape, Table};
use super::act::{ACT, RULE_ACT};
use super::{MAYBE_NO_WAIT, ROLES};

pub static FAULT: Table = Table {
    head: "[[phase.fault]]",
    noun: "a fault",
    fields: &[
        Field::new("at", "When it is done: at a step, or at a time.", Shape::Table(&TRIGGER))
            .required("{ step = { after = \"postgres COMMIT\", nth = 3 } }"),
        Field::new("do", "What is done.", Shape::Table(&ACT))
            .required("{ hold = { until = \"others\" } }"),
        Field::new(
            "armed",
            "`false` runs the same load behind the same proxies without it, which proves nothing and \
             is inconclusive.",
            Shape::Flag,
        )
        .default("true"),
    ],
};

static TRIGGER: Table = Table {
    head: "`at`",
    noun: "a trigger",
    fields: &[
        Field::new("step", "At a step of the target.", Shape::Table(&STEP))
            .alternative("{ after = \"postgres COMMIT\" }"),
        Field::new("time", "So long after the phase began.", MAYBE_NO_WAIT).alternative("\"0ms\""),
    ],
};

const PATTERN: Shape = Shape::Text(&STEP_PATTERN);

/// The keys of a step: those of its own in front, then the shared ones.
macro_rules! step {
    ($($own:expr),* $(,)?) => {
        &[
            Field::new(
                "after",
                "The step is done and its reply withheld: its name, or the beginning of one. `*` is any \
                 verb of a wire, and alone any step that the other keys fit. What the server refused, or \
                 what found no row, doesn't count.",
                PATTERN,
            )
            .alternative("\"postgres COMMIT\""),
            Field::new("before", "The step's request hasn't reached the server.", PATTERN)
                .alternative("\"redis SET lock:stock\""),
            Field::new(
                "in-buffer",
                "The step's request was passed on just now, and whether it is done isn't known.",
                PATTERN,
            )
            .alternative("\"postgres COMMIT\""),
            Field::new("role", "Only steps that are for this.", Shape::Word(&ROLES))
                .example("\"commit\""),
            Field::new(
                "nth",
                "The n-th step that fits, once. Left out, and neither of the next two given: the first.",
                Shape::Count { min: 1, max: 1_000_000 },
            )
            .example("3"),
            Field::new("every", "Every step that fits.", Shape::Flag).default("false"),
            Field::new(
                "first-of-each",
                "The first step that fits of each intent (or product, see `of`).",
                Shape::Flag,
            )
            .default("false"),
            Field::new("key", "Only steps at this key of Redis; holes fit anything.", Shape::Text(&REDIS_KEY))
                .example("\"lock:stock:{product}\""),
            Field::new("table", "Only steps at this table.", Shape::Text(&TABLE)).example("\"orders\""),
            Field::new(
                "sql",
                "Only statements that have these words in this order, whatever stands between them.",
                Shape::Text(&SQL),
            )
            .example("\"UPDATE product_stock SET last_fence\""),
            Field::new(
                "parameter",
                "Only steps that carry this value: an argument of a command, a bound parameter.",
                Shape::Text(&LINE),
            )
            .example("\"CREATED\""),
            Field::new(
                "probability",
                "Each step that fits fires with this probability, drawn from the seed.",
                Shape::Share,
            )
            .default("1.0"),
            $($own,)*
        ]
    };
}

static STEP: Table = Table {
    head: "`at.step`",
    noun: "a step",
    fields: step![
        Field::new(
            "of",
            "Whose steps count: those that are certainly one intent's, or those that name a product \
             of the run. Steps that are nobody's never count in a drill.",
            Shape::Word(&["intent", "product", "anyone"]),
        )
        .default("\"intent\""),
        Field::new(
            "instance",
            "Only steps of this instance, counted from 0.",
            Shape::Count { min: 0, max: 15 },
        )
        .example("0"),
    ],
};

/// A file for `dupeproof proxy --rules`.
pub static RULES: Table = Table {
    head: "the rules",
    noun: "a file of rules",
    fields: &[Field::new(
        "rule",
        "What the proxies do, the first rule that fits a step first.",
        Shape::List { items: &Shape::Table(&RULE), at_least: 1 },
    )
    .required("[[rule]]\nat.step = { after = \"postgres COMMIT\" }\ndo.drop-reply = {}")],
};

static RULE: Table = Table {
    head: "[[rule]]",
    noun: "a rule",
    fields: &[
        Field::new("at", "When it is done: at a step, or at a time.", Shape::Table(&RULE_TRIGGER))
            .required("{ step = { after = \"postgres COMMIT\", nth = 3 } }"),
        Field::new("do", "What is done.", Shape::Table(&RULE_ACT))
            .required("{ drop-reply = { then = \"close\" } }"),
    ],
};

static RULE_TRIGGER: Table = Table {
    head: "`at` of a rule",
    noun: "a rule's trigger",
    fields: &[
        Field::new("step", "At a step that crosses a proxy.", Shape::Table(&RULE_STEP))
            .alternative("{ after = \"postgres COMMIT\" }"),
        Field::new("time", "So long after the proxies began to listen.", MAYBE_NO_WAIT)
            .alternative("\"10s\""),
    ],
};

static RULE_STEP: Table = Table {
    head: "`at.step` of a rule",
    noun: "a rule's step",
    fields: step![
        Field::new(
            "of",
            "Whose steps count: everybody's, since proxies alone know no intents.",
            Shape::Word(&["anyone"]),
        )
        .default("\"anyone\""),
    ],
};
