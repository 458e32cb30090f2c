//! Rows and history become findings. Pure functions: no clock, no I/O, one case in, one judgement
//! out, the same each time.
//!
//! `CHECKS` is the table of contents: one invariant, rule or gate, one file. Each check gets the
//! `Bench` (the case, arranged once) and hands back a `Ruling`. A check claims only what its
//! evidence carries: an attempt with an unknown outcome is neither a success nor a failure, and what
//! is missing on a database that wasn't at rest becomes a doubt, not a finding.

mod accounting;
mod answer;
mod attribution;
mod authorship;
mod bench;
mod circle;
mod columns;
mod effects;
mod faults;
mod finding;
mod g10_books;
mod g11_decided;
mod g12_asked_twice;
mod g13_wires;
mod g1_overlap;
mod g2_fired;
mod g3_acknowledged;
mod g4_drained;
mod g5_variants;
mod g7_baseline;
mod g8_clock;
mod g9_complete;
mod grouped;
mod i01_stock_not_negative;
mod i02_in_order;
mod i02_one_order;
mod i02_reasons;
mod i02_refused_inserts;
mod i03_in_order;
mod i03_stock_conserved;
mod i03b_ledger;
mod i03c_bounds;
mod i04_order_has_movement;
mod i05_acknowledged_exists;
mod i06_kept_rejections;
mod i06_replies_agree;
mod i07_one_meaning;
mod i08_no_error;
mod i08b_rejection_leaves_nothing;
mod i09_key_of_its_user;
mod i10_never_both;
mod i11_definite;
mod i13_no_orphan;
mod i14_books;
mod i14_kinds;
mod i14_one_charge;
mod i16_fresh_key;
mod i17_fence;
mod i18_rejected_no_effect;
mod i21_in_time;
mod i22_retried;
mod i24_redis_down;
mod i25_agreed_answers;
mod i25_replies_readable;
mod i26_bad_keys;
mod i26_executed;
mod i27_stays_up;
mod i29_own_lease;
mod index;
mod json;
mod l01_unlock_before_commit;
mod l02_unlock_plain_del;
mod l03_get_then_del;
mod l04_setnx_then_pexpire;
mod l05_same_token;
mod l06_renew_without_token;
mod l07_late_write;
mod l08_read_then_write;
mod l09_row_not_kept;
mod l10_schema;
mod l11_lease_lingers;
mod l12_waits_for_a_stranger;
mod lanes;
mod ledger;
mod lint;
mod live;
mod locks;
mod names;
mod overlap;
mod owner;
mod r2_one_fingerprint;
mod r3_replay;
mod r4_mismatch;
mod r5_pending;
mod r6_marker;
mod reached;
mod rows;
mod ruling;
mod s01_time;
mod schema;
mod state;
mod statements;
mod steps;
mod struck;
mod subject;
mod trace;
mod u01_own_checks;
mod unagreed;
mod variants;
mod visits;
mod windows;
mod witnessed;
mod words;

pub use answer::{answer, answer_and_time};
pub use bench::created;
pub use faults::{FaultAccount, FiringAccount, end_words};
pub use finding::{
    Accounting, Evidence, Finding, Gate, GateState, Judgement, Overlap, Scene, Seen, Struck,
    Verdict, Witness,
};
pub use index::same_id;
pub use live::judge_rows;
pub use steps::{Placed, Steps};
pub use words::{plural, span, spelled, thousands, times};

use crate::history::{Doubt, History, Snapshot};
use crate::profile::Profile;

use bench::Bench;
use index::Index;
use ruling::Ruling;

/// What is judged.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    pub profile: &'a Profile,
    pub history: &'a History,
    /// The rows before the load.
    pub baseline: &'a Snapshot,
    /// A0: after the drain, before the resolver asked again.
    pub before_repair: Option<&'a Snapshot>,
    /// A1: at the end. Without it nothing passes.
    pub after: Option<&'a Snapshot>,
}

/// Every check, in the order of the gate table.
const CHECKS: [fn(&Bench<'_>) -> Ruling; 55] = [
    i01_stock_not_negative::check,
    i02_one_order::check,
    i02_refused_inserts::check,
    i03_stock_conserved::check,
    i03b_ledger::check,
    i03c_bounds::check,
    i04_order_has_movement::check,
    i05_acknowledged_exists::check,
    i06_replies_agree::check,
    i07_one_meaning::check,
    i08_no_error::check,
    i08b_rejection_leaves_nothing::check,
    i09_key_of_its_user::check,
    i10_never_both::check,
    i11_definite::check,
    i13_no_orphan::check,
    i14_one_charge::check,
    i16_fresh_key::check,
    i17_fence::check,
    i18_rejected_no_effect::check,
    i21_in_time::check,
    i22_retried::check,
    i24_redis_down::check,
    i25_replies_readable::check,
    i26_bad_keys::check,
    i27_stays_up::check,
    i29_own_lease::check,
    r3_replay::check,
    r5_pending::check,
    r6_marker::check,
    u01_own_checks::check,
    l01_unlock_before_commit::check,
    l02_unlock_plain_del::check,
    l03_get_then_del::check,
    l04_setnx_then_pexpire::check,
    l05_same_token::check,
    l06_renew_without_token::check,
    l07_late_write::check,
    l08_read_then_write::check,
    l09_row_not_kept::check,
    l10_schema::check,
    l11_lease_lingers::check,
    l12_waits_for_a_stranger::check,
    g1_overlap::check,
    g2_fired::check,
    g3_acknowledged::check,
    g4_drained::check,
    g5_variants::check,
    g7_baseline::check,
    g8_clock::check,
    g9_complete::check,
    g10_books::check,
    g11_decided::check,
    g12_asked_twice::check,
    g13_wires::check,
];

/// Judges a run. Violated beats inconclusive beats passed.
pub fn judge(case: &Case<'_>) -> Judgement {
    let mut index = Index::new(case);
    let attempts = index.lined_up();
    index.seat(&attempts);
    let bench = Bench::new(case, index);
    let mut rulings = CHECKS.map(|check| check(&bench));
    s01_time::cap(&bench, &mut rulings);
    i24_redis_down::add_data(&bench, &mut rulings);
    let mut judgement = summed_up(rulings, case.history.doubts.clone(), bench.accounting.clone());
    for finding in &mut judgement.findings {
        witnessed::attach(&bench, finding);
        struck::attach(&bench, finding);
    }
    judgement.faults = faults::accounts(&bench);
    judgement
}

/// What several checks came to together.
fn summed_up(
    rulings: impl IntoIterator<Item = Ruling>,
    mut doubts: Vec<Doubt>,
    accounting: Accounting,
) -> Judgement {
    let mut gates = Vec::new();
    let mut findings = Vec::new();
    for ruling in rulings {
        gates.extend(ruling.gate);
        findings.extend(ruling.findings);
        doubts.extend(ruling.doubts);
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let verdict = if findings.iter().any(|finding| finding.severity.fails_the_gate()) {
        Verdict::Violated
    } else if doubts.is_empty() {
        Verdict::Passed
    } else {
        Verdict::Inconclusive
    };
    Judgement { verdict, gates, findings, doubts, accounting, faults: Vec::new() }
}
