//! History rules per key (R..), W being the fingerprint and the order that won.
//!
//! A rule that an invariant already names reports under the invariant's id, so that one defect has
//! one name: R1 as I06, R2 and R4 as I07, R8 as I05. R7 is a licence: it can't be broken.

use super::{Code, Severity};

pub static R1: Code = Code {
    id: "R1",
    slug: "one-order-id",
    title: "one order id per intent",
    severity: Some(Severity::Critical),
    what: "All acknowledged replies of an intent name the same order. Reported as I06.",
    checked: "The order ids of the acknowledged attempts of one intent.",
    causes: &["the request was executed twice (see I02)"],
    cure: "See I06.",
};

pub static R2: Code = Code {
    id: "R2",
    slug: "one-fingerprint-accepted",
    title: "one fingerprint accepted per key",
    severity: Some(Severity::Contract),
    what: "At most one fingerprint of a key is acknowledged; and beside an acknowledged one no other \
           is let in as pending, unless it may have rolled back or waited for a lease. Reported as \
           I07.",
    checked: "The fingerprints of acknowledged and pending attempts of one key.",
    causes: &["the fingerprint isn't compared, or only after the first request is done"],
    cure: "See I07.",
};

pub static R3: Code = Code {
    id: "R3",
    slug: "acknowledged-stays-acknowledged",
    title: "acknowledged requests replay",
    severity: Some(Severity::Contract),
    what: "A request was acknowledged; sent again afterwards, it was refused or put off. A client that \
           lost the first answer now believes that its order failed.",
    checked: "Every attempt whose first byte left after an acknowledgement of the same request had \
              arrived must be acknowledged, unknown or shed (401, 403, 429); where the contract hands \
              out old results, a changed request under the key too. Attempts near the end of \
              an instance are exempt until the contract's recovery limit.",
    causes: &[
        "the fingerprint hashes raw bytes, so another serialisation is a mismatch",
        "a mismatch overwrote the stored record",
        "the record says in progress although the order is committed",
        "stock is checked before the record is looked up, so a replay is told `sold out`",
    ],
    cure: "Look the record up first, and the orders table where there is no record; answer with the \
           stored result before any other check.",
};

pub static R4: Code = Code {
    id: "R4",
    slug: "mismatch-needs-another",
    title: "a mismatch needs a different request",
    severity: Some(Severity::Contract),
    what: "A request may be refused as changed only if another one was sent under its key before the \
           refusal returned. Reported as I07.",
    checked: "For every mismatch: an attempt of the key with another fingerprint, begun before it \
              ended.",
    causes: &["the fingerprint takes in something that isn't part of the intent"],
    cure: "See I07.",
};

pub static R5: Code = Code {
    id: "R5",
    slug: "pending-needs-a-holder",
    title: "in progress only while it is",
    severity: Some(Severity::Contract),
    what: "A request was answered `in progress` although nothing that it could have waited for was \
           still going on. Its client waits for something that never ends.",
    checked: "For every pending answer: another attempt, of any key (a lock may be kept for a key, a \
              user, a product or all orders), that was begun before the answer and wasn't known to be \
              complete before the request. Attempts near the end of an instance are exempt.",
    causes: &[
        "a record stays in progress after its request has failed",
        "a lease isn't released, or has no time to live",
    ],
    cure: "Give the record a short processing lease with an owner; on failure release it by owner, and \
           on expiry look into the orders table before taking over.",
};

pub static R6: Code = Code {
    id: "R6",
    slug: "one-first-answer",
    title: "replays are marked",
    severity: Some(Severity::Contract),
    what: "More than one acknowledged reply of an intent came without the replay marker that the \
           contract promises, or none although one of them was the first.",
    checked: "Acknowledged replies of one intent without the marker: at most one; and one of its key, \
              where nothing but acknowledged attempts can have placed the order.",
    causes: &[
        "the marker is set on one path only (cache, not database)",
        "the request was executed twice (see I02)",
        "the marker is set on every answer",
    ],
    cure: "Set the marker wherever a stored answer is sent, also when it is rebuilt from the orders \
           table, and nowhere else.",
};

pub static R7: Code = Code {
    id: "R7",
    slug: "unknown-may-have-acted",
    title: "unknown attempts may have acted",
    severity: None,
    what: "A licence, not a finding: an attempt with an unknown outcome may have placed the order, and \
           only such an attempt explains an order that nobody was told of.",
    checked: "Never broken. Unknown attempts count neither as success nor as failure.",
    causes: &[],
    cure: "Nothing to do.",
};

pub static R8: Code = Code {
    id: "R8",
    slug: "acknowledged-has-its-order",
    title: "acknowledgements have their order",
    severity: Some(Severity::Critical),
    what: "An order without an acknowledgement is fine; an acknowledgement without its order is lost \
           data. Reported as I05.",
    checked: "See I05.",
    causes: &["the answer is sent before COMMIT"],
    cure: "See I05.",
};

/// All of them.
pub static RULES: [&Code; 8] = [&R1, &R2, &R3, &R4, &R5, &R6, &R7, &R8];
