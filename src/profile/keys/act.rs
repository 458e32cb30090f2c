//! `do` of a fault: one act is one table. A new act is a key of `ACT` and a table here.

use super::super::failure::{REDIS_ERROR, SQLSTATE};
use super::super::rules::LINE;
use super::super::shape::{Field, Shape, Table};
use super::WAIT;

const fn act(name: &'static str, doc: &'static str, table: &'static Table) -> Field {
    Field::new(name, doc, Shape::Table(table))
}

const DROP_REQUEST: Field =
    act("drop-request", "The request never reaches the server.", &DROPPED_REQUEST)
        .alternative("drop-request = { then = \"reset\" }");
const DROP_REPLY: Field =
    act("drop-reply", "The server has done it, and the client never hears of it.", &DROPPED_REPLY)
        .alternative("drop-reply = { then = \"stall\" }");
const DELAY: Field = act("delay", "The step takes so much longer.", &DELAYED)
    .alternative("delay = { for = \"600ms\" }");
const RESET: Field =
    act("reset", "Both ends of the connection are reset.", &RESETTING).alternative("reset = {}");
const FAIL: Field =
    act("fail", "The server doesn't do it, and the client is given this error.", &FAILED)
        .alternative("fail = { sqlstate = \"40001\" }");
const BLACK_HOLE: Field = act(
    "black-hole",
    "Nothing passes on this connection any more, in either direction, until the fault is healed.",
    &SWALLOWED,
)
.alternative("black-hole = {}");

pub static ACT: Table = Table {
    head: "`do`",
    noun: "an act",
    fields: &[
        act("hold", "The step waits until something has happened.", &HOLD)
            .alternative("hold = { until = \"others\", limit = \"5s\" }"),
        DROP_REQUEST,
        DROP_REPLY,
        DELAY,
        RESET,
        FAIL,
        BLACK_HOLE,
        act("partition", "Instances are cut off from a server.", &PARTITION)
            .alternative("partition = { wire = \"redis\", how = \"refuse\", for = \"2s\" }"),
        act(
            "swap-upstream",
            "The server is another, empty one from now on, as after a failover that lost everything.",
            &SWAP,
        )
        .alternative("swap-upstream = { wire = \"redis\" }"),
        act(
            "expire",
            "Time passes for keys of the step's intent, while the step is held.",
            &EXPIRE,
        )
        .alternative("expire = { what = \"lease\" }"),
        act(
            "take-lease",
            "The lease of each intent of the phase is taken by somebody else.",
            &TAKE_LEASE,
        )
        .alternative("take-lease = { for = \"5s\" }"),
    ],
};

/// What needs nothing but a proxy.
pub static RULE_ACT: Table = Table {
    head: "`do` of a rule",
    noun: "a rule's act",
    fields: &[
        act("hold", "The step waits.", &RULE_HOLD).alternative("hold = { limit = \"5s\" }"),
        DROP_REQUEST,
        DROP_REPLY,
        DELAY,
        RESET,
        FAIL,
        BLACK_HOLE,
        act("partition", "The server can't be reached.", &RULE_PARTITION)
            .alternative("partition = { wire = \"redis\", how = \"refuse\", for = \"2s\" }"),
    ],
};

const UNTIL: Field = Field::new(
    "until",
    "What ends the hold: every other attempt of the same intent or product has its answer or is blocked \
     (`others`), somebody else holds the lease under which the step is done (`taken-over`), that lease \
     is gone (`lease-over`), or nothing but its limit.",
    Shape::Word(&["others", "taken-over", "lease-over", "limit"]),
)
.default("\"others\"");
const LIMIT: Field =
    Field::new("limit", "The hold ends then at the latest.", WAIT).default("\"5s\"");

static HOLD: Table = Table { head: "`do.hold`", noun: "a hold", fields: &[UNTIL, LIMIT] };

static RULE_HOLD: Table = Table {
    head: "`do.hold` of a rule",
    noun: "a rule's hold",
    fields: &[
        Field::new(
            "until",
            "What ends the hold: its limit, since proxies alone know no others.",
            Shape::Word(&["limit"]),
        )
        .default("\"limit\""),
        LIMIT,
    ],
};

