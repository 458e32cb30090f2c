//! What must hold for any history.

use dupeproof::audit::{GateState, Verdict};
use dupeproof::history::{
    FaultEvent, FaultFacts, FaultId, FaultPlan, FiredStep, Firing, FiringEnd, IntentId, LinkId,
    OrderRow, Outcome, PhaseId, Proof, RunTime, StepPoint, Wire,
};
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

/// Lines about two faults, as wild as they can be.
fn fault_lines() -> impl Strategy<Value = Vec<FaultFacts>> {
    let end = prop::sample::select(vec![FiringEnd::AtOnce, FiringEnd::OwnHold, FiringEnd::Healed]);
    let line = (0..2_u16, 0..60_000_u64, 0..6_u8, 0..3_u32, 0..8_u32, end);
    let line = line.prop_map(|(fault, at, kind, firing, intent, how)| {
        let act = if fault == 0 { "hold" } else { "partition" };
        let step = FiredStep {
            link: LinkId(0),
            asked: RunTime(at),
            wire: Wire::Redis,
            name: "redis GET".to_owned(),
            point: StepPoint::After,
            intent: Some(IntentId(intent)),
            among: Vec::new(),
            product: None,
            subject: None,
            backend: None,
        };
        let event = match kind {
            0 => FaultEvent::Planned(FaultPlan {
                phase: PhaseId(firing as u16),
                name: act.to_owned(),
                act: act.to_owned(),
                at_least: firing,
            }),
            1 => FaultEvent::Armed,
            2 => FaultEvent::Fired(Firing {
                number: firing,
                decided: RunTime(at),
                step: (fault == 0).then_some(step),
                instance: None,
                also_hit: vec![IntentId(intent + 1)],
            }),
            3 => FaultEvent::Effect { firing, proof: Proof::KeysGone { keys: firing } },
            4 => FaultEvent::Ended { firing, how },
            _ => FaultEvent::Healed,
        };
        FaultFacts { fault: FaultId(fault), at: RunTime(at), event }
    });
    prop::collection::vec(line, 0..24)
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
    fn whatever_was_written_of_faults_a_sound_service_is_not_blamed(
        mut drill in drills(Defects::default()),
        lines in fault_lines(),
        sealed in any::<bool>(),
    ) {
        drill.history.faults = lines;
        drill.history.sealed = sealed;
        let judgement = drill.judge();
        let blamed = loud(&judgement).into_iter().filter(|it| it.code.id != "I11");
        prop_assert_eq!(blamed.count(), 0, "{:#?}", judgement.findings);
        let is_planned = |it: &FaultFacts| matches!(it.event, FaultEvent::Planned(_));
        let is_proven = judgement.gates.iter().any(|it| it.code.id == "G2" && it.state == GateState::Held);
        if drill.history.faults.iter().any(is_planned) && !is_proven {
            prop_assert!(judgement.verdict != Verdict::Passed);
        }
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
