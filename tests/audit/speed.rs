//! Judging is quick: nobody waits for it.

use std::time::{Duration, Instant};

use dupeproof::audit::Verdict;
use dupeproof::history::OrderRow;

use crate::fixture::*;
use crate::wires::{Shop, Unlock, served_by};

/// Far above what it takes (see the printed figure), because test machines are busy.
const LIMIT: Duration = Duration::from_secs(5);

fn timed(drill: &Drill, what: &str) -> dupeproof::audit::Judgement {
    let begin = Instant::now();
    let judgement = drill.judge();
    let took = begin.elapsed();
    println!("{what}: {} attempts judged in {took:?}", drill.history.attempts.len());
    assert!(took < LIMIT, "{what} took {took:?}");
    judgement
}

#[test]
fn a_hundred_thousand_attempts_are_judged_at_once() {
    let mut drill = Drill::clean(900, 111);
    assert_eq!(timed(&drill, "900 keys").verdict, Verdict::Passed);
    for number in 0..900 {
        let id = format!("second-{number}").into();
        drill.add_order(OrderRow { id, ..row(number, 1) });
    }
    let judgement = timed(&drill, "900 keys, all duplicated");
    let finding = judgement.findings.iter().find(|finding| finding.code.id == "I02").unwrap();
    assert_eq!(finding.count, 900);
}

#[test]
fn neither_one_key_nor_one_user_is_slow() {
    let mut drill = Drill::clean(1, 100_000);
    drill.profile.contract.longest_wait = Duration::from_secs(200);
    assert_eq!(timed(&drill, "one key").verdict, Verdict::Passed);

    let mut drill = Drill::clean(0, 0);
    drill.profile.contract.one_order_per = vec![dupeproof::profile::BusinessColumn::User];
    for number in 0..50_000 {
        drill.add_intent(0, number, 1);
        for thread in 0..2 {
            acknowledge(drill.add_attempt(number, ms(0), ms(2 + thread)), 0);
        }
    }
    drill.add_order(row(0, 1));
    drill.history.phases[0].contended = None;
    drill.end();
    assert_eq!(timed(&drill, "one user, 50,000 keys").verdict, Verdict::Passed);
}

#[test]
fn steps_of_one_lock_are_judged_at_once_alone_and_together() {
    let shop = Shop { unlock: Unlock::PlainDel, work_ms: 5_000, ..Shop::default() };
    let mut drill = served_by(shop, 5_000);
    drill.profile.contract.longest_wait = Duration::from_secs(200_000);
    println!("{} steps", drill.history.steps.len());
    let judgement = timed(&drill, "requests one after the other");
    let finding = judgement.findings.iter().find(|finding| finding.code.id == "L2").unwrap();
    assert_eq!(finding.count, 5_000);
    for attempt in &mut drill.history.attempts {
        (attempt.first_byte, attempt.completed) = (Some(ms(0)), Some(ms(90_000_000)));
    }
    timed(&drill, "requests all at once");
}