const THEN: &[Field] = &[Field::new(
    "then",
    "How the connection ends: in order, by a reset, or not at all until the fault is healed, and by a \
     reset then.",
    Shape::Word(&["close", "reset", "stall"]),
)
.default("\"close\"")];

static DROPPED_REQUEST: Table =
    Table { head: "`do.drop-request`", noun: "a dropped request", fields: THEN };

static DROPPED_REPLY: Table =
    Table { head: "`do.drop-reply`", noun: "a dropped reply", fields: THEN };

static DELAYED: Table = Table {
    head: "`do.delay`",
    noun: "a delay",
    fields: &[Field::new("for", "For so long.", WAIT).required("\"600ms\"")],
};

static RESETTING: Table = Table { head: "`do.reset`", noun: "a reset", fields: &[] };

static SWALLOWED: Table = Table { head: "`do.black-hole`", noun: "a black hole", fields: &[] };

static FAILED: Table = Table {
    head: "`do.fail`",
    noun: "a failure",
    fields: &[
        Field::new(
            "sqlstate",
            "An error of PostgreSQL. Those of class 57P are FATAL and end the connection.",
            Shape::Text(&SQLSTATE),
        )
        .alternative("\"40001\""),
        Field::new("redis", "An error of Redis, without its minus.", Shape::Text(&REDIS_ERROR))
            .alternative("\"READONLY You can't write against a read only replica.\""),
        Field::new("status", "An HTTP status.", Shape::Count { min: 400, max: 599 })
            .alternative("503"),
        Field::new("message", "What PostgreSQL says about its error.", Shape::Text(&LINE))
            .default("\"injected by dupeproof\""),
    ],
};

const WIRE: Field =
    Field::new("wire", "From which server.", Shape::Word(&["redis", "postgres", "http"]))
        .required("\"redis\"");
const HOW: Field = Field::new(
    "how",
    "Open connections are reset and new ones refused, or nothing passes and nothing ends.",
    Shape::Word(&["refuse", "black-hole"]),
)
.required("\"refuse\"");
const FOR: Field = Field::new("for", "Healed after that. Left out: when the phase is over.", WAIT)
    .example("\"2s\"");

static PARTITION: Table = Table {
    head: "`do.partition`",
    noun: "a partition",
    fields: &[
        WIRE,
        Field::new(
            "instance",
            "Which instance, counted from 0. Left out: all of them.",
            Shape::Count { min: 0, max: 15 },
        )
        .example("0"),
        HOW,
        FOR,
    ],
};

static RULE_PARTITION: Table = Table {
    head: "`do.partition` of a rule",
    noun: "a rule's partition",
    fields: &[WIRE, HOW, FOR],
};

static SWAP: Table = Table {
    head: "`do.swap-upstream`",
    noun: "a failover",
    fields: &[
        Field::new("wire", "Which server: Redis.", Shape::Word(&["redis"])).default("\"redis\"")
    ],
};

static EXPIRE: Table = Table {
    head: "`do.expire`",
    noun: "an end of time",
    fields: &[
        Field::new(
            "what",
            "Whose life is over: that of the intent's lease, or of its idempotency record; and with it \
             every key of the intent that lives no longer.",
            Shape::Word(&["lease", "record"]),
        )
        .default("\"lease\""),
        Field::new(
            "how",
            "The key is deleted, as if its time were over, or its time is waited for.",
            Shape::Word(&["delete", "wait"]),
        )
        .default("\"delete\""),
        Field::new(
            "replay",
            "Whether a phase whose keys were deleted is run once more with one user and time that \
             really passes: what it shows counts in full only then.",
            Shape::Flag,
        )
        .default("true"),
        UNTIL,
        LIMIT,
    ],
};

static TAKE_LEASE: Table = Table {
    head: "`do.take-lease`",
    noun: "a lease that is taken",
    fields: &[Field::new("for", "It is kept for so long.", WAIT).required("\"5s\"")],
};
