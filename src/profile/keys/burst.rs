//! The kinds of bursts. A new kind is a key of `burst` and a table here.
//!
//! What concurrent kinds share stands once, in `crowd!`, and each kind adds its own keys in front.

use std::time::Duration;

use super::super::burst::{Release, Vary};
use super::super::rules::{POINTER, REQUEST_NAME};
use super::super::shape::{Field, Shape, Table};
use super::WAIT;

const ATTEMPTS: Shape = Shape::Count { min: 1, max: 50_000 };

const fn users(doc: &'static str) -> Field {
    Field::new("users", doc, ATTEMPTS).required("200")
}

const fn threads(doc: &'static str) -> Field {
    Field::new("threads", doc, ATTEMPTS).required("20")
}

const fn share(name: &'static str, doc: &'static str, default: &'static str) -> Field {
    Field::new(name, doc, Shape::Share).default(default)
}

const fn named(name: &'static str, doc: &'static str) -> Field {
    Field::new(name, doc, Shape::Text(&REQUEST_NAME))
}

const QUANTITY: Field =
    Field::new("quantity", "Units in each order.", Shape::Count { min: 1, max: 1_000_000 })
        .default("1");

const REQUEST: Field =
    named("request", "Which `[request.NAME]` is sent. Left out: the first.").example("\"place\"");

const RELEASE: Field = Field::new(
    "release",
    "How the last bytes leave: to a target that is stopped and then resumed, or in one loop while \
     it runs. Left out: `frozen`, but `loop` for an attached target and for attempts that don't \
     leave at once.",
    Shape::Word(&[Release::Frozen.word(), Release::Loop.word()]),
)
.example("\"frozen\"");

const ARRIVAL: Field = Field::new(
    "arrival",
    "When the attempts of one key leave: in one instant, one after the other (see `stagger`), \
     spread over the time that the first one takes, or at the moment when it completes.",
    Shape::Word(&["at-once", "staggered", "spread", "around-completion"]),
)
.example("\"at-once\"");

const STAGGER: Field = Field::new(
    "stagger",
    "The attempts of one key leave one after the other, this far apart.",
    Shape::Duration { min: Duration::from_micros(1), max: Duration::from_secs(3_600) },
)
.example("\"4ms\"");

const OVERLAP_SHARE: Field = share(
    "overlap-share",
    "The share of contended things (keys, entities, products) whose attempts must overlap, or the \
     run is inconclusive (G1).",
    "0.5",
);

const STOCK: Field = Field::new(
    "stock",
    "Units on the shelf, fewer than the buyers want.",
    Shape::Count { min: 0, max: 1_000_000_000 },
)
.required("5");

/// The keys of a concurrent kind: its own, then the shared ones.
macro_rules! crowd {
    ($($own:expr),+ $(,)?) => {
        &[$($own,)+ QUANTITY, REQUEST, RELEASE, ARRIVAL, STAGGER, OVERLAP_SHARE]
    };
}

const fn kind(name: &'static str, doc: &'static str, table: &'static Table) -> Field {
    Field::new(name, doc, Shape::Table(table))
}

pub static BURST: Table = Table {
    head: "`burst`",
    noun: "a burst",
    fields: &[
        kind(
            "same-key",
            "Identical bytes: `threads` attempts for each of `users` intents.",
            &SAME_KEY,
        )
        .alternative("{ users = 200, threads = 20 }"),
        kind(
            "same-fingerprint",
            "One key and one intent, other bytes in every attempt: key order, white space, \
             escapes, ignored fields.",
            &SAME_FINGERPRINT,
        )
        .alternative("{ users = 200, threads = 20 }"),
        kind("mutated", "One key, and a changed intent in a share of the attempts.", &MUTATED)
            .alternative("{ users = 200, threads = 20, mutated-share = 0.5 }"),
        kind(
            "fresh-key",
            "One body and `threads` keys for each user: as many orders as keys.",
            &FRESH_KEY,
        )
        .alternative("{ users = 50, threads = 4 }"),
        kind(
            "shared-key",
            "One key string for several users at a time: as many results as users.",
            &SHARED_KEY,
        )
        .alternative("{ users = 100, sharing = 10 }"),
        kind("last-unit", "More buyers than units of one product.", &LAST_UNIT)
            .alternative("{ users = 100, stock = 5 }"),
        kind("race", "Several requests at one entity, such as pay and close at one order.", &RACE)
            .alternative("{ users = 100, first = \"place\", requests = [\"pay\", \"close\"] }"),
        kind(
            "submit-token",
            "A token from the target for each user, then `threads` attempts with it.",
            &SUBMIT_TOKEN,
        )
        .alternative("{ users = 100, threads = 5, token = \"token\" }"),
        kind(
            "mixed",
            "Every attempt draws what it does: the same bytes, a variant, a changed intent, a \
             fresh key.",
            &MIXED,
        )
        .alternative("{ users = 100, threads = 10, variant-share = 0.3, fresh-share = 0.1 }"),
        kind(
            "sequential",
            "One attempt after the other, each sent when the one before has been answered.",
            &SEQUENTIAL,
        )
        .alternative("{ users = 50, repeats = 2 }"),
        kind(
            "bad-keys",
            "Requests without a key, and with keys that the contract forbids.",
            &BAD_KEYS,
        )
        .alternative("{ users = 1 }"),
    ],
};

