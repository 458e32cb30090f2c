//! A correct service is never blamed, a broken one is.

use dupeproof::audit::Verdict;
use proptest::prelude::*;

use crate::fixture::{Drill, doubts, ids, loud};
use crate::shape::{Defects, Shape};
use crate::simulator::simulate;

fn shapes() -> impl Strategy<Value = Shape> {
    (1..12_u32, 1..9_u32, 0..30_i64, 0..3_u8, any::<bool>(), 0..4_u8, any::<bool>()).prop_map(
        |(users, threads, stock, mutated, per_user, trouble, crash)| Shape {
            users,
            threads,
            stock,
            mutated: [0.0, 0.3, 0.5][usize::from(mutated)],
            per_user,
            trouble: [0.0, 0.05, 0.2, 0.5][usize::from(trouble)],
            crash,
        },
    )
}

/// Orders, attempts and stock enough that a defect must show.
const AMPLE: Shape = Shape {
    users: 8,
    threads: 6,
    stock: 500,
    mutated: 0.0,
    per_user: false,
    trouble: 0.05,
    crash: false,
};

fn broken(seed: u64, shape: Shape, defects: Defects) -> Vec<&'static str> {
    let judgement = simulate(seed, shape, defects).judge();
    assert_eq!(judgement.verdict, Verdict::Violated, "seed {seed}: {:?}", judgement.gates);
    ids(&judgement)
}

/// What the simulator lets happen, over all seeds of a test.
fn variety(drills: &[Drill]) -> [u64; 5] {
    let mut sums = [0; 5];
    for drill in drills {
        let sum = drill.judge().accounting;
        for (total, count) in sums.iter_mut().zip([
            sum.acknowledged,
            sum.pending,
            sum.refused,
            sum.unknown,
            sum.not_sent,
        ]) {
            *total += count;
        }
    }
    sums
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_correct_service_is_never_blamed(seed in any::<u64>(), shape in shapes()) {
        let drill = simulate(seed, shape, Defects::default());
        let judgement = drill.judge();
        prop_assert!(loud(&judgement).is_empty(), "{:#?}", judgement.findings);
        let expected = |code: &&str| ["G3", "G11", "G12"].contains(code);
        prop_assert!(doubts(&judgement).iter().all(expected), "{:#?}", judgement.doubts);
    }

    /// A kill or a full disk loses the end of the journal; the rows may have been written or not.
    #[test]
    fn a_correct_service_is_not_blamed_for_what_was_not_recorded(
        seed in any::<u64>(),
        shape in shapes(),
        kept in 0.0..1.0_f64,
        rows in any::<bool>(),
    ) {
        let mut drill = simulate(seed, shape, Defects::default());
        let attempts = &mut drill.history.attempts;
        attempts.sort_by_key(|attempt| attempt.completed);
        attempts.truncate((attempts.len() as f64 * kept) as usize);
        drill.history.sealed = false;
        if !rows {
            drill.history.drains.clear();
            (drill.before_repair, drill.after) = (None, None);
        }
        let judgement = drill.judge();
        prop_assert!(loud(&judgement).is_empty(), "{:#?}", judgement.findings);
        prop_assert_eq!(judgement.verdict, Verdict::Inconclusive);
    }
}

#[test]
fn the_simulator_is_rich() {
    let shape = Shape { mutated: 0.3, trouble: 0.2, crash: true, stock: 9, ..AMPLE };
    let drills: Vec<Drill> =
        (0..50).map(|seed| simulate(seed, shape, Defects::default())).collect();
    assert!(variety(&drills).iter().all(|&count| count > 50), "{:?}", variety(&drills));
}

#[test]
fn a_service_that_executes_duplicates_is_found() {
    let defects = Defects { second_order: true, ..Defects::default() };
    for seed in 0..40 {
        let found = broken(seed, AMPLE, defects);
        assert!(found.contains(&"I02") && found.contains(&"I06"), "seed {seed}: {found:?}");
    }
}

#[test]
fn a_service_that_answers_in_other_words_is_found() {
    let defects = Defects { other_body: true, ..Defects::default() };
    for seed in 0..40 {
        assert_eq!(broken(seed, AMPLE, defects), ["I06"], "seed {seed}");
    }
}

#[test]
fn a_service_that_loses_what_it_acknowledged_is_found() {
    let defects = Defects { lost_order: true, ..Defects::default() };
    for seed in 0..40 {
        assert_eq!(broken(seed, AMPLE, defects), ["I05"], "seed {seed}");
    }
}

#[test]
fn a_service_that_never_compares_is_found() {
    let defects = Defects { no_fingerprint: true, ..Defects::default() };
    let shape = Shape { mutated: 0.5, threads: 12, ..AMPLE };
    for seed in 0..40 {
        assert_eq!(broken(seed, shape, defects), ["I07"], "seed {seed}");
    }
}

#[test]
fn a_service_that_forgets_the_stock_is_found() {
    let defects = Defects { stock_kept: true, ..Defects::default() };
    for seed in 0..40 {
        assert_eq!(broken(seed, AMPLE, defects), ["I03"], "seed {seed}");
    }
}
