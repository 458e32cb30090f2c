//! `[target]`, `[postgres]`, `[actor]`, `[setup]` and `[teardown]`: what is drilled, and as whom.

use super::super::rules::{
    ANY, ENV_NAME, HTTP_URL, LINE, LISTEN_ADDRESS, POINTER, POSTGRES_URL, REQUEST_NAME, SQL,
    URL_PATH,
};
use super::super::shape::{Field, Shape, Table};
use super::WAIT;

pub static TARGET: Table = Table {
    head: "[target]",
    noun: "the target",
    fields: &[
        Field::new(
            "urls",
            "A service that runs already: the URL of each instance, perhaps with a base path. \
             `${NAME}` takes from the environment.",
            Shape::List { items: &Shape::Secret(&HTTP_URL), at_least: 1 },
        )
        .alternative("[\"http://127.0.0.1:8080\", \"http://127.0.0.1:8081\"]"),
        Field::new(
            "launch",
            "A command of yours, started with a private PostgreSQL and Redis.",
            Shape::Table(&LAUNCH),
        )
        .alternative("{ command = [\"node\", \"server.js\"], env = { PORT = \"{port}\" } }"),
        Field::new(
            "ready",
            "The path that answers 2xx when an instance of `urls` is ready. Left out: an instance \
             that takes connections is ready.",
            Shape::Text(&URL_PATH),
        )
        .example("\"/healthz\""),
    ],
};

static LAUNCH: Table = Table {
    head: "`target.launch`",
    noun: "a launched target",
    fields: &[
        Field::new(
            "command",
            "Program and arguments. `{port}`, `{postgres.url}` and `{redis.url}` are filled in.",
            Shape::List { items: &Shape::Text(&LINE), at_least: 1 },
        )
        .required("[\"node\", \"server.js\"]"),
        Field::new(
            "instances",
            "How many processes of it answer, each at a port of its own.",
            Shape::Count { min: 1, max: 16 },
        )
        .default("2"),
        Field::new(
            "env",
            "Its environment, filled in likewise; `${NAME}` takes from yours.",
            Shape::Map { names: &ENV_NAME, values: &Shape::Secret(&ANY) },
        )
        .default("{}")
        .example("{ DATABASE_URL = \"{postgres.url}\", PORT = \"{port}\" }"),
        Field::new(
            "folder",
            "The folder in which it runs. Left out: the profile's.",
            Shape::Text(&LINE),
        )
        .example("\"../server\""),
        Field::new(
            "ready",
            "The path that answers 2xx when an instance is ready, or `port`: ready when it takes \
             connections.",
            Shape::WordOr {
                words: &["port"],
                or: &Shape::Text(&URL_PATH),
                wanted: "a path, or `port`",
            },
        )
        .default("\"/healthz\""),
        Field::new("ready-within", "How long an instance may take to become ready.", WAIT)
            .default("\"30s\""),
        Field::new(
            "proxies",
            "Whether each instance reaches PostgreSQL and Redis through proxies of its own, which \
             pass everything on and tell what they saw.",
            Shape::Flag,
        )
        .default("true"),
    ],
};

pub static POSTGRES: Table = Table {
    head: "[postgres]",
    noun: "the audited database",
    fields: &[
        Field::new(
            "url",
            "The database of an attached target, which the audit reads. Its password comes from \
             the environment.",
            Shape::Secret(&POSTGRES_URL),
        )
        .required("\"postgres://auditor@127.0.0.1/orders\""),
        Field::new(
            "proxy",
            "Where a proxy to it listens while the run lasts, for the target to connect to. Left \
             out: there is none.",
            Shape::Text(&LISTEN_ADDRESS),
        )
        .example("\"127.0.0.1:16432\""),
    ],
};

pub static ACTOR: Table = Table {
    head: "[actor]",
    noun: "the actor",
    fields: &[
        Field::new("login", "Logs a user in before its first request.", Shape::Table(&LOGIN))
            .example("{ request = \"login\", token-at = \"/token\" }"),
        Field::new(
            "users",
            "Users that exist already, in place of made-up ones.",
            Shape::List { items: &Shape::Secret(&LINE), at_least: 1 },
        )
        .example("[\"alice\", \"bob\"]"),
        Field::new(
            "products",
            "Products that exist already, in place of made-up ones.",
            Shape::List { items: &Shape::Count { min: 0, max: i64::MAX as u64 }, at_least: 1 },
        )
        .example("[1001, 1002]"),
    ],
};

static LOGIN: Table = Table {
    head: "`actor.login`",
    noun: "a login",
    fields: &[
        Field::new("request", "Which `[request.NAME]` logs in.", Shape::Text(&REQUEST_NAME))
            .required("\"login\""),
        Field::new(
            "token-at",
            "Where in its answer the token is that `{token}` holds afterwards. Left out: its \
             cookies are kept.",
            Shape::Text(&POINTER),
        )
        .example("\"/token\""),
    ],
};

const STATEMENTS: Shape = Shape::List { items: &Shape::Text(&SQL), at_least: 1 };

pub static SETUP: Table = Table {
    head: "[setup]",
    noun: "the setup",
    fields: &[Field::new(
        "sql",
        "Statements that are run in order before the baseline, each in a transaction of its own. \
         `{users}` and `{products}` become array literals of the run's.",
        STATEMENTS,
    )
    .required("[\"INSERT INTO products SELECT unnest('{products}'::bigint[])\"]")],
};

pub static TEARDOWN: Table = Table {
    head: "[teardown]",
    noun: "the teardown",
    fields: &[Field::new(
        "sql",
        "Statements that are run in order after the audit, each in a transaction of its own. \
         `{users}` and `{products}` become array literals of the run's.",
        STATEMENTS,
    )
    .required("[\"DELETE FROM orders WHERE user_id = ANY ('{users}')\"]")],
};