const INTENTS: &str = "How many intents, each of a user of its own.";

static SAME_KEY: Table = Table {
    head: "`burst.same-key`",
    noun: "a burst with the same key",
    fields: crowd![users(INTENTS), threads("How many attempts for each of them.")],
};

static SAME_FINGERPRINT: Table = Table {
    head: "`burst.same-fingerprint`",
    noun: "a burst with the same fingerprint",
    fields: crowd![users(INTENTS), threads("How many attempts for each of them, no two alike.")],
};

static MUTATED: Table = Table {
    head: "`burst.mutated`",
    noun: "a burst with changed intents",
    fields: crowd![
        users("How many keys, each of a user of its own."),
        threads("How many attempts with each key."),
        share(
            "mutated-share",
            "The share of the attempts of each key whose intent is changed, as the request's \
             `mutate` says; at least one attempt of each kind.",
            "0.5",
        ),
        Field::new(
            "again",
            "Attempts of each kind, original and changed, once all have been answered.",
            Shape::Count { min: 0, max: 100 },
        )
        .default("2"),
    ],
};

static FRESH_KEY: Table = Table {
    head: "`burst.fresh-key`",
    noun: "a burst with fresh keys",
    fields: crowd![
        users("How many users."),
        threads("How many keys for each of them, all with one body.")
    ],
};

static SHARED_KEY: Table = Table {
    head: "`burst.shared-key`",
    noun: "a burst with shared keys",
    fields: crowd![
        users("How many users."),
        threads("How many attempts of each of them.").default("1"),
        Field::new("sharing", "How many users share one key string.", ATTEMPTS).default("10"),
    ],
};

static LAST_UNIT: Table = Table {
    head: "`burst.last-unit`",
    noun: "a burst for the last unit",
    fields: crowd![
        users("How many buyers of one product, each with a key of its own."),
        threads("How many attempts of each of them.").default("1"),
        STOCK,
    ],
};

static RACE: Table = Table {
    head: "`burst.race`",
    noun: "a race",
    fields: crowd![
        users("How many entities, such as orders."),
        threads("How many attempts of each of the requests at each entity.").default("1"),
        named(
            "first",
            "The request that makes an entity, sent once for each. Left out: the first."
        )
        .example("\"place\""),
        Field::new(
            "requests",
            "The requests that race at each entity; `{order}` in them is its id. One alone races against \
             itself, with two `threads` or more.",
            Shape::List { items: &Shape::Text(&REQUEST_NAME), at_least: 1 },
        )
        .required("[\"pay\", \"close\"]"),
        Field::new(
            "in-turn",
            "One after the other in the order of the list, instead of together.",
            Shape::Flag,
        )
        .default("false"),
    ],
};

static SUBMIT_TOKEN: Table = Table {
    head: "`burst.submit-token`",
    noun: "a burst with submit tokens",
    fields: crowd![
        users("How many tokens, each of a user of its own."),
        threads("How many attempts with each token."),
        named("token", "The request that issues a token; `{token}` holds it afterwards.")
            .required("\"token\""),
        Field::new("token-at", "Where in its answer the token is.", Shape::Text(&POINTER))
            .default("\"/token\""),
    ],
};

static MIXED: Table = Table {
    head: "`burst.mixed`",
    noun: "a mixed burst",
    fields: crowd![
        users(INTENTS),
        threads("How many attempts for each of them."),
        share("variant-share", "The share with other bytes and the same intent.", "0.0"),
        share("mutated-share", "The share with a changed intent.", "0.0"),
        share("fresh-share", "The share with a key of their own.", "0.0"),
    ],
};

static SEQUENTIAL: Table = Table {
    head: "`burst.sequential`",
    noun: "a sequence",
    fields: &[
        users("How many intents, each of a user of its own."),
        Field::new("repeats", "Attempts after the first.", Shape::Count { min: 1, max: 10_000 })
            .default("2"),
        Field::new(
            "vary",
            "What differs in the repeats without changing the intent: the body's bytes, headers \
             that don't belong to the intent.",
            Shape::List {
                items: &Shape::Word(&[Vary::Body.word(), Vary::Headers.word()]),
                at_least: 0,
            },
        )
        .default("[]")
        .example("[\"body\", \"headers\"]"),
        named("route", "Another request that takes turns with the first in the repeats.")
            .example("\"place-v2\""),
        QUANTITY,
        REQUEST,
    ],
};

static BAD_KEYS: Table = Table {
    head: "`burst.bad-keys`",
    noun: "a burst with bad keys",
    fields: &[
        Field::new("users", "How many users for each form of bad key.", ATTEMPTS).default("1"),
        QUANTITY,
        REQUEST,
    ],
};

pub static RATE: Table = Table {
    head: "`rate`",
    noun: "steady load",
    fields: &[
        Field::new(
            "per-second",
            "Attempts a second; latency counts from the moment that is planned for each.",
            Shape::Count { min: 1, max: 100_000 },
        )
        .required("200"),
        Field::new("for", "For how long.", WAIT).required("\"30s\""),
        share("duplicate-share", "The share of the attempts that repeat an earlier intent.", "0.3"),
        QUANTITY,
        REQUEST,
    ],
};
