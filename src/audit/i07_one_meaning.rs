//! I07: a key stands for one request. Two rules report here: R2 (a second fingerprint was let in) and
//! R4 (a mismatch without a different request).

use crate::codes::I07;

use super::bench::Bench;
use super::ruling::Ruling;
use super::words::{plural, thousands};
use super::{r2_one_fingerprint, r4_mismatch};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let mut findings = r2_one_fingerprint::findings(bench);
    findings.extend(r4_mismatch::finding(bench));
    let broken: u64 = findings.iter().map(|finding| finding.count).sum();
    let keys = bench.index.keyed().count() as u64;
    let mixed = bench.index.keyed().filter(|(_, group)| group.variants.len() > 1).count() as u64;
    let detail = format!(
        "{} in {} ({} changed)",
        plural(broken, "break", "breaks"),
        plural(keys, "key", "keys"),
        thousands(mixed)
    );
    Ruling::of(&I07, detail, findings)
}
