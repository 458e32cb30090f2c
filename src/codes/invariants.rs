//! Invariants of the data and of the replies (I..).
//!
//! Some are found by way of a history rule: R1 reports as I06, R2 and R4 as I07, R8 as I05. The rest
//! of the rules are findings of their own.

use super::{Code, Severity};

pub static I01: Code = Code {
    id: "I01",
    slug: "stock-not-negative",
    title: "no negative stock",
    severity: Some(Severity::Critical),
    what: "A product has fewer than zero units: more was sold than there was.",
    checked: "The stock of every product of the run, read before and after the repair.",
    causes: &[
        "the stock is read, checked in the program and written back without a condition",
        "the decrement has no `available >= quantity` in its WHERE clause, and the table no CHECK",
    ],
    cure: "Decrement with `UPDATE ... SET available = available - n WHERE available >= n`, act on a \
           row count of 0, and add `CHECK (available >= 0)`.",
};

pub static I02: Code = Code {
    id: "I02",
    slug: "one-order-per-key",
    title: "one order per key",
    severity: Some(Severity::Critical),
    what: "One intent became more than one valid order, or the business key that the contract \
           declares did. Customers are charged twice for one click.",
    checked: "Valid orders of the run are counted per user and key, or per declared business key. \
              Orders with an empty key or none count against the keys of their user, because a \
              unique index lets them through. Inserts that only a unique index stopped are counted \
              as protected.",
    causes: &[
        "a lock that is released before COMMIT: the next holder can't see the row yet",
        "check, then insert, with nothing in the database that refuses the second row",
        "a retry that starts over because the record of the first try was deleted or had expired",
        "a snapshot taken before the lock, at repeatable read",
        "a unique index that NULL keys or soft-deleted rows escape",
    ],
    cure: "Put a unique index over user and key (NOT NULL, not partial), insert with ON CONFLICT and \
           read the winner; release the lock after COMMIT. Then find out what the second order of \
           each listed key has already caused: payment, stock, parcel.",
};

pub static I03: Code = Code {
    id: "I03",
    slug: "stock-conserved",
    title: "stock matches orders",
    severity: Some(Severity::Critical),
    what: "What left the stock since the baseline isn't what the orders hold: units were sold that \
           never left the stock, or left it without an order.",
    checked: "Per product: stock at the baseline minus stock now, against the quantities of all \
              valid orders since the baseline, other people's included. Only on a drained database.",
    causes: &[
        "read-modify-write of the stock: two writers store the same result",
        "stock and order in two transactions, and a crash or an error in between",
        "an update that changed no row is taken for success",
        "a rejected or failed order keeps its units",
    ],
    cure: "Change stock and order in one transaction, with a conditional, relative decrement whose row \
           count must be 1. Before selling on, set the stock of the listed products right by hand.",
};

pub static I05: Code = Code {
    id: "I05",
    slug: "acknowledged-order-exists",
    title: "acknowledged orders exist",
    severity: Some(Severity::Critical),
    what: "The target acknowledged an order that isn't in the database, or is there with another \
           user, key, product or quantity. The customer has a promise, the warehouse has none.",
    checked: "The order id of every acknowledged reply is looked up among the rows of the run, and \
              the mapped columns are compared with what was asked for. A missing row counts only on \
              a drained database.",
    causes: &[
        "the answer, or the stored success, is sent before COMMIT",
        "an upsert that overwrites the first order",
        "an acknowledged order is rolled back or deleted by a later step",
    ],
    cure: "Answer and store the success only after COMMIT has returned; insert with ON CONFLICT DO \
           NOTHING instead of overwriting. Call the listed customers before they call you.",
};

pub static I06: Code = Code {
    id: "I06",
    slug: "replies-agree",
    title: "replays agree",
    severity: Some(Severity::Contract),
    what: "Two acknowledged replies to the same request differ. Two order ids mean that the client \
           holds two orders (critical); another status or body misleads whoever compares them.",
    checked: "All acknowledged replies of one intent: one order id always (rule R1); status and body \
              as the contract says. Unknown and pending attempts say nothing.",
    causes: &[
        "the request was executed twice (see I02)",
        "the first answer isn't stored and is built again from the current state",
        "a replay has a status of its own, which the contract doesn't know",
        "the body contains a time or an id that is made anew for each answer",
    ],
    cure: "Store status and body with the idempotency record and send exactly those again. If the \
           target means to differ, say so in the contract: `replay.statuses`, `replay.body`.",
};

pub static I07: Code = Code {
    id: "I07",
    slug: "one-fingerprint-per-key",
    title: "one meaning per key",
    severity: Some(Severity::Contract),
    what: "A key stands for one request. Here a changed request was accepted under a used key, or a \
           request was refused as changed although nobody had sent another one. A second order for \
           the changed request is critical.",
    checked: "Rule R2 (two fingerprints of one key acknowledged, or one acknowledged and another let \
              in) and rule R4 (a mismatch without a different request before it).",
    causes: &[
        "the fingerprint isn't compared, or not while the first request is in progress",
        "the fingerprint leaves out a field that matters, such as the quantity",
        "the fingerprint takes in the raw bytes or a field that may differ, such as a trace id",
        "ids above 2^53 are read as floating point numbers and become equal",
    ],
    cure: "Hash a canonical form of every field that changes the intent and of no other; store it with \
           the claim, and compare it before anything else, also while in progress.",
};

pub static I13: Code = Code {
    id: "I13",
    slug: "no-orphan-order",
    title: "no orphaned order",
    severity: Some(Severity::Critical),
    what: "There is an order with a user, a key or a product of this run that nobody asked for.",
    checked: "Every order since the baseline that names a user, key or product of the run must match \
              an attempt that was sent. Orders of other users under their own keys are left out.",
    causes: &[
        "user, key or product get mixed up between concurrent requests (shared state)",
        "the key is stored in another form than it was sent in, or for another user",
        "a background job creates orders by itself",
    ],
    cure: "Compare the listed rows with the requests of their user; look for request state that is \
           kept outside the request (a static field, a reused buffer, a thread-local).",
};

pub static I27: Code = Code {
    id: "I27",
    slug: "target-stays-up",
    title: "the target stays up",
    severity: Some(Severity::Contract),
    what: "An instance of the target ended, and dupeproof didn't end it.",
    checked: "Exits of the target's processes that no fault of the drill explains.",
    causes: &[
        "an unhandled error, often a lost connection to Redis or PostgreSQL",
        "out of memory, or out of file descriptors under the burst",
    ],
    cure: "Read its last words below and its log in the results folder; handle the error where it \
           arises, so that one request fails and not the process.",
};

/// All of them.
pub static INVARIANTS: [&Code; 8] = [&I01, &I02, &I03, &I05, &I06, &I07, &I13, &I27];
