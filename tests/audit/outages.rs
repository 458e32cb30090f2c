//! I24 and I17: what is due while Redis is away, and what fences keep out afterwards.

use dupeproof::audit::{GateState, Judgement, Verdict};
use dupeproof::codes::Severity;
use dupeproof::history::{Attempt, Cause, InstanceId, IntentId, OrderRow, Role, RunTime, StockRow};
use dupeproof::profile::{Act, RedisDown, Target, Trigger};

use std::time::Duration;

use dupeproof::history::{FiringEnd, Proof, Wire};

use crate::fixture::*;
use crate::struck::{Hurt, redis_away};
use crate::wires::{Hand, sql, watched};

/// Redis is away from 30 to 60 ms; user 3 asks at 40 ms, answered as `settle` says, then at 100 ms.
fn asked_meanwhile(down: Option<RedisDown>, settle: fn(&mut Attempt)) -> Drill {
    let mut drill = Drill::clean(3, 2);
    drill.profile.contract.redis_down = down;
    drill.add_intent(3, 3, 1);
    let first = drill.add_attempt(3, ms(40), ms(45));
    settle(first);
    let is_told = first.order.is_some();
    (first.cause, first.instance) = (Cause::Burst, InstanceId(0));
    let again = drill.add_attempt(3, ms(100), ms(105));
    acknowledge(again, if is_told { 3 } else { 4 });
    again.body = Some(dupeproof::history::BodyId(0));
    let number = if is_told { 3 } else { 4 };
    for attempt in &mut drill.history.attempts[6..] {
        attempt.body = None;
    }
    drill.add_order(OrderRow { id: order_id(number).into(), ..row(3, 1) });
    drill.history.phases[0].planned += 1;
    redis_away(&mut drill, 30, 60);
    drill.before_repair = drill.after.clone();
    drill.end();
    drill
}

fn told(attempt: &mut Attempt) {
    acknowledge(attempt, 3);
}

fn unavailable(attempt: &mut Attempt) {
    (attempt.status, attempt.failure) = (Some(503), None);
}

fn of_i24(drill: &Drill) -> Vec<(Severity, String)> {
    let judgement = drill.judge();
    let own = judgement.findings.iter().filter(|it| it.code.id == "I24");
    own.map(|it| (it.severity, it.title.clone())).collect()
}

#[test]
fn what_the_contract_says_of_a_lost_redis_is_kept_or_it_is_i24() {
    for down in [None, Some(RedisDown::Degrade), Some(RedisDown::Database)] {
        assert_eq!(of_i24(&asked_meanwhile(down, told)), []);
    }
    for down in [None, Some(RedisDown::Degrade), Some(RedisDown::Reject)] {
        assert_eq!(of_i24(&asked_meanwhile(down, unavailable)), []);
    }
    for (down, answer) in
        [(RedisDown::Reject, told as fn(&mut Attempt)), (RedisDown::Database, unavailable)]
    {
        let found = of_i24(&asked_meanwhile(Some(down), answer));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, Severity::Contract);
    }
}

#[test]
fn a_lab_says_in_its_settings_what_it_does_without_redis() {
    let mut drill = asked_meanwhile(None, unavailable);
    drill.profile.target = Target::Lab;
    assert_eq!(of_i24(&drill).len(), 1);
    drill.profile.lab.redis_down = "reject";
    assert_eq!(of_i24(&drill), []);
}

#[test]
fn an_answer_that_came_after_the_heal_says_nothing_of_the_outage() {
    let mut drill = asked_meanwhile(Some(RedisDown::Database), unavailable);
    drill.history.attempts[6].completed = Some(ms(61));
    assert_eq!(of_i24(&drill), []);
}

#[test]
fn data_that_broke_without_redis_are_told_as_such() {
    let mut drill = asked_meanwhile(None, told);
    drill.add_order(OrderRow { id: order_id(500).into(), ..row(3, 1) });
    let judgement = drill.judge();
    assert_eq!(ids(&judgement), ["I02", "I24"], "{judgement:#?}");
    let found = of_i24(&drill);
    assert_eq!(found[0].0, Severity::Critical);
    assert!(found[0].1.contains("I02"), "{found:?}");
    assert_eq!(gate(&judgement, "I24").state, GateState::Broken);
    // Before the outage, and answered before it, it is the same break and nobody blames Redis.
    let mut early = Drill::clean(3, 2);
    early.add_order(OrderRow { id: order_id(500).into(), ..row(0, 1) });
    redis_away(&mut early, 25, 60);
    assert_eq!(ids(&early.judge()), ["I02"]);
}

/// Orders of one product, each by a request of its own: what the lock answered, and whether the write was
/// taken.
fn fenced(requests: &[(&str, &str)]) -> Drill {
    let mut drill = watched(requests.len() as u32);
    drill.profile.audit.stock.as_mut().unwrap().fence = Some("last_fence".to_owned());
    for (number, (fence, written)) in requests.iter().enumerate() {
        let mut hand = Hand::new(&mut drill, number as u32);
        place(&mut hand, fence, written);
    }
    drill
}

fn place(hand: &mut Hand<'_>, fence: &str, written: &str) {
    let token = 1_000 + u64::from(hand.intent);
    let grant = hand.on_lock("EVALSHA", "grant", Role::Lock, fence);
    (grant.token, grant.lease_ms) = (Some(token), Some(3_000));
    hand.begin();
    hand.sql(sql!("take_stock"), Some(Role::StockWrite), written);
    hand.sql(sql!("insert_order"), Some(Role::OrderInsert), "INSERT 0 1");
    hand.end("COMMIT");
    let unlock = hand.on_lock("EVALSHA", "unlock", Role::Unlock, "1");
    (unlock.token, unlock.compares) = (Some(token), true);
}

