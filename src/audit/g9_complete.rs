//! G9: the run went to its end, and so does its journal.

use crate::codes::G9;

use super::bench::Bench;
use super::ruling::Ruling;

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let history = bench.case.history;
    match (history.interrupted, history.sealed) {
        (Some(at), _) => Ruling::missed(
            &G9,
            format!("the run was interrupted at {at}, before all of its load had left"),
            "run again and let it finish",
        ),
        (None, false) => Ruling::missed(
            &G9,
            "the journal has no seal: dupeproof ended before it had written everything down",
            "run again; what is judged here is what reached the disk",
        ),
        (None, true) => Ruling::held(&G9, "sealed"),
    }
}
