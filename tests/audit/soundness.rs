//! A correct service is never blamed, a broken one is.

use std::time::Duration;

use dupeproof::audit::{Judgement, Verdict};
use dupeproof::history::Outcome;
use dupeproof::profile::Arrival;
use proptest::prelude::*;

use crate::fixture::{Drill, doubts, ids, loud};
use crate::shape::{Defects, Kind, Other, Shape};
use crate::simulator::simulate;

const ARRIVALS: [Arrival; 5] = [
    Arrival::AtOnce,
    Arrival::Staggered(Duration::from_micros(200)),
    Arrival::Staggered(Duration::from_millis(4)),
    Arrival::Spread,
    Arrival::AroundCompletion,
];

/// Everything that a correct service and its contract can be like.
fn shapes() -> impl Strategy<Value = Shape> {
    let kinds = prop::sample::select([&[Kind::Place], &Kind::ALL[..]].concat());
    let arrivals = prop::sample::select(ARRIVALS.to_vec());
    let others = prop::sample::select(vec![
        Other::Rejected,
        Other::Rejected,
        Other::RejectedOnceDone,
        Other::OldResult,
        Other::Unsaid,
    ]);
    let windows = prop::sample::select(vec![None, None, Some(30_000), Some(10_000_000)]);
    let size = (1..14_u32, 1..9_u32, 0..30_i64, 0..3_u8, 0..4_u8, any::<bool>());
    let clauses = (kinds, arrivals, others, windows, any::<u16>());
    (size, clauses).prop_map(|(size, (kind, arrival, other, window, flags))| {
        let (users, threads, stock, mutated, trouble, crash) = size;
        let flag = |place: u16| flags >> place & 1 == 1;
        let rare = |place: u16| flag(place) && flag(place + 1);
        let per_user = kind == Kind::Place && rare(0);
        let account = !per_user && rare(2);
        Shape {
            kind,
            arrival,
            users,
            threads,
            stock,
            mutated: [0.0, 0.3, 0.5][usize::from(mutated)],
            per_user,
            trouble: [0.0, 0.05, 0.2, 0.5][usize::from(trouble)],
            crash,
            other,
            account,
            marked: flag(4),
            window: window.filter(|_| !per_user && !account && kind == Kind::FreshKey),
            keyless_executed: flag(5),
            refunds: flag(6) && kind.is_race(),
            times: flag(7) && !flag(6),
            ledger: flag(8),
            blind: rare(9),
            nameless: rare(12),
            pool: rare(11),
            absent: None,
        }
    })
}

/// Orders, attempts and stock enough that a defect must show.
const AMPLE: Shape = Shape {
    kind: Kind::Place,
    arrival: Arrival::Spread,
    users: 8,
    threads: 6,
    stock: 500,
    mutated: 0.0,
    per_user: false,
    trouble: 0.05,
    crash: false,
    other: Other::Rejected,
    account: false,
    marked: false,
    window: None,
    keyless_executed: false,
    refunds: false,
    times: false,
    ledger: false,
    blind: false,
    nameless: false,
    pool: false,
    absent: None,
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
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_correct_service_is_never_blamed(seed in any::<u64>(), shape in shapes()) {
        let drill = simulate(seed, shape, Defects::default());
        let judgement = drill.judge();
        prop_assert!(loud(&judgement).is_empty(), "{:#?}", judgement.findings);
        // A pool's difference may be somebody else's.
        let expected = |code: &&str| {
            ["G1", "G3", "G11", "G12"].contains(code)
                || shape.blind && ["I03c", "I02"].contains(code)
                || shape.nameless && *code == "I02"
        };
        prop_assert!(doubts(&judgement).iter().all(expected), "{:#?}", judgement.doubts);
    }

    /// A kill or a full disk loses the end of the journal; the rows may have been written or not.
    #[test]
    fn a_correct_service_is_not_blamed_for_what_was_not_recorded(
        seed in any::<u64>(),
        shape in shapes(),
        kept in 0.0..1.0_f64,
        left in lefts(),
    ) {
        let mut drill = simulate(seed, shape, Defects::default());
        cut(&mut drill, kept, left);
        let judgement = drill.judge();
        prop_assert!(loud(&judgement).is_empty(), "{:#?}", judgement.findings);
        prop_assert_eq!(judgement.verdict, Verdict::Inconclusive);
    }
}

/// What a journal that was cut off has beside its attempts, and what else of the run is left.
#[derive(Clone, Copy, Debug)]
struct Left {
    /// Intents that nothing is recorded of, exits, bodies.
    about: bool,
    /// The first drain, which is over by the time of the resolver; or none.
    drain: bool,
    /// The rows: none, before the repair, or both.
    rows: u8,
    /// A run that lost its ground has a seal, and no drain after it.
    sealed: bool,
}

fn lefts() -> impl Strategy<Value = Left> {
    let drained = (any::<bool>(), any::<bool>(), 0..3_u8);
    (drained, any::<bool>()).prop_map(|((about, drain, rows), sealed)| Left {
        about,
        drain: drain || !sealed && rows == 2,
        rows: if sealed { rows.min(1) } else { rows },
        sealed,
    })
}

