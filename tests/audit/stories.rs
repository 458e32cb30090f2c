//! Stories: the shortest telling, as far as it was observed.

use std::time::Duration;

use dupeproof::codes::{all, find};
use dupeproof::history::{
    Exit, FiringEnd, InstanceId, IntentId, LinkId, OrderRow, Proof, Role, RunTime, Step, StepPoint,
    Wire,
};
use dupeproof::story::tell;

use crate::fixture::*;
use crate::struck::{Hurt, commit_held};
use crate::wires::{Hand, Lock, Shop, Stock, link, served_by, sql, watched};

fn told(drill: &Drill) -> Vec<String> {
    let judgement = drill.judge();
    let lines = tell(&drill.case(), &judgement.findings[0]);
    lines
        .into_iter()
        .map(|line| {
            let at = line.at.map_or_else(String::new, |at| at.to_string());
            format!("{at:9} {:9} {}", line.seen_by, line.what)
        })
        .collect()
}

#[test]
fn two_orders_are_told_in_the_order_of_time() {
    let mut drill = Drill::clean(3, 2);
    let created_us = Some(STARTED_US + 11_500);
    drill.add_order(OrderRow { id: order_id(500).into(), created_us, ..row(1, 1) });
    drill.history.attempts[3].order = Some(order_id(500).into());
    insta::assert_snapshot!(told(&drill).join("\n"));
}

#[test]
fn a_row_of_another_clock_has_no_place_in_time() {
    let mut drill = Drill::clean(3, 2);
    drill.after().orders[1].created_us = Some(0);
    drill.add_order(OrderRow { id: order_id(500).into(), created_us: None, ..row(1, 1) });
    let story = told(&drill).join("\n");
    assert!(story.contains("(created_at is of another clock)"), "{story}");
    assert!(story.contains("(time not known)"), "{story}");
}

#[test]
fn a_lost_order_is_told_up_to_the_look_into_the_table() {
    let mut drill = Drill::clean(3, 2);
    drill.after().orders.remove(1);
    *drill.available() += 1;
    insta::assert_snapshot!(told(&drill).join("\n"));
}

#[test]
fn stock_that_disagrees_is_told_with_its_readings() {
    let mut drill = Drill::clean(3, 2);
    *drill.available() += 2;
    let story = told(&drill);
    assert!(story.iter().any(|line| line.contains("baseline: product")), "{story:#?}");
    assert!(story.iter().any(|line| line.contains("at the end: product")), "{story:#?}");
    assert!(story.len() <= 10);
}

#[test]
fn an_exit_is_told_by_the_target() {
    let mut drill = Drill::clean(3, 2);
    drill.history.exits.push(Exit {
        instance: InstanceId(1),
        at: ms(15),
        status: "exit status 1".to_owned(),
        ours: false,
        last_words: "stack\nError: connect ECONNREFUSED\n".to_owned(),
    });
    let line = "orders-2 ended: exit status 1; its last line: Error: connect ECONNREFUSED";
    assert!(told(&drill)[0].ends_with(line), "{:#?}", told(&drill));
}

/// Two attempts of one intent, at two instances, whose first one gives its lock up before its COMMIT is
/// answered; the second one waits for the lock.
fn raced() -> Drill {
    let mut drill = watched(1);
    drill.add_attempt(0, ms(1), ms(9_000)).instance = InstanceId(1);
    acknowledge(&mut drill.history.attempts[1], 500);
    drill.history.attempts[0].instance = InstanceId(0);
    drill.history.links.push(link(2, Wire::Redis, None));
    drill.history.links.push(link(3, Wire::Postgres, None));
    for (link, instance) in drill.history.links.iter_mut().zip([0, 0, 1, 1]) {
        link.instance = Some(InstanceId(instance));
    }
    place(Hand::new(&mut drill, 0), 7, 0);
    let commit = drill.history.steps.last_mut().unwrap();
    commit.answered = commit.answered.map(|at| at.plus(Duration::from_millis(20)));
    let now = commit.asked.0 - 600;
    let mut second = Hand::new(&mut drill, 0);
    (second.links, second.now) = ([2, 3], now);
    place(second, 8, 2);
    let inserts = drill.history.steps.iter().filter(|it| it.role == Some(Role::OrderInsert));
    let created: Vec<i64> = inserts.map(|it| STARTED_US + it.asked.0 as i64 + 50).collect();
    drill.after().orders[0].created_us = Some(created[0]);
    let created_us = Some(created[1]);
    drill.add_order(OrderRow { id: order_id(500).into(), created_us, ..row(0, 1) });
    drill
}

