//! What must hold for any history.

use dupeproof::history::{OrderRow, Outcome};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::fixture::{Drill, ids, loud};
use crate::shape::{Defects, Shape};
use crate::simulator::simulate;

fn drills(defects: Defects) -> impl Strategy<Value = Drill> {
    let troubles = prop::sample::select(vec![0.0, 0.1, 0.3]);
    (any::<u64>(), 1..8_u32, 2..7_u32, troubles).prop_map(move |(seed, users, threads, trouble)| {
        let shape = Shape { users, threads, stock: 100, mutated: 0.2, trouble, ..Shape::default() };
        simulate(seed, shape, defects)
    })
}

fn acknowledged(drill: &Drill) -> Vec<usize> {
    let attempts = drill.history.attempts.iter().enumerate();
    attempts.filter(|(_, it)| it.outcome == Outcome::Acknowledged).map(|(at, _)| at).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_the_journal_does_not_matter(
        drill in drills(Defects { second_order: true, other_body: true, ..Defects::default() }),
        seed in any::<u64>(),
    ) {
        let mut shuffled = drill.clone();
        shuffled.history.attempts.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        prop_assert_eq!(drill.judge(), shuffled.judge());
    }

    #[test]
    fn a_duplicate_that_becomes_unknown_is_no_finding(
        mut drill in drills(Defects::default()),
        which in any::<prop::sample::Index>(),
        all in any::<bool>(),
    ) {
        let acknowledged = acknowledged(&drill);
        prop_assume!(!acknowledged.is_empty());
        let forgotten = if all { acknowledged } else { vec![*which.get(&acknowledged)] };
        for at in forgotten {
            crate::fixture::forget(&mut drill.history.attempts[at]);
        }
        let judgement = drill.judge();
        prop_assert!(loud(&judgement).is_empty(), "{:#?}", judgement.findings);
    }

    #[test]
    fn a_second_row_of_an_acknowledged_key_is_always_found(
        mut drill in drills(Defects::default()),
        which in any::<prop::sample::Index>(),
    ) {
        let acknowledged = acknowledged(&drill);
        prop_assume!(!acknowledged.is_empty());
        let order = drill.history.attempts[*which.get(&acknowledged)].order.clone().unwrap();
        let row = drill.after().orders.iter().find(|row| row.id == order).unwrap().clone();
        drill.add_order(OrderRow { id: "second".into(), ..row });
        prop_assert_eq!(ids(&drill.judge()), vec!["I02"]);
    }

    #[test]
    fn every_attempt_and_intent_is_in_one_class(drill in drills(Defects::default())) {
        let sum = drill.judge().accounting;
        let classes =
            sum.acknowledged + sum.pending + sum.parked + sum.refused + sum.unknown + sum.not_sent;
        prop_assert_eq!(classes, sum.attempts);
        let causes = sum.burst_attempts + sum.retries + sum.replays + sum.resolver_attempts;
        prop_assert_eq!(causes, sum.attempts);
        let intents = sum.intents_with_one_order + sum.intents_with_none + sum.intents_with_more;
        prop_assert_eq!(intents, sum.intents);
        prop_assert_eq!(sum.orders, sum.intents_with_one_order);
    }
}