/// Cuts a journal after a share of its attempts.
fn cut(drill: &mut Drill, kept: f64, left: Left) {
    let history = &mut drill.history;
    history.attempts.sort_by_key(|attempt| attempt.completed);
    let end = (history.attempts.len() as f64 * kept) as usize;
    history.attempts.truncate(end);
    let last = history.attempts.iter().filter_map(|attempt| attempt.completed).max();
    if !left.about {
        let intents = history.attempts.iter().map(|attempt| attempt.intent.0 as usize + 1).max();
        history.intents.truncate(intents.unwrap_or(0));
        history.exits.retain(|exit| Some(exit.at) < last);
        let told: Vec<_> = history.attempts.iter().filter_map(|attempt| attempt.body).collect();
        history.bodies.retain(|id, _| told.contains(id));
    }
    history.drains.truncate(usize::from(left.drain));
    history.sealed = left.sealed;
    if left.rows < 2 {
        drill.after = None;
    }
    if left.rows == 0 {
        drill.before_repair = None;
    }
}

#[test]
fn the_simulator_is_rich() {
    let shape = Shape { mutated: 0.3, trouble: 0.2, crash: true, stock: 9, ..AMPLE };
    let drills: Vec<Drill> =
        (0..50).map(|seed| simulate(seed, shape, Defects::default())).collect();
    assert!(variety(&drills).iter().all(|&count| count > 50), "{:?}", variety(&drills));
}

/// The judgements of a service under each kind of burst alone, in every arrival.
fn alone(shape: Shape) -> Vec<(String, Arrival, Judgement)> {
    let mut judgements = Vec::new();
    for kind in Kind::ALL {
        for (arrival, seed) in
            ARRIVALS.into_iter().flat_map(|it| (0..8).map(move |seed| (it, seed)))
        {
            let drill = simulate(seed, Shape { kind, arrival, ..shape }, Defects::default());
            judgements.push((
                format!("{kind:?}, {arrival:?}, seed {seed}"),
                arrival,
                drill.judge(),
            ));
        }
    }
    judgements
}

#[test]
fn a_correct_service_passes_under_each_kind_of_burst_alone() {
    let plain = Shape { users: 5, threads: 8, stock: 3, trouble: 0.0, ..AMPLE };
    for shape in [plain, Shape { mutated: 0.3, ..plain }, Shape { refunds: true, ..plain }] {
        for (what, arrival, judgement) in alone(shape) {
            // Attempts that are spread out may come one by one; then that is what is said.
            let may_miss = ![Arrival::AtOnce, Arrival::AroundCompletion].contains(&arrival);
            let doubts = doubts(&judgement);
            let is_overlap = may_miss && doubts == ["G1"];
            assert!(is_overlap || judgement.verdict == Verdict::Passed, "{what}: {judgement:#?}");
        }
    }
}

