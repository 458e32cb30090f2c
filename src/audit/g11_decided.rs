//! G11: every intent came to a definite outcome, at the latest by the resolver. What stayed open although a
//! fault had been healed for long enough is I11's.

use std::collections::HashSet;

use crate::codes::G11;

use super::bench::Bench;
use super::i11_definite::overdue;
use super::ruling::Ruling;
use super::words::{list, share};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let sum = &bench.accounting;
    if sum.intents_undecided == 0 {
        return Ruling::held(&G11, share(sum.intents, sum.intents, "intent", "intents"));
    }
    let overdue = overdue(bench);
    let overdue: HashSet<(usize, usize)> =
        overdue.iter().map(|it| bench.index.seat_of(it.last)).collect();
    let undecided = bench.index.seats.iter().enumerate().filter(|&(_, &(group, variant))| {
        let seat = (group as usize, variant as usize);
        bench.index.keys[seat.0].variants[seat.1].is_undecided() && !overdue.contains(&seat)
    });
    let keys: Vec<&str> =
        undecided.map(|(id, _)| bench.case.history.intents[id].key.as_str()).collect();
    if keys.is_empty() {
        return Ruling::not_judged(&G11, "what stayed open is told under I11");
    }
    Ruling::missed(
        &G11,
        format!(
            "{} never got a definite answer: {}",
            share(keys.len() as u64, sum.intents, "intent", "intents"),
            list(&keys, 3)
        ),
        "look for these keys in the target's log; raise `contract.recovery-limit` if it may take longer",
    )
}
