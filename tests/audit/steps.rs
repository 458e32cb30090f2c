//! Whose step is whose, and what any damage to the steps must not do.

use dupeproof::audit::{Steps, judge};
use dupeproof::history::{
    AttemptId, Exit, InstanceId, IntentId, Outcome, RunTime, Step, StepEnd, Wire,
};
use proptest::prelude::*;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::fixture::{Drill, forget, ids, ms};
use crate::wires::{Hand, Lock, Renewals, Shop, Stock, Unlock, served_by, sql};

fn names(drill: &Drill, attempt: usize) -> Vec<String> {
    let case = drill.case();
    let steps = Steps::new(&case);
    steps.of_attempt(&drill.history.attempts[attempt]).map(|at| at.name()).collect()
}

#[test]
fn the_steps_of_an_attempt_have_names_and_numbers() {
    let shop = Shop { stock: Stock::Version, ..Shop::default() };
    let drill = served_by(shop, 2);
    let expected = [
        "redis EVALSHA claim idem:orders #1",
        "redis EVALSHA grant lock:stock #1",
        "postgres BEGIN #1",
        "postgres SELECT product_stock #1",
        "postgres UPDATE product_stock #1",
        "postgres SELECT product_stock #2",
        "postgres UPDATE product_stock #2",
        "postgres INSERT orders #1",
        "postgres INSERT stock_movements #1",
        "postgres COMMIT #1",
        "redis EVALSHA unlock lock:stock #1",
        "redis EVALSHA succeed idem:orders #1",
    ];
    assert_eq!(names(&drill, 0), expected);
    assert_eq!(names(&drill, 1), expected);
}

#[test]
fn a_step_that_names_a_product_alone_is_nobodys_while_two_intents_of_it_are_under_way() {
    let mut drill = served_by(Shop::default(), 2);
    drill.history.attempts[1].first_byte = Some(RunTime(0));
    let of_first = names(&drill, 0);
    // The stock is that of the transaction, which names an intent in its INSERT; the lock isn't.
    assert!(of_first.contains(&"postgres UPDATE product_stock #1".to_owned()), "{of_first:?}");
    assert!(of_first.contains(&"postgres BEGIN #1".to_owned()));
    assert!(!of_first.iter().any(|name| name.contains("lock:stock")), "{of_first:?}");
    let case = drill.case();
    let steps = Steps::new(&case);
    let lock = steps.all().find(|at| at.step.role == Some(dupeproof::history::Role::Lock)).unwrap();
    assert_eq!((lock.intent, lock.number), (None, 0));
    assert_eq!(lock.name(), "redis EVALSHA grant lock:stock");
}

#[test]
fn a_transaction_that_names_two_intents_is_of_neither() {
    let mut drill = served_by(Shop::default(), 2);
    let mut hand = Hand::new(&mut drill, 0);
    hand.now = 5_000_000;
    hand.begin();
    hand.sql(sql!("order_by_key"), None, "SELECT 1");
    hand.sql(sql!("order_by_key"), None, "SELECT 1").intent = Some(IntentId(1));
    hand.end("COMMIT");
    let case = drill.case();
    let steps = Steps::new(&case);
    let is_late = |at: &dupeproof::audit::Placed<'_>| {
        at.step.asked >= RunTime(5_000_000) && at.step.asked < ms(10_000)
    };
    let owners: Vec<Option<IntentId>> = steps.all().filter(is_late).map(|at| at.intent).collect();
    assert_eq!(owners, [None, Some(IntentId(0)), Some(IntentId(1)), None]);
}

#[test]
fn an_attempt_without_a_reply_may_still_be_at_work_until_its_instance_ends() {
    let mut drill = served_by(Shop::default(), 1);
    let mut retry = drill.history.attempts[0].clone();
    retry.id = AttemptId(1);
    forget(&mut drill.history.attempts[0]);
    drill.history.attempts[0].completed = Some(RunTime(500));
    retry.first_byte = Some(RunTime(600));
    drill.history.attempts.push(retry);
    assert_eq!(names(&drill, 1), [""; 0]);
    drill.history.exits.push(Exit {
        instance: InstanceId(0),
        at: RunTime(550),
        status: "killed".to_owned(),
        ours: true,
        last_words: String::new(),
    });
    assert_eq!(names(&drill, 1).len(), 9);
    assert_eq!(names(&drill, 0), [""; 0]);
    drill.history.attempts[0].outcome = Outcome::NotSent;
    drill.history.exits.clear();
    assert_eq!(names(&drill, 1).len(), 9, "what was never sent makes no step");
    drill.history.sealed = false;
    assert_eq!(names(&drill, 1), [""; 0], "an attempt may be missing");
}

