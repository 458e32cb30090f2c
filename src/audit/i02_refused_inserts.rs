//! Inserts that only a unique index stopped: protected, under the id of what they would have broken.
//!
//! Defence in depth is reported as such: the data are right, and all defences before the last one
//! let a duplicate through. Known only where the database's own log is ours to read.

use std::collections::BTreeMap;

use crate::codes::{I02, Severity};
use crate::history::RefusedInsert;

use super::bench::Bench;
use super::ruling::Ruling;
use super::words::{list, plural};
use super::{Evidence, Finding, Witness};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let snapshot = bench.rows.as_ref().map(|rows| rows.snapshot);
    let refused = snapshot.and_then(|snapshot| snapshot.refused_inserts.as_deref());
    let findings = match refused {
        None | Some([]) => Vec::new(),
        Some(refused) => vec![finding(refused)],
    };
    Ruling { findings, ..Ruling::default() }
}

fn finding(refused: &[RefusedInsert]) -> Finding {
    let mut by_index: BTreeMap<&str, u64> = BTreeMap::new();
    let mut evidence = Evidence::of(&["unique index", "refused"]);
    for insert in refused {
        *by_index.entry(&insert.constraint).or_default() += 1;
        evidence.rows.push(vec![insert.constraint.clone(), insert.detail.clone()]);
    }
    let count = refused.len() as u64;
    let names: Vec<&str> = by_index.keys().copied().collect();
    let names = list(&names, 3);
    let indexes = if by_index.len() == 1 { "unique index" } else { "unique indexes" };
    Finding {
        code: &I02,
        severity: Severity::Protected,
        title: format!("{} refused by {indexes} {names}", plural(count, "insert", "inserts")),
        count,
        evidence,
        witness: Witness { heading: format!("what {names} refused"), ..Witness::default() },
        therefore: vec![format!(
            "every defence before the database let {} through, because PostgreSQL's log shows {} that \
             reached {names} and {} refused there",
            if count == 1 { "a duplicate" } else { "duplicates" },
            plural(count, "insert", "inserts"),
            if count == 1 { "was" } else { "were" },
        )],
        help: format!(
            "keep {names}; it is all that stood between these requests and a second order. Look at what \
             comes before it."
        ),
    }
}
