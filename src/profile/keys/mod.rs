//! Every key of a profile: the description that the check, the conversion and the schema share.
//!
//! One table, one file. A new key is added here and in `build/` and `write.rs`; a test that writes
//! a profile and reads it again fails while one of them is missing.

mod act;
mod audit;
mod burst;
mod client;
mod contract;
mod fault;
mod lab;
mod payments;
mod phase;
mod request;
mod target;
mod wires;

use std::time::Duration;

pub use contract::CONTRACT;
pub use fault::RULES;

use super::rules::{HOST, LINE};
use super::shape::{Field, Shape, Table};

/// Thirty days.
const LONGEST: Duration = Duration::from_secs(30 * 86_400);

/// A duration of at least 1 ms.
const WAIT: Shape = Shape::Duration { min: Duration::from_millis(1), max: LONGEST };

/// A duration that may be nothing.
const MAYBE_NO_WAIT: Shape = Shape::Duration { min: Duration::ZERO, max: LONGEST };

/// What a step may be for.
const ROLES: [&str; 11] = [
    "claim",
    "lock",
    "fence",
    "stock-read",
    "stock-write",
    "order-insert",
    "commit",
    "success",
    "unlock",
    "renew",
    "pay",
];

/// The whole profile.
pub static PROFILE: Table = Table {
    head: "the profile",
    noun: "a profile",
    fields: &[
        Field::new(
            "title",
            "One sentence about the drill, shown at its head.",
            Shape::Text(&LINE),
        )
        .example("\"One order for each intent\""),
        Field::new(
            "seed",
            "Drives every random choice of the run. The same seed makes the same choices.",
            Shape::Count { min: 0, max: u64::MAX },
        )
        .default("1"),
        Field::new(
            "target",
            "What is drilled, if it isn't the lab's shop.",
            Shape::Table(&target::TARGET),
        )
        .example("{ urls = [\"http://127.0.0.1:8080\"] }"),
        Field::new(
            "postgres",
            "The database of an attached target.",
            Shape::Table(&target::POSTGRES),
        )
        .example("{ url = \"postgres://auditor@127.0.0.1/orders\" }"),
        Field::new(
            "redis",
            "The Redis of an attached target, and how a target of your own names its keys.",
            Shape::Table(&wires::REDIS),
        )
        .example("{ lock-keys = \"lock:stock:{product}\" }"),
        Field::new(
            "payments",
            "The payment provider of an attached target, or any HTTP service that it calls.",
            Shape::Table(&wires::PAYMENTS),
        )
        .example("{ url = \"http://127.0.0.1:9090\", proxy = \"127.0.0.1:19090\" }"),
        Field::new(
            "wires",
            "What the proxies between the target and its servers can't know by themselves.",
            Shape::Table(&wires::WIRES),
        )
        .example("{ roles = { \"redis SET lease:stock\" = \"lock\" } }"),
        Field::new(
            "allow-hosts",
            "Hosts beside loopback that the run may touch.",
            Shape::List { items: &Shape::Text(&HOST), at_least: 0 },
        )
        .default("[]")
        .example("[\"staging.example.com\"]"),
        Field::new("actor", "Who sends the requests.", Shape::Table(&target::ACTOR)).default("{}"),
        Field::new(
            "setup",
            "Statements of yours that prepare the database.",
            Shape::Table(&target::SETUP),
        )
        .example("{ sql = [\"INSERT INTO products VALUES (1001, 10)\"] }"),
        Field::new(
            "teardown",
            "Statements of yours that clean up behind the run.",
            Shape::Table(&target::TEARDOWN),
        )
        .example("{ sql = [\"DELETE FROM orders\"] }"),
        Field::new("lab", "How the embedded shop is built.", Shape::Table(&lab::LAB)).default("{}"),
        Field::new("products", "What the run buys.", Shape::Table(&lab::PRODUCTS)).default("{}"),
        Field::new(
            "contract",
            "What the target promises about duplicates: a preset, and clauses that differ from it.",
            Shape::Table(&CONTRACT),
        )
        .default("{}"),
        Field::new("client", "The client's patience.", Shape::Table(&client::CLIENT)).default("{}"),
        Field::new(
            "request",
            "The requests of the target by name. The first one is what bursts send unless they name another.",
            request::REQUESTS,
        )
        .default(request::OF_THE_LAB),
        Field::new(
            "audit",
            "Which tables and columns the audit reads. Left out: those of the lab.",
            Shape::Table(&audit::AUDIT),
        )
        .default(audit::OF_THE_LAB),
        Field::new(
            "phase",
            "What happens, one phase after the other.",
            Shape::List { items: &Shape::Table(&phase::PHASE), at_least: 1 },
        )
        .required(
            "[[phase]]\nname = \"double click\"\nburst.same-key = { users = 200, threads = 20 }",
        ),
        Field::new(
            "budget",
            "Limits that may be missed: then the invariants hold and the exit code is 5.",
            Shape::Table(&client::BUDGET),
        )
        .default("{}"),
        Field::new(
            "limits",
            "How long the run waits for what must come to an end.",
            Shape::Table(&client::LIMITS),
        )
        .default("{}"),
        Field::new(
            "published",
            "A figure from the literature, to stand beside ours.",
            Shape::Table(&client::PUBLISHED),
        )
        .example("{ figure = \"0 users with duplicates\" }"),
    ],
};
