//! L11 and L12: what a fault shows to be slow without being wrong; and I29 where keys were deleted.

use dupeproof::audit::Judgement;
use dupeproof::codes::Severity;
use dupeproof::history::{
    FaultEvent, FiringEnd, IntentId, LinkId, Proof, Role, RunTime, Step, StepPoint, Wire,
};
use dupeproof::profile::{Act, Expire, Expired, Hold, Loss, Passing, Until};

use std::time::Duration;

use crate::fixture::*;
use crate::struck::{Hurt, at_step, commit_held, hold, unlock_reply_lost};
use crate::wires::{Hand, Shop, link, served_by, sql, watched};

const UNLOCK: &str = "redis EVALSHA unlock lock:stock";

fn found(judgement: &Judgement, id: &str) -> Vec<(Severity, String)> {
    let own = judgement.findings.iter().filter(|it| it.code.id == id);
    own.map(|it| (it.severity, it.therefore[0].clone())).collect()
}

/// Two requests of a shop; the reply to the first one's unlock is lost, or its request.
fn unlock_lost(is_request: bool) -> Drill {
    let mut drill = served_by(Shop::default(), 2);
    let is_first = |step: &Step| step.role == Some(Role::Unlock);
    let unlock = drill.history.steps.iter().position(is_first).unwrap();
    let fault = match is_request {
        false => unlock_reply_lost(),
        true => {
            let trigger = at_step(Wire::Redis, "EVALSHA", Some("unlock"), StepPoint::Before);
            (trigger, Act::DropRequest(Loss::Close))
        }
    };
    let point = if is_request { StepPoint::Before } else { StepPoint::After };
    // The last unlock so far is the first one's.
    let later = drill.history.steps.split_off(unlock + 1);
    let mut hurt = Hurt::new(&mut drill, fault);
    let at = hurt.fires_at(UNLOCK, 0, point).0;
    hurt.proves(
        at + 5,
        match is_request {
            true => Proof::ServerNotAsked,
            false => Proof::ServerAnswered { answer: "1".to_owned() },
        },
    );
    hurt.ends(at + 5, FiringEnd::AtOnce);
    hurt.heals(at + 1_000);
    drill.history.steps.extend(later);
    let unlock = &mut drill.history.steps[unlock];
    unlock.delivered = None;
    if is_request {
        (unlock.forwarded, unlock.answered, unlock.answer) = (None, None, None);
        unlock.end = dupeproof::history::StepEnd::Unanswered;
    }
    drill
}

#[test]
fn an_unlock_that_is_not_tried_again_is_a_lease_that_may_linger() {
    let judgement = unlock_lost(false).judge();
    let found = found(&judgement, "L11");
    assert_eq!(found[0].0, Severity::Efficiency, "{judgement:#?}");
    assert!(found[0].1.contains("the reply to redis EVALSHA unlock lock:stock #1 was lost"));
    assert!(loud(&judgement).is_empty(), "{judgement:#?}");
}

#[test]
fn an_unlock_that_never_arrived_and_is_not_tried_again_is_one_that_lingers() {
    let found = found(&unlock_lost(true).judge(), "L11");
    assert!(found[0].1.contains("stood locked until its lease ran out"), "{found:?}");
}

#[test]
fn an_unlock_that_is_tried_again_with_its_token_passes() {
    let mut drill = unlock_lost(false);
    let mut hand = Hand::new(&mut drill, 0);
    hand.now = 20_000;
    let again = hand.on_lock("EVALSHA", "unlock", Role::Unlock, "0");
    (again.token, again.compares) = (Some(1_000), true);
    let judgement = drill.judge();
    assert_eq!(found(&judgement, "L11"), []);
    assert!(judgement.gates.iter().any(|gate| gate.code.id == "L11"));
}

