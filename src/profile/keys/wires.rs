//! `[redis]`, `[payments]` and `[wires]`: what stands between a target and its servers.

use super::super::rules::{HOST, HTTP_URL, LISTEN_ADDRESS, REDIS_KEY, REDIS_URL, STEP_NAME};
use super::super::shape::{Field, Shape, Table};
use super::ROLES;

pub static REDIS: Table = Table {
    head: "[redis]",
    noun: "the target's Redis",
    fields: &[
        Field::new(
            "url",
            "The Redis of an attached target. Its password comes from the environment.",
            Shape::Secret(&REDIS_URL),
        )
        .example("\"redis://127.0.0.1:6379\""),
        Field::new(
            "proxy",
            "Where a proxy to it listens while the run lasts, for the target to connect to. Left \
             out: there is none.",
            Shape::Text(&LISTEN_ADDRESS),
        )
        .example("\"127.0.0.1:16379\""),
        Field::new(
            "idempotency-keys",
            "How the target names an idempotency record, with `{user}`, `{key}` and `{product}`.",
            Shape::Text(&REDIS_KEY),
        )
        .example("\"idem:orders:{user}:{key}\""),
        Field::new("lock-keys", "How the target names a lock, likewise.", Shape::Text(&REDIS_KEY))
            .example("\"lock:stock:{product}\""),
    ],
};

pub static PAYMENTS: Table = Table {
    head: "[payments]",
    noun: "a payment provider",
    fields: &[
        Field::new(
            "url",
            "The provider of an attached target. `${NAME}` takes from the environment.",
            Shape::Secret(&HTTP_URL),
        )
        .required("\"http://127.0.0.1:9090\""),
        Field::new(
            "proxy",
            "Where a proxy to it listens while the run lasts, for the target to connect to.",
            Shape::Text(&LISTEN_ADDRESS),
        )
        .required("\"127.0.0.1:19090\""),
    ],
};

pub static WIRES: Table = Table {
    head: "[wires]",
    noun: "the wires",
    fields: &[
        Field::new(
            "roles",
            "What a step is for, by its name, where that isn't seen from what it does.",
            Shape::Map { names: &STEP_NAME, values: &Shape::Word(&ROLES) },
        )
        .default("{}")
        .example("{ \"redis SET lease:stock\" = \"lock\" }"),
        Field::new(
            "listen-on",
            "Addresses beside loopback on which proxies may listen. Whoever reaches a proxy \
             reaches the server behind it.",
            Shape::List { items: &Shape::Text(&HOST), at_least: 0 },
        )
        .default("[]")
        .example("[\"172.17.0.1\"]"),
    ],
};