fn shops() -> impl Strategy<Value = Shop> {
    let locks =
        prop::sample::select(vec![Lock::Fenced, Lock::Alone, Lock::Reentrant, Lock::Advisory]);
    let stocks = prop::sample::select(vec![
        Stock::Conditional,
        Stock::Version,
        Stock::ForUpdate,
        Stock::ReadThenWrite,
        Stock::ForUpdateOutside,
    ]);
    let unlocks = prop::sample::select(vec![Unlock::Script, Unlock::PlainDel, Unlock::GetThenDel]);
    let renewals = prop::sample::select(vec![
        Renewals::Good,
        Renewals::WithoutToken,
        Renewals::Refused,
        Renewals::Unanswered,
        Renewals::None,
    ]);
    let flags = any::<[bool; 5]>();
    (locks, stocks, unlocks, renewals, flags).prop_map(|(lock, stock, unlock, renewals, flags)| {
        let [unlocks_early, setnx, constant_token, begins_before_lock, is_slow] = flags;
        Shop {
            lock,
            stock,
            unlock,
            renewals,
            unlocks_early,
            setnx,
            constant_token,
            begins_before_lock,
            work_ms: if is_slow { 5_000 } else { 1 },
            ..Shop::default()
        }
    })
}

/// Does something to a step that a broken run could.
fn damage(step: &mut Step, rng: &mut ChaCha8Rng) {
    match rng.random_range(0..9) {
        0 => step.intent = Some(IntentId(rng.random())),
        1 => (step.answered, step.delivered, step.answer) = (None, None, None),
        2 => (step.forwarded, step.answered) = (None, None),
        3 => step.asked = RunTime(rng.random()),
        4 => step.statement = Some(dupeproof::history::StatementId(rng.random())),
        5 => step.end = StepEnd::Unanswered,
        6 => step.lease_ms = Some(rng.random()),
        7 => step.link = dupeproof::history::LinkId(rng.random()),
        _ => (step.transaction, step.wire) = (Some(rng.random()), Wire::Http),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_the_journal_does_not_matter(shop in shops(), seed in any::<u64>()) {
        let drill = served_by(shop, 3);
        let mut shuffled = drill.clone();
        shuffled.history.steps.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        prop_assert_eq!(drill.judge(), shuffled.judge());
    }

    #[test]
    fn steps_that_are_missing_make_no_finding(shop in shops(), seed in any::<u64>(), cut in any::<bool>()) {
        let mut drill = served_by(shop, 3);
        let whole = ids(&drill.judge());
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        if cut {
            // A killed run: what came last is missing, and so is the seal.
            let left = rng.random_range(0..drill.history.steps.len());
            drill.history.steps.truncate(left);
            drill.history.sealed = false;
        } else {
            let before = drill.history.steps.len();
            drill.history.steps.retain(|_| rng.random_bool(0.7));
            drill.history.wires[0].lost = (before - drill.history.steps.len()) as u64;
        }
        for id in ids(&drill.judge()) {
            prop_assert!(whole.contains(&id), "{} is new", id);
        }
    }

    #[test]
    fn damaged_steps_are_judged_without_a_panic(shop in shops(), seed in any::<u64>()) {
        let mut drill = served_by(shop, 3);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for step in &mut drill.history.steps {
            if rng.random_bool(0.2) {
                damage(step, &mut rng);
            }
        }
        drill.history.sealed = rng.random_bool(0.8);
        let judgement = judge(&drill.case());
        prop_assert!(judgement.findings.iter().all(|it| !it.severity.fails_the_gate()));
    }
}