#[test]
fn a_lost_reply_is_told_with_the_step_that_it_was_of() {
    let drill = unlock_lost(false);
    let judgement = drill.judge();
    let of_unlock = judgement.findings.iter().find(|it| it.code.id == "L11").unwrap();
    let scenes = dupeproof::story::tell(&drill.case(), of_unlock);
    let told: Vec<String> =
        scenes.into_iter().map(|it| format!("{:9} {}", it.seen_by, it.what)).collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn what_was_done_to_a_lock_is_told_though_nobody_knows_whose_step_it_was() {
    let mut drill = unlock_lost(false);
    for facts in &mut drill.history.faults {
        if let FaultEvent::Fired(firing) = &mut facts.event {
            firing.step.as_mut().unwrap().intent = None;
        }
    }
    let judgement = drill.judge();
    let of_unlock = judgement.findings.iter().find(|it| it.code.id == "L11").unwrap();
    assert_eq!(of_unlock.witness.faults.len(), 1, "{:#?}", of_unlock.witness);
}

#[test]
fn an_unlock_that_stalls_is_learnt_of_too_late_to_judge() {
    let mut drill = unlock_lost(false);
    drill.profile.phases[0].faults[0].act = Act::DropReply(Loss::Stall);
    assert_eq!(found(&drill.judge(), "L11"), []);
}

/// Two users want two products; the first one's COMMIT is held until 500 ms.
fn two_products() -> Drill {
    let mut drill = watched(2);
    for attempt in &mut drill.history.attempts {
        (attempt.first_byte, attempt.released) = (Some(RunTime(0)), Some(RunTime(0)));
        attempt.completed = Some(ms(510));
    }
    drill.history.intents[1].product = PRODUCT + 1;
    drill.baseline.stock.insert((PRODUCT + 1).to_string(), stock());
    drill.after().stock.insert((PRODUCT + 1).to_string(), stock());
    drill.history.links.push(link(2, Wire::Redis, None));
    drill.history.links.push(link(3, Wire::Postgres, None));
    drill.after().orders[1].product = Some((PRODUCT + 1).to_string().into());
    *drill.available() += 1;
    drill.after().stock.get_mut(&(PRODUCT + 1).to_string()).unwrap().available -= 1;
    drill.before_repair = drill.after.clone();
    drill.end();
    let mut hand = Hand::new(&mut drill, 0);
    let grant = hand.on_lock("SET", "", Role::Lock, "OK");
    (grant.token, grant.lease_ms, grant.intent) = (Some(1), Some(3_000), Some(IntentId(0)));
    hand.begin();
    hand.sql(sql!("insert_order"), Some(Role::OrderInsert), "INSERT 0 1");
    let commit = hand.end("COMMIT");
    let begin = commit.asked.0;
    (commit.forwarded, commit.answered) = (Some(ms(500)), Some(RunTime(500_200)));
    commit.delivered = commit.answered;
    commit.intent = Some(IntentId(0));
    hand.now = 501_000;
    let unlock = hand.on_lock("EVALSHA", "unlock", Role::Unlock, "1");
    (unlock.token, unlock.compares, unlock.intent) = (Some(1), true, Some(IntentId(0)));
    let mut hurt = Hurt::new(&mut drill, commit_held());
    hurt.fires_at("postgres COMMIT", 0, StepPoint::Before);
    hurt.proves(begin + 10, Proof::ServerNotAsked);
    hurt.ends(500_000, FiringEnd::TimeOver);
    hurt.heals(501_000);
    drill
}

fn stock() -> dupeproof::history::StockRow {
    dupeproof::history::StockRow { available: STOCK, fence: None }
}

/// The second user asks for a lock, so many times in vain, with the answer at the end.
fn asks_for(drill: &mut Drill, key: &str, in_vain: u32) {
    for number in 0..=in_vain {
        let mut hand = Hand::new(drill, 1);
        (hand.links, hand.now) =
            ([2, 3], if number < in_vain { 20_000 + u64::from(number) * 100_000 } else { 505_000 });
        let answer = if number < in_vain { "nil" } else { "OK" };
        let bid = hand.on_lock("SET", "", Role::Lock, answer);
        (bid.token, bid.lease_ms, bid.intent, bid.product) =
            (Some(2), Some(3_000), Some(IntentId(1)), None);
        bid.subject = Some(key.into());
    }
}

#[test]
fn who_waits_for_a_lock_of_a_stranger_is_told() {
    let mut drill = two_products();
    asks_for(&mut drill, &crate::wires::lock_key(), 3);
    let judgement = drill.judge();
    let found = found(&judgement, "L12");
    assert_eq!(found[0].0, Severity::Efficiency, "{judgement:#?}");
    assert!(found[0].1.contains("was refused the lock that the held request had"), "{found:?}");
    assert!(loud(&judgement).is_empty());
}

#[test]
fn a_lock_for_everything_is_nobodys_and_is_told_all_the_same() {
    let mut drill = two_products();
    asks_for(&mut drill, &crate::wires::lock_key(), 3);
    for step in drill.history.steps.iter_mut().filter(|it| it.wire == Wire::Redis) {
        (step.subject, step.intent, step.product) = (Some("lock:all".into()), None, None);
    }
    assert_eq!(found(&drill.judge(), "L12").len(), 1);
    // Had it been given up before, somebody else was in the way.
    let early = drill.history.steps.iter_mut().find(|it| it.role == Some(Role::Unlock)).unwrap();
    (early.asked, early.forwarded, early.answered) =
        (ms(15), Some(RunTime(15_010)), Some(RunTime(15_200)));
    assert_eq!(found(&drill.judge(), "L12"), []);
}

#[test]
fn a_lock_is_known_by_how_it_is_asked_for_again_and_again() {
    let polls = |times: u32| {
        let mut drill = two_products();
        asks_for(&mut drill, &crate::wires::lock_key(), times);
        for step in drill.history.steps.iter_mut().filter(|it| it.wire == Wire::Redis) {
            (step.role, step.token) = (None, None);
        }
        found(&drill.judge(), "L12").len()
    };
    assert_eq!((polls(2), polls(3)), (0, 1));
}

#[test]
fn who_waits_for_a_statement_behind_a_stranger_is_told() {
    let mut drill = two_products();
    let mut hand = Hand::new(&mut drill, 1);
    (hand.links, hand.now) = ([2, 3], 20_000);
    hand.begin();
    let write = hand.sql(sql!("take_stock"), Some(Role::StockWrite), "UPDATE 1");
    (write.answered, write.delivered) = (Some(RunTime(500_500)), Some(RunTime(500_600)));
    (write.intent, write.product) = (Some(IntentId(1)), Some(PRODUCT + 1));
    hand.now = 501_000;
    hand.end("COMMIT");
    assert!(found(&drill.judge(), "L12")[0].1.contains("got no answer"));
}

#[test]
fn who_has_a_lock_of_its_own_or_wants_the_same_product_is_not() {
    let mut drill = two_products();
    asks_for(&mut drill, "lock:stock:2", 0);
    drill.history.attempts[1].completed = Some(ms(30));
    let last = drill.history.steps.iter_mut().rfind(|it| it.link == LinkId(2)).unwrap();
    (last.asked, last.forwarded, last.answered) =
        (ms(10), Some(RunTime(10_010)), Some(RunTime(10_200)));
    let judgement = drill.judge();
    assert_eq!(found(&judgement, "L12"), []);
    assert!(gate(&judgement, "L12").detail.starts_with("0 of 1 request beside it"));

    let mut drill = two_products();
    asks_for(&mut drill, &crate::wires::lock_key(), 3);
    drill.history.intents[1].product = PRODUCT;
    assert_eq!(found(&drill.judge(), "L12"), []);
}

#[test]
fn a_payment_that_is_held_holds_up_nobody() {
    let mut drill = two_products();
    for facts in &mut drill.history.faults {
        if let FaultEvent::Fired(firing) = &mut facts.event {
            let step = firing.step.as_mut().unwrap();
            (step.wire, step.name) = (Wire::Http, "http POST /charges".to_owned());
        }
    }
    let fault = &mut drill.profile.phases[0].faults[0];
    fault.at = at_step(Wire::Http, "POST", Some("/charges"), StepPoint::Before);
    fault.act = hold();
    let name = fault.name();
    for facts in &mut drill.history.faults {
        if let FaultEvent::Planned(plan) = &mut facts.event {
            plan.name = name.clone();
        }
    }
    drill.history.intents[1].product = PRODUCT;
    assert_eq!(found(&drill.judge(), "L12"), []);
    let mut hand = Hand::new(&mut drill, 1);
    (hand.links, hand.now) = ([2, 3], 20_000);
    let write = hand.sql("SELECT 1 FROM orders FOR UPDATE", None, "SELECT 1");
    (write.answered, write.delivered) = (Some(RunTime(500_500)), Some(RunTime(500_600)));
    assert!(found(&drill.judge(), "L12")[0].1.contains("keep nothing locked"));
}

#[test]
fn a_lease_whose_key_was_deleted_by_the_drill_was_not_shared() {
    let shared = |is_ours: bool| {
        let mut drill = watched(2);
        for attempt in &mut drill.history.attempts {
            (attempt.first_byte, attempt.completed) = (Some(RunTime(0)), Some(ms(9_500)));
        }
        drill.end();
        for (who, at) in [(0, 10), (1, 50)] {
            let mut hand = Hand::new(&mut drill, who);
            hand.now = at * 1_000;
            let bid = hand.on_lock("SET", "", Role::Lock, "OK");
            (bid.token, bid.lease_ms, bid.intent) =
                (Some(u64::from(who) + 1), Some(3_000), Some(IntentId(who)));
        }
        if is_ours {
            let limit = Duration::from_secs(5);
            let hold = Hold { until: Until::TakenOver, limit };
            let act = Act::Expire(Expire {
                what: Expired::Lease,
                how: Passing::Delete,
                replay: true,
                hold,
            });
            let trigger = at_step(Wire::Postgres, "COMMIT", None, StepPoint::Before);
            let mut hurt = Hurt::new(&mut drill, (trigger, act));
            hurt.fires_unseen(30_000, Wire::Postgres, "postgres COMMIT", 0, StepPoint::Before);
            hurt.proves(30_100, Proof::KeysGone { keys: 1 });
            hurt.ends(60_000, FiringEnd::TakenOver);
            hurt.heals(60_000);
        }
        found(&drill.judge(), "I29").len()
    };
    assert_eq!((shared(false), shared(true)), (1, 0));
}

#[test]
fn a_lease_that_was_got_after_the_deletion_is_its_holders() {
    let mut drill = watched(2);
    for attempt in &mut drill.history.attempts {
        (attempt.first_byte, attempt.completed) = (Some(RunTime(0)), Some(ms(9_500)));
    }
    drill.end();
    let mut lock = |who: u32, at: u64| {
        let mut hand = Hand::new(&mut drill, who);
        hand.now = at * 1_000;
        let bid = hand.on_lock("SET", "", Role::Lock, "OK");
        (bid.token, bid.lease_ms, bid.intent) =
            (Some(u64::from(who) + 1), Some(3_000), Some(IntentId(who)));
    };
    lock(0, 10);
    lock(1, 50);
    let mut hand = Hand::new(&mut drill, 0);
    hand.now = 70_000;
    hand.on_lock("DEL", "", Role::Unlock, "1").intent = Some(IntentId(0));
    let hold = Hold { until: Until::TakenOver, limit: Duration::from_secs(5) };
    let act =
        Act::Expire(Expire { what: Expired::Lease, how: Passing::Delete, replay: true, hold });
    let trigger = at_step(Wire::Redis, "GET", None, StepPoint::After);
    let mut hurt = Hurt::new(&mut drill, (trigger, act));
    hurt.fires_unseen(30_000, Wire::Redis, "redis GET lock:stock", 0, StepPoint::After);
    hurt.proves(30_100, Proof::KeysGone { keys: 1 });
    hurt.ends(60_000, FiringEnd::TakenOver);
    hurt.heals(60_000);
    let judgement = drill.judge();
    assert!(found(&judgement, "I29")[0].1.contains("removed it"), "{judgement:#?}");
}