#[test]
fn a_service_that_is_not_there_is_inconclusive_under_each_kind_of_burst_alone() {
    for outcome in [Outcome::Refused, Outcome::Unknown] {
        let shape = Shape { users: 5, threads: 3, absent: Some(outcome), trouble: 0.0, ..AMPLE };
        for (what, _, judgement) in alone(shape) {
            assert_eq!(judgement.verdict, Verdict::Inconclusive, "{what}: {judgement:#?}");
            assert!(doubts(&judgement).contains(&"G3"), "{what}: {judgement:#?}");
        }
    }
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

/// Under every seed all of these codes are found, and nothing else above protected but `beside`.
fn always(shape: Shape, defects: Defects, codes: &[&str], beside: &[&str]) {
    for seed in 0..40 {
        let judgement = simulate(seed, shape, defects).judge();
        let found: Vec<_> = loud(&judgement).into_iter().map(|it| it.code.id).collect();
        let missing: Vec<_> = codes.iter().filter(|code| !found.contains(code)).collect();
        assert!(missing.is_empty(), "seed {seed}: {missing:?} not in {found:?}");
        let extra: Vec<_> =
            found.iter().filter(|it| !codes.contains(it) && !beside.contains(it)).collect();
        assert!(extra.is_empty(), "seed {seed}: {extra:?} beside {codes:?}");
    }
}

const ORDERLY: Shape = Shape { trouble: 0.0, ..AMPLE };

#[test]
fn a_service_that_looks_keys_up_without_their_user_is_found() {
    let shape = Shape { kind: Kind::SharedKey, ..ORDERLY };
    always(shape, Defects { key_not_scoped: true, ..Defects::default() }, &["I09"], &[]);
}

#[test]
fn a_service_that_merges_equal_bodies_is_found() {
    let shape = Shape { kind: Kind::FreshKey, ..ORDERLY };
    always(shape, Defects { merges_bodies: true, ..Defects::default() }, &["I16"], &[]);
}

#[test]
fn a_service_that_forgets_its_window_is_found() {
    let shape = Shape { kind: Kind::FreshKey, window: Some(10_000_000), ..ORDERLY };
    always(shape, Defects { ignores_window: true, ..Defects::default() }, &["I16"], &[]);
}

#[test]
fn a_service_that_executes_bad_keys_is_found() {
    let shape = Shape { kind: Kind::BadKeys, users: 12, ..ORDERLY };
    always(shape, Defects { bad_key_accepted: true, ..Defects::default() }, &["I26"], &[]);
}

#[test]
fn a_service_whose_rejections_have_effects_is_found() {
    let defects = Defects { rejected_effect: true, ..Defects::default() };
    let shape = Shape { kind: Kind::BadKeys, users: 12, ..ORDERLY };
    always(shape, defects, &["I18"], &[]);
    let shape = Shape { mutated: 0.5, threads: 12, ..ORDERLY };
    always(shape, defects, &["I18", "I02"], &[]);
    // More buyers than units, and the rejected ones get theirs all the same.
    let shape = Shape { users: 12, threads: 1, stock: 2, ..ORDERLY };
    always(shape, defects, &["I08b"], &["I01", "I02"]);
}

#[test]
fn a_service_that_fails_on_duplicates_is_found() {
    let defects = Defects { duplicate_500: true, ..Defects::default() };
    always(Shape { threads: 12, ..ORDERLY }, defects, &["I08"], &[]);
}

#[test]
fn a_service_that_gives_no_hint_is_found() {
    let defects = Defects { no_hint: true, ..Defects::default() };
    always(Shape { threads: 12, ..ORDERLY }, defects, &["I21"], &[]);
}

#[test]
fn a_service_that_pays_and_closes_is_found() {
    let race = Shape { kind: Kind::Race, users: 12, threads: 2, times: true, ..ORDERLY };
    always(race, Defects { status_unconditional: true, ..Defects::default() }, &["I10"], &["I25"]);
    always(race, Defects { zero_rows_is_success: true, ..Defects::default() }, &["I25"], &[]);
}

#[test]
fn a_service_that_overwrites_orders_is_found() {
    let defects = Defects { upsert: true, ..Defects::default() };
    always(Shape { mutated: 0.5, threads: 12, ..ORDERLY }, defects, &["I07"], &[]);
    let lenient = Shape { mutated: 0.3, threads: 24, other: Other::OldResult, ..ORDERLY };
    let found =
        (0..40).filter(|&seed| ids(&simulate(seed, lenient, defects).judge()).contains(&"I07"));
    // A changed request that was put off before the first answer may have come first.
    assert!(found.count() > 5, "also where the old result is promised, a changed order is none");
}

#[test]
fn a_service_that_does_not_compare_in_progress_is_found_alone_or_in_the_lab() {
    let defects = Defects { not_compared_in_progress: true, ..Defects::default() };
    let alone = Shape { users: 1, mutated: 0.5, threads: 24, ..ORDERLY };
    let found = (0..40).filter(|&seed| ids(&simulate(seed, alone, defects).judge()) == ["I07"]);
    assert!(found.count() > 10, "unless no changed request came while the first was at work");
    let crowd = Shape { mutated: 0.5, threads: 12, ..ORDERLY };
    let (mut anywhere, mut in_the_lab) = (0, 0);
    for seed in 0..20 {
        let mut drill = simulate(seed, crowd, defects);
        anywhere += u32::from(ids(&drill.judge()) == ["I07"]);
        // A shop that waits this long for a lease answers so soon only from the record.
        drill.profile.target = dupeproof::profile::Target::Lab;
        drill.profile.lab.lock_wait = Duration::from_secs(2);
        in_the_lab += u32::from(ids(&drill.judge()) == ["I07"]);
    }
    assert!(anywhere < in_the_lab && in_the_lab > 15, "{anywhere} and {in_the_lab} of 20");
}

#[test]
fn a_service_that_moves_no_stock_is_found() {
    let shape = Shape { ledger: true, ..AMPLE };
    let defects = Defects { no_movement: true, ..Defects::default() };
    always(shape, defects, &["I03b", "I04"], &[]);
    let shape = Shape { blind: true, ..AMPLE };
    always(shape, Defects { stock_kept: true, ..Defects::default() }, &["I03c"], &[]);
}

#[test]
fn a_service_that_lies_about_its_stock_is_found() {
    let defects = Defects { sold_out_lie: true, ..Defects::default() };
    always(ORDERLY, defects, &["I25"], &["R3"]);
}

#[test]
fn a_service_whose_replays_cannot_be_told_or_read_is_found() {
    let shape = Shape { marked: true, threads: 12, ..ORDERLY };
    always(shape, Defects { unmarked: true, ..Defects::default() }, &["R6"], &[]);
    let shape = Shape { threads: 12, ..ORDERLY };
    always(shape, Defects { unreadable: true, ..Defects::default() }, &["I25"], &[]);
}

#[test]
fn keys_of_an_account_are_one_intent_whoever_sends_them() {
    let shape = Shape { kind: Kind::SharedKey, account: true, ..ORDERLY };
    let drill = simulate(1, shape, Defects::default());
    assert_eq!(drill.after.as_ref().unwrap().orders.len(), 4);
    assert!(loud(&drill.judge()).is_empty(), "{:#?}", drill.judge().findings);
    always(shape, Defects { second_order: true, ..Defects::default() }, &["I02", "I06"], &["R3"]);
}
