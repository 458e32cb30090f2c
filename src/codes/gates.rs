//! Gates (G..): a miss makes a run inconclusive, never passed.
//!
//! G1 to G8 are the vacuity gates: did the drill do what it set out to do? G9 to G11 ask whether the
//! record of it is whole, G12 whether there was anything to compare, and G13 whether the proxies saw it.
//! None has a severity, because a miss says nothing about the target.

use super::Code;

pub static G1: Code = Code {
    id: "G1",
    slug: "overlap",
    title: "duplicates overlapped",
    severity: None,
    what: "Too few contended things had two attempts under way before the first definite answer, or at \
           work before the first COMMIT. The attempts came one after the other, so nothing was contended \
           for.",
    checked: "Per contended thing of a concurrent burst (key, key string, product or order): attempts \
              released and not yet answered, before the first definite answer. Offered overlap, as the \
              client sees it: an upper bound. With proxies, reached overlap too: a second attempt made its \
              first step before the first one committed; it is asked for where steps name their attempts' intents, \
              and not where two intents share user, key and product. Sequential and rate phases, bursts that contend for \
              nothing, and arrivals around the completion of the first claim none and are exempt.",
    causes: &[
        "the target answers faster than the burst leaves",
        "a balancer or a connection limit in front puts the requests in line",
        "the machine was busy, and the burst was spread out",
        "one worker or one connection in the service, so that requests wait in line",
    ],
    cure: "Use `release = \"frozen\"` where the target may be paused; raise `threads`; run the client on \
           a quieter machine. Lower `overlap-share` only if fewer contended keys are enough for you.",
};

pub static G2: Code = Code {
    id: "G2",
    slug: "faults-fired",
    title: "faults fired and had an effect",
    severity: None,
    what: "A fault that the profile plans was not armed, did not fire at its step as often as planned, or \
           fired and changed nothing. What held, held without it.",
    checked: "Per planned fault: the journal has it armed and fired `at-least` times, at the step that it \
              names, each firing with what the other side showed of it (an answer that the client wasn't \
              given, a connection that was cut, a key that is gone) and with its end. Never by the rule's \
              own word alone.",
    causes: &[
        "the step has another name, or the service takes another way",
        "fewer steps of that name pass than the rule counts to",
        "a key pattern, an instance or a piece of SQL that fits nothing",
        "the phase was over before the fault was due",
    ],
    cure: "Read in the doubt which steps of that name passed, or which names are near; the \
           reference of profiles has the grammar of names. Let the load pass the step, then run again.",
};

pub static G3: Code = Code {
    id: "G3",
    slug: "something-was-acknowledged",
    title: "orders were acknowledged",
    severity: None,
    what: "A phase ended without a single acknowledged order. A target that refuses everything makes \
           no duplicates, and proves nothing.",
    checked: "At least one acknowledged attempt in every phase, those that only set the scene not \
              counted (in a phase of bad keys, a rejection that the contract has for them will do); \
              and a definite answer for every kind of request and every form of bad key.",
    causes: &[
        "wrong URL, path, credentials or body",
        "the products of the run don't exist or are sold out",
        "answers that the contract reads as unknown: a status or an order id pointer is wrong",
    ],
    cure: "Send one request by hand and compare its answer with `[request]` and `[contract]`.",
};

pub static G4: Code = Code {
    id: "G4",
    slug: "drained",
    title: "the database was at rest",
    severity: None,
    what: "The target was still at work when the rows were read, or they weren't read at all after \
           the load. What is missing may only be late.",
    checked: "The last drain came to its end after the last attempt, and the final audit was read \
              after it.",
    causes: &[
        "requests that hang on a lock longer than the drain limit",
        "other traffic on the same tables",
        "the database went away",
    ],
    cure: "See what the drain waited for; raise `limits.drain`, or end the transactions that are left \
           and audit the run again.",
};

pub static G5: Code = Code {
    id: "G5",
    slug: "variants-differ",
    title: "variants and changes are real",
    severity: None,
    what: "Requests that should have had other bytes of the same meaning had the same bytes or another \
           meaning, or requests that should have been changed meant the same. What they were to try out \
           was not tried.",
    checked: "Every variant: bytes unlike the original's, canonical form equal to its intent's. Every \
              changed request: a canonical form of its own under its key.",
    causes: &[
        "a body without anything to vary: one field, no numbers, nothing ignored",
        "a `mutate` pointer to a field that is also ignored, or a value equal to the original",
    ],
    cure: "Give the request more to vary (`ignored`, `defaults`, `number-forms`), and `mutate` values that \
           differ from the original.",
};

