//! Lint (L..): what the schema or the wire shows to be weak, whether anything broke or not.
//!
//! Protected, until a witness raises it under the id of what it broke.

use super::{Code, Severity};

pub static L1: Code = Code {
    id: "L1",
    slug: "unlock-after-commit",
    title: "locks enclose the commit",
    severity: Some(Severity::Protected),
    what: "The lock was released while its holder's transaction was still open. Until COMMIT is over nobody sees \
           what was written, and the next holder writes it again.",
    checked: "Steps of a request that was alone with its intent: the release was passed on before the reply to the \
              COMMIT of a transaction that was begun, or wrote something, under that lease.",
    causes: &[
        "the lock is released in the function that the transaction calls (D01)",
        "a lock annotation inside of a transaction annotation",
        "the release stands in a `finally` within the transaction",
    ],
    cure: "Release the lock once COMMIT has been answered, whether it succeeded or not.",
};

pub static L2: Code = Code {
    id: "L2",
    slug: "unlock-by-token",
    title: "locks are removed by token",
    severity: Some(Severity::Protected),
    what: "A lock was removed by its name alone. After an expiry that name is the next holder's, and the DEL \
           lets a third one in beside it.",
    checked: "Steps of a request that was alone with its intent: DEL or UNLINK of a key that it got as a lock, not \
              in a MULTI.",
    causes: &[
        "whoever unlocks is thought to be the holder (D02)",
        "a client library's plain lock helper",
    ],
    cure: "Compare and delete in one script: `if redis.call('GET', KEYS[1]) == ARGV[1] then return \
           redis.call('DEL', KEYS[1]) end`.",
};

pub static L3: Code = Code {
    id: "L3",
    slug: "unlock-in-one-step",
    title: "locks are removed in one step",
    severity: Some(Severity::Protected),
    what: "A lock's holder was asked for by GET, and the lock then removed by DEL. Between the two it may expire \
           and become another's.",
    checked: "Steps of a request that was alone with its intent: GET and then DEL or UNLINK of a key that it got as a \
              lock.",
    causes: &["the token is compared in the service and not in Redis (D03)"],
    cure: "Compare and delete in one script.",
};

pub static L4: Code = Code {
    id: "L4",
    slug: "lock-with-its-end",
    title: "locks are taken with their end",
    severity: Some(Severity::Protected),
    what: "A lock was taken by one command and given its end by a second. Whoever dies in between leaves a lock \
           that never ends.",
    checked: "Steps of a request that was alone with its intent: SETNX, or SET NX without PX or EX, and then PEXPIRE \
              or EXPIRE of the same key.",
    causes: &["code from before SET could do both (D04)"],
    cure: "`SET key token NX PX ttl`.",
};

pub static L5: Code = Code {
    id: "L5",
    slug: "fresh-token",
    title: "every grant has its own token",
    severity: Some(Severity::Protected),
    what: "Two requests took a lock with the same token. A release that compares it finds it equal, and removes \
           the other one's lease.",
    checked: "All steps that took a lock: equal tokens of two requests that are certainly two.",
    causes: &[
        "a constant, such as `1` or `locked` (D06)",
        "the name of the host or of the thread for a token",
    ],
    cure: "Draw a fresh random token for every grant.",
};

pub static L6: Code = Code {
    id: "L6",
    slug: "renewal-by-token",
    title: "leases are renewed by token",
    severity: Some(Severity::Protected),
    what: "A lease was prolonged by its name alone. If it had become another's, the new holder's lease is \
           prolonged instead, and the old one believes that it still holds it.",
    checked: "Steps of a request that was alone with its intent: PEXPIRE, EXPIRE or another renewal without \
              a comparison, of a key that it got as a lock; not the command that gives it its first end.",
    causes: &["a watchdog that calls PEXPIRE (D07)"],
    cure: "Renew in a script that compares the token first, and stop working when it says no.",
};

pub static L7: Code = Code {
    id: "L7",
    slug: "writes-within-lease",
    title: "holders stop with their lease",
    severity: Some(Severity::Protected),
    what: "A holder wrote, or committed, although its lease had ended. By then the lock may be another's, and two \
           are at work on one thing.",
    checked: "Steps of a request that was alone with its intent: stock, order or COMMIT sent later than a term after \
              the reply to its grant and to its last renewal. Not judged where a renewal wasn't answered, or \
              could have gone unseen.",
    causes: &[
        "a term shorter than the slowest work (D08)",
        "the failure of a renewal is ignored (D09)",
        "a pause after the last look at the lease",
    ],
    cure: "Renew the lease while you work; ask for it before each side effect; let the write check a fence.",
};

