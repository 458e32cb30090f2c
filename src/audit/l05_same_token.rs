//! L5: two requests that took a lock with one token: each can remove and renew the other's lease.

use std::collections::BTreeMap;

use crate::codes::L5;

use super::bench::Bench;
use super::lint::{Lint, Sight};
use super::ruling::Ruling;
use super::steps::Placed;
use super::words::plural;

const LINT: Lint = Lint {
    code: &L5,
    what: "two requests took a lock with the same token",
    help: "draw a fresh random token for every grant",
};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let trace = &bench.trace;
    if !trace.is_watched() {
        return Ruling::default();
    }
    if !trace.has_every_step() {
        // What a script's answers mean is learnt from all of them.
        return Ruling::not_judged(&L5, "steps or attempts may be missing");
    }
    let mut grants = 0_u64;
    let mut of_token: BTreeMap<u64, Vec<&Placed<'_>>> = BTreeMap::new();
    for (_, steps) in trace.locks.keys() {
        for at in steps.iter().filter(|at| trace.locks.is_grant(at.step)) {
            if let Some(token) = at.step.token {
                grants += 1;
                of_token.entry(token).or_default().push(at);
            }
        }
    }
    let sights: Vec<Sight<'_>> = of_token.values().filter_map(|grants| shared(grants)).collect();
    let detail = match sights.len() {
        0 => format!("{}, no token twice", plural(grants, "grant", "grants")),
        seen => format!("{} in {}", plural(seen as u64, "shared token", "shared tokens"), {
            plural(grants, "grant", "grants")
        }),
    };
    Ruling::of(&L5, detail, LINT.finding(bench, &sights).into_iter().collect())
        .unless_none(grants as usize, "no lock was seen to be taken with a token")
}

/// Two grants of one token by different requests.
fn shared<'a>(grants: &[&Placed<'a>]) -> Option<Sight<'a>> {
    let mut grants = grants.to_vec();
    grants.sort_by_key(|at| at.step.asked);
    let first = *grants.first()?;
    let second = *grants.iter().find(|at| at.is_of_another_request(first))?;
    let because = format!(
        "either of the two would have removed the other's lease, because both wrote the same token: \
         {} at {}, {} at {}",
        first.name(),
        first.step.asked,
        second.name(),
        second.step.asked
    );
    Some(Sight {
        attempts: [first, second].into_iter().filter_map(|at| at.attempt).collect(),
        subject: second.step.subject.as_deref()?.to_owned(),
        steps: vec![*first, *second],
        because,
    })
}