pub static G7: Code = Code {
    id: "G7",
    slug: "baseline",
    title: "baseline and schema are known",
    severity: None,
    what: "The state before the load isn't known well enough to tell what the load has changed.",
    checked: "A baseline from before the first request, with the stock of every product of the run \
              and without any order of its users and keys; columns that hold what was sent.",
    causes: &[
        "the products weren't created before the baseline was read",
        "`[audit]` names a wrong column",
        "users or keys of this run were used before",
    ],
    cure: "Check table and column names in `[audit]`, and that setup has finished before the load \
           starts.",
};

pub static G8: Code = Code {
    id: "G8",
    slug: "steady-clock",
    title: "the clock was steady",
    severity: None,
    what: "The wall clock was set while the run went on, so times in the database can't be laid \
           beside the client's.",
    checked: "Wall clock against monotonic clock, from start to end: at most 250 ms apart.",
    causes: &["a time service that steps the clock", "a suspended or migrated machine"],
    cure: "Run again; let the time service slew instead of step.",
};

pub static G9: Code = Code {
    id: "G9",
    slug: "run-is-whole",
    title: "the run is complete",
    severity: None,
    what: "The run was interrupted, or its journal ends before its end.",
    checked: "The journal is sealed, and nobody pressed Ctrl-C.",
    causes: &["Ctrl-C", "dupeproof was killed", "the disk was full"],
    cure: "Run again and let it finish.",
};

pub static G10: Code = Code {
    id: "G10",
    slug: "books-balance",
    title: "every attempt is accounted for",
    severity: None,
    what: "The attempts that were planned, sent, answered and received don't add up. Somebody between \
           client and target adds or loses requests, or a record is missing.",
    checked: "Planned against recorded attempts per phase; outcome against what was sent; requests \
              that the instances say they received against requests sent.",
    causes: &[
        "a proxy or a balancer that sends requests again by itself",
        "other traffic at the same instances",
        "a journal that lost lines",
    ],
    cure: "Take retrying proxies out of the path, or switch their retries off, and run again.",
};

pub static G11: Code = Code {
    id: "G11",
    slug: "intents-decided",
    title: "every intent was decided",
    severity: None,
    what: "Some intents never got a definite answer, although the resolver kept on asking. Whether \
           they will still take effect is open.",
    checked: "Intents of which a byte was sent, but no attempt was acknowledged, refused or parked.",
    causes: &[
        "a record that stays in progress for longer than the recovery limit",
        "the target is down or times out",
    ],
    cure: "Look at the target's log for the listed keys; raise `contract.recovery-limit` if the target \
           may take longer.",
};

pub static G12: Code = Code {
    id: "G12",
    slug: "asked-twice",
    title: "duplicates were answered",
    severity: None,
    what: "A phase set out to ask for one thing twice, and no key of it got two definite answers. So \
           no duplicate was compared with anything.",
    checked: "Per phase that asks for one thing twice (not: fresh keys, shared keys, bad keys, the last \
              unit, a race, a rate without duplicates): keys with two acknowledged or refused attempts \
              or more, those refused in front not counted; at least one is needed.",
    causes: &[
        "one thread for each user",
        "a `duplicate-share` that comes to no duplicate in so short a time",
        "a client time-out shorter than the target's work",
    ],
    cure: "Use two threads or more, or a larger `duplicate-share`, and let the client wait long enough \
           for its answers.",
};

pub static G13: Code = Code {
    id: "G13",
    slug: "wires-saw-nothing",
    title: "the wires saw the run",
    severity: None,
    what: "A proxy saw no connection, or nothing of the run on those it saw, or lost steps. What rests on \
           what passed there (lints, leases, reached overlap) proves nothing.",
    checked: "Connections of the Redis and PostgreSQL proxies, while orders were acknowledged; steps that \
              named a user, key or product of the run; steps that were not written down.",
    causes: &[
        "the service has the server's own address, in a file or a default, and not the proxy's",
        "its connection is encrypted",
        "the connections belong to something else than the service",
    ],
    cure: "Give the service the proxy's address, and switch TLS to its servers off for the drill.",
};

/// All of them.
pub static GATES: [&Code; 12] = [&G1, &G2, &G3, &G4, &G5, &G7, &G8, &G9, &G10, &G11, &G12, &G13];
