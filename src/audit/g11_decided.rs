//! G11: every intent came to a definite outcome, at the latest by the resolver.

use crate::codes::G11;

use super::bench::Bench;
use super::ruling::Ruling;
use super::words::{list, share};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let sum = &bench.accounting;
    if sum.intents_undecided == 0 {
        return Ruling::held(&G11, share(sum.intents, sum.intents, "intent", "intents"));
    }
    let undecided = bench.index.seats.iter().enumerate().filter(|&(_, &(group, variant))| {
        bench.index.keys[group as usize].variants[variant as usize].is_undecided()
    });
    let keys: Vec<&str> =
        undecided.map(|(id, _)| bench.case.history.intents[id].key.as_str()).collect();
    Ruling::missed(
        &G11,
        format!(
            "{} never got a definite answer: {}",
            share(sum.intents_undecided, sum.intents, "intent", "intents"),
            list(&keys, 3)
        ),
        "look for these keys in the target's log; raise `contract.recovery-limit` if it may take longer",
    )
}