fn of_i17(judgement: &Judgement) -> Vec<String> {
    let own = judgement.findings.iter().filter(|it| it.code.id == "I17");
    own.flat_map(|it| it.therefore.clone()).collect()
}

#[test]
fn fences_that_rise_pass() {
    let judgement = fenced(&[("41", "UPDATE 1"), ("42", "UPDATE 1"), ("43", "UPDATE 1")]).judge();
    assert_eq!(of_i17(&judgement), [""; 0]);
    assert_eq!(gate(&judgement, "I17").detail, "3 fences, 3 accepted writes under them");
}

#[test]
fn a_lock_that_answers_the_same_to_everybody_hands_out_no_fence() {
    let judgement = fenced(&[("1", "UPDATE 1"), ("1", "UPDATE 1")]).judge();
    assert_eq!(of_i17(&judgement), [""; 0]);
    assert_eq!(gate(&judgement, "I17").state, GateState::NotJudged);
}

#[test]
fn a_fence_that_falls_is_found() {
    let judgement = fenced(&[("41", "UPDATE 1"), ("42", "UPDATE 1"), ("7", "UPDATE 0")]).judge();
    let found = of_i17(&judgement);
    assert!(found[0].contains("got 7") && found[0].contains("42"), "{found:?}");
    assert_eq!(judgement.verdict, Verdict::Violated);
}

/// Redis is swapped for an empty one between the second and the third request.
fn forgotten(third: &str) -> Drill {
    let mut drill = fenced(&[("41", "UPDATE 1"), ("42", "UPDATE 1"), (third, "UPDATE 0")]);
    let swap = Act::SwapUpstream { wire: Wire::Redis };
    let mut hurt = Hurt::new(&mut drill, (Trigger::Time(Duration::from_secs(15)), swap));
    hurt.fires(15_000_000, None, None);
    hurt.proves(15_000_010, Proof::Swapped { links: 1 });
    hurt.ends(15_000_010, FiringEnd::AtOnce);
    hurt.heals(25_000_000);
    drill
}

#[test]
fn a_counter_that_redis_forgot_begins_above_the_stored_fence() {
    assert_eq!(of_i17(&forgotten("43").judge()), [""; 0]);
    for fence in ["1", "42"] {
        let found = of_i17(&forgotten(fence).judge());
        assert!(found[0].contains("below the stored fence"), "{found:?}");
    }
}

/// A holder is granted 41 and writes only when another one, with 42, has committed.
fn late_holder(written: &str) -> Drill {
    let mut drill = watched(2);
    drill.profile.audit.stock.as_mut().unwrap().fence = Some("last_fence".to_owned());
    for attempt in &mut drill.history.attempts {
        (attempt.first_byte, attempt.completed) = (Some(RunTime(0)), Some(ms(9_500)));
    }
    drill.end();
    let mut late = Hand::new(&mut drill, 0);
    late.now = 1_000;
    let grant = late.on_lock("EVALSHA", "grant", Role::Lock, "41");
    (grant.token, grant.lease_ms, grant.intent) = (Some(1), Some(3_000), Some(IntentId(0)));
    let mut other = Hand::new(&mut drill, 1);
    other.now = 4_000_000;
    place(&mut other, "42", "UPDATE 1");
    for step in &mut drill.history.steps[1..] {
        step.intent = Some(IntentId(1));
    }
    let after = drill.history.steps.len();
    let mut late = Hand::new(&mut drill, 0);
    late.now = 5_000_000;
    late.begin();
    late.sql(sql!("take_stock"), Some(Role::StockWrite), written);
    late.sql(sql!("insert_order"), Some(Role::OrderInsert), "INSERT 0 1");
    late.end("COMMIT");
    for step in &mut drill.history.steps[after..] {
        step.intent = Some(IntentId(0));
    }
    // The release by which its script is understood.
    let mut late = Hand::new(&mut drill, 0);
    late.now = 6_000_000;
    let unlock = late.on_lock("EVALSHA", "unlock", Role::Unlock, "0");
    (unlock.token, unlock.compares, unlock.intent) = (Some(1), true, Some(IntentId(0)));
    drill
}

#[test]
fn a_late_holder_whose_write_is_taken_is_found_and_one_that_is_refused_is_not() {
    let found = of_i17(&late_holder("UPDATE 1").judge());
    assert!(found[0].contains("a late holder wrote"), "{found:?}");
    assert_eq!(of_i17(&late_holder("UPDATE 0").judge()), [""; 0]);
}

#[test]
fn a_stored_fence_that_goes_back_is_found() {
    let mut drill = Drill::clean(3, 2);
    drill.profile.audit.stock.as_mut().unwrap().fence = Some("last_fence".to_owned());
    let stock = |drill: &mut Drill, fence: i64| {
        let row: &mut StockRow = drill.after().stock.get_mut(&PRODUCT.to_string()).unwrap();
        row.fence = Some(fence);
    };
    drill.history.wires = vec![crate::wires::wire_facts(Wire::Redis)];
    stock(&mut drill, 43);
    drill.before_repair = drill.after.clone();
    assert_eq!(of_i17(&drill.judge()), [""; 0]);
    stock(&mut drill, 42);
    assert!(of_i17(&drill.judge())[0].contains("43 was stored"));
}
