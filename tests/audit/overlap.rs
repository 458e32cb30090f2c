//! G1 with wires, and G13: what the proxies must have seen for a run to prove anything.

use dupeproof::audit::{GateState, Verdict};
use dupeproof::history::{InstanceId, IntentId, LinkId, Role, RunTime, Wire};

use crate::fixture::{Drill, assert_doubted, doubts, gate};
use crate::wires::{Hand, link, sql, wire_facts};

/// Bursts of two attempts for each user, in flight for 2 ms and more, at 10 ms from each other.
fn burst(users: u32) -> Drill {
    let mut drill = Drill::clean(users, 2);
    for (id, wire) in [Wire::Redis, Wire::Postgres, Wire::Redis].into_iter().enumerate() {
        drill.history.links.push(link(id as u32, wire, None));
    }
    drill.history.wires = [Wire::Redis, Wire::Postgres].map(wire_facts).to_vec();
    drill
}

/// The first attempt of a user: a claim, an order, COMMIT, all within 2 ms.
fn place(drill: &mut Drill, user: u32) {
    let mut hand = Hand::new(drill, user);
    hand.now = u64::from(user) * 10_000 + 100;
    hand.step(Wire::Redis, "EVALSHA", "claim idem:orders", "nil").role = Some(Role::Claim);
    hand.begin();
    hand.sql(sql!("insert_order"), Some(Role::OrderInsert), "INSERT 0 1");
    hand.end("COMMIT");
}

/// A step of the second attempt.
fn second(drill: &mut Drill, user: u32, after_us: u64, object: &str, role: Role, at: u32) {
    let mut hand = Hand::new(drill, user);
    hand.links = [at, 1];
    hand.now = u64::from(user) * 10_000 + after_us;
    hand.step(Wire::Redis, "EVALSHA", object, "nil").role = Some(role);
}

fn reached(drill: &Drill) -> Option<u64> {
    drill.judge().accounting.overlap[0].reached
}

#[test]
fn without_proxies_only_what_was_offered_counts() {
    let drill = Drill::clean(4, 2);
    assert_eq!(reached(&drill), None);
    let judgement = drill.judge();
    assert_eq!(gate(&judgement, "G1").detail, "4 of 4 keys had two attempts or more in flight");
}

#[test]
fn a_second_opening_before_the_commit_is_reached() {
    let mut drill = burst(4);
    for user in 0..4 {
        place(&mut drill, user);
        second(&mut drill, user, 300, "claim idem:orders", Role::Claim, 0);
    }
    let judgement = drill.judge();
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    assert_eq!(
        gate(&judgement, "G1").detail,
        "4 of 4 keys had two attempts or more in flight, 4 at work before the first COMMIT"
    );
}

#[test]
fn a_second_opening_after_the_commit_is_not_reached() {
    let mut drill = burst(4);
    for user in 0..4 {
        place(&mut drill, user);
        let after = if user == 0 { 300 } else { 1_900 };
        second(&mut drill, user, after, "claim idem:orders", Role::Claim, 0);
    }
    assert_eq!(reached(&drill), Some(1));
    assert_eq!(
        assert_doubted(&drill, "G1"),
        "phase `double click`: 4 of 4 keys had two attempts in flight, but only 1 had a second one \
         at work before the first COMMIT"
    );
    assert!(drill.judge().doubts[0].cure.contains("work-time"));
    drill.history.phases[0].overlap_share = 0.25;
    assert_eq!(drill.judge().verdict, Verdict::Passed);
}

#[test]
fn a_poll_for_a_lock_is_no_second_attempt_and_a_step_at_another_instance_is() {
    for (instance, expected) in [(0, 0), (1, 1)] {
        let mut drill = burst(1);
        drill.history.links = vec![
            link(0, Wire::Redis, Some(0)),
            link(1, Wire::Postgres, Some(0)),
            link(2, Wire::Redis, Some(instance)),
        ];
        second(&mut drill, 0, 20, "lock", Role::Lock, 0);
        place(&mut drill, 0);
        second(&mut drill, 0, 300, "lock", Role::Lock, 2);
        assert_eq!(reached(&drill), Some(expected));
    }
}