pub static L8: Code = Code {
    id: "L8",
    slug: "no-lost-update",
    title: "no stale read is written back",
    severity: Some(Severity::Protected),
    what: "A value was read without a lock, and one computed from it written back without a condition. Whatever \
           others wrote in between is lost.",
    checked: "Statements of a request that was alone with its intent: a SELECT that locks nothing shows a column, \
              and a later UPDATE sets it to a parameter or a number. Sound are a condition on the column \
              or on a version, a row locked before in the same transaction, and repeatable read.",
    causes: &[
        "stock is computed in the service (D29)",
        "an object mapper that writes back whole rows, without a version column",
    ],
    cure: "`SET available = available - $1 WHERE ... AND available >= $1`, or name the version that was read.",
};

pub static L9: Code = Code {
    id: "L9",
    slug: "rows-are-kept",
    title: "row locks and states are kept",
    severity: Some(Severity::Protected),
    what: "A row was locked outside of any transaction, so that it was free again at once; or an order's status was \
           set whatever it was by then.",
    checked: "Statements of a request that was alone with its intent: SELECT ... FOR UPDATE after which PostgreSQL \
              says that no transaction is open; an UPDATE of the order's status whose WHERE names neither it \
              nor a version, unless the row is the transaction's own or was locked in it.",
    causes: &["autocommit is on (D35)", "the status is checked by a SELECT of its own (D64)"],
    cure: "Put the SELECT and what follows into one transaction; add `AND status = 'CREATED'` and look at the row \
           count.",
};

pub static L10: Code = Code {
    id: "L10",
    slug: "schema-has-the-last-word",
    title: "the schema is a last defence",
    severity: Some(Severity::Protected),
    what: "The database itself would accept a second order for one key, or a negative stock. All is \
           well as long as everything before it holds; the database is the last line of defence, and \
           it isn't there.",
    checked: "Unique indexes of the orders table over the columns that make an order unique: a whole \
              one, none of whose columns may be NULL (where requests without a key are rejected). A \
              check constraint on the stock's `available`.",
    causes: &[
        "no unique index over user and key",
        "an index with a WHERE clause, such as `WHERE deleted_at IS NULL`: rows escape it",
        "a key column that may be NULL: a unique index lets any number of NULLs in",
        "no `CHECK (available >= 0)`",
    ],
    cure: "ALTER TABLE ... ALTER COLUMN ... SET NOT NULL; CREATE UNIQUE INDEX CONCURRENTLY over the \
           columns that the finding names; ADD CHECK (available >= 0) NOT VALID, then VALIDATE.",
};

pub static L11: Code = Code {
    id: "L11",
    slug: "unlock-is-retried",
    title: "a lost unlock is tried again",
    severity: Some(Severity::Efficiency),
    what: "An unlock got no answer, and nobody asked again. If its request was lost, the lease stands until \
           it runs out, and everybody who wants what it protects waits for nothing.",
    checked: "Unlocks by token that a fault dropped, or kept the reply of, where the client was cut off: no \
              later unlock of the key with the same token. Not judged where Redis was away, an instance \
              ended, or steps are missing.",
    causes: &["an error of the unlock is logged and swallowed (D15)"],
    cure: "Ask again with the same token, for no longer than the lease lives; a script that compares the token \
           makes that safe.",
};

pub static L12: Code = Code {
    id: "L12",
    slug: "strangers-do-not-wait",
    title: "strangers don't wait",
    severity: Some(Severity::Efficiency),
    what: "A request waited until another one was over with which it shares neither user nor key nor product. \
           One slow request then slows everybody.",
    checked: "While a fault held a request at COMMIT: requests of other intents, other users and other \
              products that were answered only after the hold, and of which the wires show a statement that \
              was answered behind it, or a lock that the held one had. While it held a payment: statements \
              of any other request.",
    causes: &[
        "one lock for all products (D10)",
        "a provider is called from within a transaction (D36)",
        "a pool of connections that is too small",
    ],
    cure: "Name in a lock's key what it protects; call nobody from within a transaction.",
};

/// All of them.
pub static LINTS: [&Code; 12] = [&L1, &L2, &L3, &L4, &L5, &L6, &L7, &L8, &L9, &L10, &L11, &L12];