/// Locks, after so many tries in vain, looks, inserts, unlocks, commits.
fn place(mut hand: Hand<'_>, token: u64, in_vain: usize) {
    for answer in vec!["nil"; in_vain].into_iter().chain(["OK"]) {
        let bid = hand.on_lock("SET", "", Role::Lock, answer);
        (bid.token, bid.lease_ms, bid.intent) = (Some(token), Some(3_000), Some(IntentId(0)));
    }
    hand.begin();
    hand.sql("SELECT order_id FROM orders WHERE user_id = $1", None, "SELECT 0");
    hand.sql(sql!("insert_order"), Some(Role::OrderInsert), "INSERT 0 1");
    let unlock = hand.on_lock("EVALSHA", "unlock", Role::Unlock, "1");
    (unlock.token, unlock.compares, unlock.intent) = (Some(token), true, Some(IntentId(0)));
    hand.end("COMMIT");
}

#[test]
fn two_orders_are_told_by_the_wires_that_saw_them() {
    let drill = raced();
    assert_eq!(ids(&drill.judge())[0], "I02");
    insta::assert_snapshot!(told(&drill).join("\n"));
    let therefore = &drill.judge().findings[0].therefore[0];
    insta::assert_snapshot!(therefore);
}

#[test]
fn a_commit_that_was_held_is_told_with_the_unlock_before_it() {
    let mut drill = raced();
    // The second attempt, moved to where the first one's COMMIT is held.
    let commit = drill.history.steps.iter_mut().find(|it| &*it.verb == "COMMIT").unwrap();
    let held = commit.asked;
    let over = RunTime(held.0 + 15_000);
    (commit.forwarded, commit.intent) = (Some(over), Some(IntentId(0)));
    (commit.answered, commit.delivered) =
        (Some(RunTime(over.0 + 200)), Some(RunTime(over.0 + 210)));
    drill.history.attempts[1].completed = Some(RunTime(over.0 - 100));
    drill.history.attempts[0].completed = Some(RunTime(over.0 + 1_000));
    drill.end();
    let mut hurt = Hurt::new(&mut drill, commit_held());
    let first = hurt.drill.history.steps.iter().position(|it| &*it.verb == "COMMIT").unwrap();
    let later = hurt.drill.history.steps.split_off(first + 1);
    hurt.fires_at("postgres COMMIT", 0, StepPoint::Before);
    hurt.drill.history.steps.extend(later);
    hurt.proves(held.0 + 10, Proof::ServerNotAsked);
    hurt.ends(over.0, FiringEnd::OthersAnswered);
    hurt.heals(over.0 + 10);
    insta::assert_snapshot!(told(&drill).join("\n"));
}

#[test]
fn what_may_be_of_either_attempt_is_nobodys() {
    let mut drill = raced();
    for link in &mut drill.history.links {
        link.instance = Some(InstanceId(0));
    }
    for attempt in &mut drill.history.attempts {
        attempt.instance = InstanceId(0);
    }
    let story = told(&drill).join("\n");
    assert!(!story.contains("(attempt") && !story.contains("(orders-"), "{story}");
    assert!(story.contains("INSERT INTO orders ... order 1500"), "{story}");
}

#[test]
fn inserts_that_no_row_can_be_laid_beside_are_told_without_their_orders() {
    let mut drill = raced();
    for order in &mut drill.after().orders {
        order.created_us = None;
    }
    let story = told(&drill);
    let inserts = story.iter().filter(|line| line.contains("INSERT INTO orders ..."));
    let inserts: Vec<_> = inserts.collect();
    assert_eq!(inserts.len(), 2, "{story:#?}");
    assert!(inserts.iter().all(|line| !line.contains("... order")), "{story:#?}");
    assert!(!drill.judge().findings[0].therefore[0].contains("L1"));
}