#[test]
fn who_asks_for_a_lock_that_the_intent_holds_is_a_second_attempt() {
    for (token, answer, expected) in [(2, "nil", 1), (1, "nil", 0), (2, "released", 0)] {
        let mut drill = burst(1);
        let mut hand = Hand::new(&mut drill, 0);
        hand.now = 100;
        let grant = hand.on_lock("SET", "", Role::Lock, "OK");
        (grant.token, grant.lease_ms) = (Some(1), Some(3_000));
        if answer == "released" {
            let release = hand.on_lock("EVALSHA", "unlock", Role::Unlock, "1");
            (release.token, release.compares) = (Some(1), true);
        }
        hand.on_lock("SET", "", Role::Lock, "nil").token = Some(token);
        hand.begin();
        hand.sql(sql!("insert_order"), Some(Role::OrderInsert), "INSERT 0 1");
        hand.end("COMMIT");
        assert_eq!(reached(&drill), Some(expected), "token {token}, {answer}");
    }
}

#[test]
fn attempts_of_two_intents_are_told_apart_by_the_intent() {
    let mut drill = burst(2);
    drill.history.phases[0].contended = Some(dupeproof::history::Contended::Product);
    for attempt in &mut drill.history.attempts {
        (attempt.first_byte, attempt.released) = (Some(RunTime(0)), Some(RunTime(0)));
    }
    place(&mut drill, 0);
    assert_eq!(reached(&drill), None, "whatever the second one did, nobody saw it");
    second(&mut drill, 1, 0, "claim idem:orders", Role::Claim, 0);
    assert_eq!(reached(&drill), Some(0), "it came at 10 ms");
    let mut nobodys = drill.history.steps.last().unwrap().clone();
    (nobodys.intent, nobodys.asked) = (None, RunTime(700));
    nobodys.product = Some(drill.history.intents[1].product);
    drill.history.steps.insert(0, nobodys);
    assert_eq!(reached(&drill), None, "it may have been the second one's");
    drill.history.steps.remove(0);
    drill.history.steps.last_mut().unwrap().asked = RunTime(700);
    assert_eq!(reached(&drill), Some(1));
}

#[test]
fn a_wire_without_a_connection_is_a_doubt_of_its_own() {
    let mut drill = burst(2);
    drill.history.links.clear();
    for wire in &mut drill.history.wires {
        (wire.links, wire.steps, wire.of_the_run) = (0, 0, 0);
    }
    let judgement = drill.judge();
    assert_eq!(doubts(&judgement), ["G13", "G13"], "{judgement:#?}");
    assert_eq!(
        judgement.doubts[0].what,
        "the redis proxy saw 0 connections: the service reaches Redis another way"
    );
    assert_eq!(gate(&judgement, "G1").state, GateState::Held);
    assert_eq!(gate(&judgement, "G13").state, GateState::Broken);
}

#[test]
fn a_wire_that_saw_only_strangers_says_why() {
    let mut drill = burst(2);
    for wire in &mut drill.history.wires {
        wire.of_the_run = 0;
    }
    drill.history.wires[1].refused = 1;
    let judgement = drill.judge();
    assert_eq!(doubts(&judgement), ["G13", "G13"]);
    assert!(judgement.doubts[0].what.starts_with("none of 10 steps on 1 connection of the redis"));
    assert!(judgement.doubts[1].what.contains("about to be encrypted"));
    drill.history.wires = vec![wire_facts(Wire::Http)];
    drill.history.wires[0].links = 0;
    assert_eq!(drill.judge().verdict, Verdict::Passed, "a downstream that nobody needed");
}

#[test]
fn steps_that_were_not_written_down_are_a_doubt_and_nothing_is_missed_for_them() {
    let mut drill = burst(2);
    for user in 0..2 {
        place(&mut drill, user);
    }
    assert_doubted(&drill, "G1");
    drill.history.wires[0].lost = 3;
    assert!(assert_doubted(&drill, "G13").starts_with("3 steps of the redis proxy were not"));
    assert_eq!(reached(&drill), None);
}

#[test]
fn steps_without_their_facts_do_no_harm() {
    let mut drill = burst(1);
    place(&mut drill, 0);
    for step in &mut drill.history.steps {
        (step.intent, step.link, step.forwarded) = (Some(IntentId(99)), LinkId(77), None);
    }
    drill.history.links.push(link(77, Wire::Redis, Some(9)));
    assert_eq!(drill.history.links.last().unwrap().instance, Some(InstanceId(9)));
    drill.judge();
    drill.history.intents.clear();
    drill.history.attempts.clear();
    drill.judge();
}
