//! G12: something must have been asked twice and answered twice.
//!
//! Every rule about duplicates compares two answers. A run in which no key ever got a second one has
//! compared nothing, however many requests it sent, and must not pass.

use crate::codes::G12;
use crate::history::Outcome;

use super::bench::Bench;
use super::ruling::Ruling;
use super::words::{plural, thousands};

const CURE: &str = "use two threads or more for each user, and a client that waits long enough for \
                    its answers (`[client] timeout`, `retries`)";

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let answered = |outcome| matches!(outcome, Outcome::Acknowledged | Outcome::Refused);
    let mut keys = 0;
    let mut twice = 0;
    for (_, key) in bench.index.keyed() {
        keys += 1;
        let answers = key.attempts().iter().filter(|attempt| answered(attempt.outcome)).count();
        twice += u64::from(answers >= 2);
    }
    let detail = format!("{} of {} answered twice", thousands(twice), plural(keys, "key", "keys"));
    if twice > 0 {
        return Ruling::held(&G12, detail);
    }
    Ruling::missed(&G12, format!("{detail}: no duplicate was compared with anything"), CURE)
}