#[test]
fn rows_of_which_one_insert_alone_was_seen_are_told_by_their_times() {
    let mut drill = raced();
    let is_second = |step: &Step| step.link == LinkId(3);
    drill.history.steps.retain(|step| !is_second(step));
    let story = told(&drill).join("\n");
    assert_eq!(story.matches("(by created_at)").count(), 2, "{story}");
    assert_eq!(story.matches("INSERT INTO orders").count(), 2, "{story}");
}

#[test]
fn a_commit_that_came_before_the_look_is_no_reason() {
    let mut drill = raced();
    let commit = drill.history.steps.iter_mut().find(|it| &*it.verb == "COMMIT").unwrap();
    commit.answered = commit.forwarded;
    let finding = &drill.judge().findings[0];
    assert!(finding.therefore.iter().all(|claim| !claim.contains("L1")), "{finding:#?}");
}

#[test]
fn a_wire_that_was_not_watched_in_full_is_said_once() {
    let mut drill = raced();
    assert!(told(&drill).iter().all(|line| !line.contains("observed")));
    (drill.history.wires[0].lost, drill.history.wires[0].unread) = (2, 1);
    let last = told(&drill).pop().unwrap();
    let what =
        "redis     observed in part: 1 connection passed unread, 2 steps were not written down";
    assert!(last.ends_with(what), "{last}");
    drill.history.wires.truncate(1);
    let last = told(&drill).pop().unwrap();
    assert!(last.ends_with("postgres  not observed, only its rows were"), "{last}");
}

/// Two orders of a shop that reads the stock and writes it back, the second of which reads before the
/// first one's COMMIT.
fn overwritten() -> Drill {
    let mut drill = watched(2);
    (drill.history.attempts[1].first_byte, drill.history.attempts[1].released) =
        (Some(ms(0)), Some(ms(0)));
    drill.history.links.push(link(2, Wire::Redis, None));
    drill.history.links.push(link(3, Wire::Postgres, None));
    let shop = Shop { stock: Stock::ReadThenWrite, lock: Lock::Advisory, ..Shop::default() };
    shop.serve(&mut Hand::new(&mut drill, 0));
    let mut second = Hand::new(&mut drill, 1);
    (second.links, second.now) = ([2, 3], 2_000);
    shop.serve(&mut second);
    // It waits for the row until the first one has committed.
    let writes = drill.history.steps.iter_mut().filter(|it| it.role == Some(Role::StockWrite));
    let late = writes.last().unwrap();
    (late.answered, late.delivered) = (Some(RunTime(5_100)), Some(RunTime(5_110)));
    *drill.available() += 1;
    drill
}

#[test]
fn stock_that_was_overwritten_is_told_with_the_read_and_the_write() {
    let mut drill = overwritten();
    let finding = drill.judge().findings.remove(0);
    assert_eq!(finding.code.id, "I03");
    insta::assert_snapshot!(format!("{}\n- {}", told(&drill).join("\n"), finding.therefore[0]));
    let reads = drill.history.steps.iter_mut().filter(|it| it.role == Some(Role::StockRead));
    for read in reads {
        (read.asked, read.answered) = (ms(30), Some(ms(31)));
    }
    let finding = drill.judge().findings.remove(0);
    assert!(finding.therefore.iter().all(|it| !it.contains("came back")), "{finding:#?}");
}

#[test]
fn a_lint_is_told_by_its_steps() {
    let drill = served_by(Shop { unlocks_early: true, ..Shop::default() }, 1);
    insta::assert_snapshot!(told(&drill).join("\n"));
}

#[test]
fn every_gate_line_leads_to_an_entry_of_the_registry() {
    for gate in Drill::clean(2, 2).judge().gates {
        assert_eq!(find(gate.code.id), Some(gate.code));
    }
    let texts = all().flat_map(|code| [code.title, code.what, code.checked, code.cure]);
    assert!(texts.into_iter().all(|text| !text.contains("  ")), "a text has a hole in it");
}
