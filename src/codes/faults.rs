//! Invariants of what follows a fault (I..): that it ends, that late holders are kept out, that the target
//! does without Redis what it says.

use super::{Code, Severity};

pub static I11: Code = Code {
    id: "I11",
    slug: "becomes-definite",
    title: "what was open becomes definite",
    severity: Some(Severity::Contract),
    what: "An intent that a fault had hit got no definite answer within the contract's `recovery-limit` of the \
           fault's end: it stays in progress, or answers with an error, for good. Or an intent was parked \
           for reconciliation although nothing had gone wrong with it.",
    checked: "Per intent that a fault hit: answers to attempts that were sent after the heal, up to \
              `recovery-limit` behind it (less one pause of the client). Pending and errors count; a target \
              that doesn't answer at all makes the run inconclusive. Parked answers, where no fault hit the intent, \
              no instance ended, no payment provider is in use and no other answer of the intent is unknown.",
    causes: &[
        "an `in progress` that lives as long as the record, or for ever (D48, D49)",
        "nothing repairs the record after a commit whose answer was lost (D51)",
        "an error is stored as the final answer (D55)",
    ],
    cure: "Give `in progress` a short lease with an owner, let the next attempt take over and look into the \
           order table first, and store no error whose cause may pass.",
};

pub static I17: Code = Code {
    id: "I17",
    slug: "fence-rises",
    title: "fences rise",
    severity: Some(Severity::Critical),
    what: "A fence was handed out that isn't above an earlier one, or a write was accepted under a fence although \
           one under the same or a newer fence had been accepted before. Whoever lost its lease can still \
           write.",
    checked: "Where the profile names the stock's fence column. Answers of lock scripts and counters, per product, where \
              one was read before the other was asked for; not across a loss of Redis. Committed writes of \
              stock by requests that had drawn one fence: none after a commit under a fence that isn't lower; no fence \
              at or below one that was committed before its request began. The stored fence of each snapshot.",
    causes: &[
        "the write doesn't check the fence, or accepts an equal one (D18, D21)",
        "lock and fence are taken in two steps (D19)",
        "the counter lives in Redis alone, and Redis forgot it (D20)",
    ],
    cure: "Draw the fence in the script that grants the lease, begin above the stored one when the counter is \
           gone, and write with `WHERE last_fence < $fence`.",
};

pub static I24: Code = Code {
    id: "I24",
    slug: "without-redis-as-declared",
    title: "without Redis as declared",
    severity: Some(Severity::Critical),
    what: "While Redis couldn't be reached, or after it had forgotten everything, the target did something else \
           than its contract says, or the data didn't stay right.",
    checked: "Faults that take Redis away (partition, black hole, an error, a swap for an empty one) and had an \
              effect. Broken I01 to I05 of intents that were under way in their windows: critical. Under \
              `contract.redis-down` (a lab's is `[lab] redis-down`), requests sent after a partition and answered \
              before its heal: no new order under `reject`, no 5xx under `database`: contract.",
    causes: &[
        "guards are skipped when Redis fails, and nothing stands behind them (D13)",
        "an error of Redis ends the request, whatever was declared",
        "a client of Redis without a time limit",
    ],
    cure: "Let the database have the last word (unique index, conditional update, fence), give every call to Redis \
           a time limit, and decide in one place what happens without it.",
};
