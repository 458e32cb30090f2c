//! What finds a code: the load that brings it out, and the statement that reads it.
//!
//! Beside the registry, in the order of the catalogue: a table that can be read from top to bottom
//! shows at once which load finds what, and a test holds it to be complete.

use super::Code;

const ORDERS: &str = include_str!("../observe/sql/orders.sql");
const STOCK: &str = include_str!("../observe/sql/stock.sql");
const CONSTRAINTS: &str = include_str!("../observe/sql/constraints.sql");
const ORDERS_AND_STOCK: &str = concat!(
    include_str!("../observe/sql/orders.sql"),
    "\n",
    include_str!("../observe/sql/stock.sql")
);
const DRAIN: &str = concat!(
    include_str!("../observe/sql/activity.sql"),
    "\n",
    include_str!("../observe/sql/prepared_transactions.sql")
);

const EVERY_LOAD: &str = "Every load.";
const CONCURRENT: &str = "Every concurrent burst.";
const SINGLE: &str = "Every load with proxies that has requests of their own: `burst.sequential`, replays, fresh keys.";
const EVERY_RUN: &str = "Every run.";

/// Id, what finds it, and the statement that reads it.
type Row = (&'static str, &'static str, Option<&'static str>);

#[rustfmt::skip]
const TABLE: &[Row] = &[
    ("I01", "`burst.last-unit`: more buyers than units.", Some(STOCK)),
    ("I02", "`burst.same-key`, `burst.submit-token`; with the record away or late also `burst.sequential`.", Some(ORDERS)),
    ("I03", "`burst.last-unit`, and any burst of many users at few products.", Some(ORDERS_AND_STOCK)),
    ("I03b", "Every load, where `[audit] movements` names a ledger.", None),
    ("I03c", "Every load: what was acknowledged against what was sold.", Some(ORDERS)),
    ("I04", "Every load, where `[audit] movements` names a ledger.", None),
    ("I05", "Every load; `burst.mutated` for orders that are overwritten.", Some(ORDERS)),
    ("I06", "`burst.same-key`, and `burst.sequential` for replays that come later.", None),
    ("I07", "`burst.mutated` and `burst.mixed`; `burst.same-fingerprint` for mismatches that aren't.", Some(ORDERS)),
    ("I08", "`burst.same-key` and `burst.sequential`: duplicates of what is done already.", None),
    ("I08b", "`burst.last-unit`: buyers who are refused.", Some(ORDERS)),
    ("I09", "`burst.shared-key`: one key string, several users.", Some(ORDERS)),
    ("I10", "`burst.race` of pay and close, together and `in-turn`.", Some(ORDERS)),
    ("I11", "Every phase with a fault, by asking again until there is a definite answer.", None),
    ("I13", EVERY_LOAD, Some(ORDERS)),
    ("I14", "`burst.race` of pays at one order, with `[lab.payments]` that loses replies.", None),
    ("I16", "`burst.fresh-key`: one body, several keys.", Some(ORDERS)),
    ("I17", "Loads with proxies at a shop with fences: a hold that outlasts a lease, a Redis that forgets.", Some(STOCK)),
    ("I18", "`burst.mutated`, `burst.bad-keys` and `burst.last-unit`: attempts that are refused.", Some(ORDERS)),
    ("I21", "`burst.same-key`: duplicates that wait, and answers that they get meanwhile.", None),
    ("I22", "`burst.same-key` with the first COMMIT held, above read committed.", None),
    ("I23", "`burst.sequential` past the life of the record.", Some(ORDERS)),
    ("I24", "Faults that take Redis away: `partition`, `black-hole`, `fail`, `swap-upstream`.", None),
    ("I25", "`burst.race` and `burst.last-unit`: reasons that don't fit the state; any reply that can't be read.", Some(ORDERS)),
    ("I26", "`burst.bad-keys`.", None),
    ("I27", EVERY_LOAD, None),
    ("I29", "Every concurrent load with proxies; a lease that ends while its holder is slow.", None),
    ("L1", SINGLE, None),
    ("L2", SINGLE, None),
    ("L3", SINGLE, None),
    ("L4", SINGLE, None),
    ("L5", "Every load with proxies, from two requests on.", None),
    ("L6", "Every load with proxies in which a request outlasts the first renewal.", None),
    ("L7", "Every load with proxies in which a request outlasts its lease.", None),
    ("L8", SINGLE, None),
    ("L9", "Every load with proxies: `burst.sequential` for orders, `burst.race` `in-turn` for their status.", None),
    ("L10", "Every run, from the schema alone.", Some(CONSTRAINTS)),
    ("L11", "`drop-reply`, `drop-request`, `reset` or `fail` at the step that unlocks.", None),
    ("L12", "A `hold` at COMMIT or at a payment, with requests for other products beside it.", None),
    ("U01", "Every run: it is a query of yours, in `[[audit.sql]]`.", None),
    ("R1", "`burst.same-key` and its kin.", None),
    ("R2", "`burst.mutated` and `burst.mixed`.", None),
    ("R3", "`burst.same-fingerprint`, `burst.sequential`, and the retries of every load.", None),
    ("R4", "`burst.same-fingerprint` and `burst.sequential` with `vary`.", None),
    ("R5", "`burst.same-key`, and the resolver of every run.", None),
    ("R6", "Every load, where the contract has a `replay-marker`.", None),
    ("R7", "Nothing: it is a licence.", None),
    ("R8", EVERY_LOAD, None),
    ("G1", CONCURRENT, None),
    ("G2", "Every phase with a fault.", None),
    ("G3", EVERY_LOAD, None),
    ("G4", EVERY_RUN, Some(DRAIN)),
    ("G5", "`burst.same-fingerprint`, `burst.mutated` and `burst.mixed`.", None),
    ("G6", "Every phase in which a lease has to expire.", None),
    ("G7", EVERY_RUN, Some(CONSTRAINTS)),
    ("G8", EVERY_RUN, None),
    ("G9", EVERY_RUN, None),
    ("G10", EVERY_RUN, None),
    ("G11", EVERY_RUN, None),
    ("G12", "Every phase that asks for one thing twice: `burst.same-key` and its kin, `burst.sequential`, `rate` with a `duplicate-share`.", None),
    ("G13", "Every run with proxies.", None),
];

impl Code {
    /// What brings it out, in a sentence.
    pub fn found_by(&self) -> &'static str {
        match self.id.as_bytes().first() {
            Some(b'C') => "Every command that reads a profile, before anything is started.",
            Some(b'E') => "Every command that needs what is missing.",
            _ => self.row().map_or("", |(_, found_by, _)| found_by),
        }
    }

    /// The statement that reads what it is judged by, if there is one. Names in braces are the
    /// profile's tables and columns.
    pub fn sql(&self) -> Option<&'static str> {
        self.row().and_then(|(_, _, sql)| *sql)
    }

    fn row(&self) -> Option<&'static Row> {
        TABLE.iter().find(|(id, ..)| *id == self.id)
    }
}
