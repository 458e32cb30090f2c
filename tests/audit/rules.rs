//! History rules: each planted contradiction is found, each licence is respected.

use std::time::Duration;

use dupeproof::audit::Verdict;
use dupeproof::codes::Severity;
use dupeproof::history::{Exit, InstanceId, Outcome};
use dupeproof::profile::BusinessColumn;

use crate::fixture::*;

/// A clean drill with one more request for key 1, quantity 2, sent from `begin` to `end`.
fn with_changed_request(begin: u64, end: u64) -> (Drill, usize) {
    let mut drill = Drill::clean(3, 2);
    drill.add_intent(1, 1, 2);
    drill.add_attempt(3, ms(begin), ms(end));
    drill.end();
    (drill, 6)
}

#[test]
fn a_changed_request_that_is_refused_is_as_it_should_be() {
    let (mut drill, changed) = with_changed_request(10, 14);
    refuse(&mut drill.history.attempts[changed], 409, "mismatch");
    let judgement = drill.judge();
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
}

#[test]
fn a_changed_request_that_gets_the_old_order_is_found() {
    let (mut drill, changed) = with_changed_request(100, 104);
    acknowledge(&mut drill.history.attempts[changed], 1);
    let judgement = drill.judge();
    let finding = only(&judgement, "I07");
    assert_eq!(finding.severity, Severity::Contract);
    assert_eq!(finding.title, "a changed request was accepted under a used key");
}

#[test]
fn a_changed_request_that_gets_its_own_order_is_critical() {
    let (mut drill, changed) = with_changed_request(100, 104);
    acknowledge(&mut drill.history.attempts[changed], 50);
    let mut second = row(1, 2);
    second.id = order_id(50).into();
    drill.add_order(second);
    let judgement = drill.judge();
    assert_eq!(ids(&judgement), ["I02", "I07"]);
    assert_eq!(judgement.findings[1].severity, Severity::Critical);
}

#[test]
fn a_changed_request_that_is_put_off_is_found_unless_it_has_an_excuse() {
    let (mut drill, changed) = with_changed_request(10, 14);
    put_off(&mut drill.history.attempts[changed]);
    let refused = drill.add_attempt(3, ms(50), ms(54));
    refuse(refused, 409, "mismatch");
    // The others ask when all of this is long over: one lock might be for all orders.
    let others = drill.history.attempts.iter_mut().filter(|it| [0, 2].contains(&it.intent.0));
    for attempt in others {
        for moment in [&mut attempt.first_byte, &mut attempt.last_byte, &mut attempt.released] {
            *moment = moment.map(|moment| moment.plus(Duration::from_secs(5)));
        }
        attempt.completed = attempt.completed.map(|end| end.plus(Duration::from_secs(5)));
    }
    drill.end();
    let judgement = drill.judge();
    only(&judgement, "I07");

    let mut freed = drill.clone();
    freed.add_attempt(3, ms(9), ms(30));
    freed.end();
    assert_eq!(freed.judge().verdict, Verdict::Passed, "its claim may have been rolled back");

    let mut leased = drill.clone();
    leased.add_intent(9, 9, 1);
    acknowledge(leased.add_attempt(4, ms(11), ms(13)), 9);
    leased.add_order(row(9, 1));
    assert_eq!(leased.judge().verdict, Verdict::Passed, "another key may have held the lease");
}

#[test]
fn an_acknowledged_request_must_not_be_refused_or_put_off_later() {
    for (later, broken) in [(100, true), (11, false)] {
        let mut drill = Drill::clean(3, 2);
        refuse(drill.add_attempt(1, ms(later), ms(later + 4)), 422, "business");
        drill.end();
        let judgement = drill.judge();
        assert_eq!(ids(&judgement), if broken { vec!["R3"] } else { vec![] }, "{judgement:#?}");
    }
    let mut drill = Drill::clean(3, 2);
    put_off(drill.add_attempt(1, ms(100), ms(104)));
    drill.end();
    let judgement = drill.judge();
    assert_eq!(only(&judgement, "R3").title, "an acknowledged request was not replayed");
}

#[test]
fn unknown_and_shed_attempts_after_an_acknowledgement_are_no_break() {
    let mut drill = Drill::clean(3, 2);
    drill.add_attempt(1, ms(100), ms(104));
    refuse(drill.add_attempt(1, ms(110), ms(114)), 429, "shed");
    drill.end();
    assert_eq!(drill.judge().verdict, Verdict::Passed);
}

#[test]
fn near_the_end_of_an_instance_a_replay_may_be_put_off() {
    let mut drill = Drill::clean(3, 2);
    put_off(drill.add_attempt(1, ms(100), ms(104)));
    drill.history.exits.push(Exit {
        instance: InstanceId(0),
        at: ms(90),
        status: "killed by signal 9".to_owned(),
        ours: true,
        last_words: String::new(),
    });
    drill.end();
    assert_eq!(drill.judge().verdict, Verdict::Passed);
}

#[test]
fn a_mismatch_with_nothing_to_differ_from_is_found() {
    let mut drill = Drill::clean(3, 2);
    refuse(&mut drill.history.attempts[3], 409, "mismatch");
    let judgement = drill.judge();
    let finding = only(&judgement, "I07");
    assert_eq!(finding.title, "an unchanged request was refused as changed");

    drill.profile.contract.one_order_per = vec![BusinessColumn::User];
    drill.add_intent(1, 40, 1);
    acknowledge(drill.add_attempt(3, ms(400), ms(402)), 1);
    drill.end();
    assert_eq!(drill.judge().verdict, Verdict::Passed, "another key of the user may be meant");
}

#[test]
fn pending_needs_something_to_wait_for() {
    let mut drill = Drill::clean(3, 2);
    drill.add_intent(8, 8, 1);
    let late = 5_000;
    put_off(drill.add_attempt(3, ms(late), ms(late + 4)));
    refuse(drill.add_attempt(3, ms(late + 9_000), ms(late + 9_004)), 422, "business");
    drill.end();
    let judgement = drill.judge();
    assert_eq!(only(&judgement, "R5").title, "`in progress` with nothing in progress");

    let mut shared = drill.clone();
    acknowledge(shared.add_attempt(0, ms(late - 1), ms(late + 1)), 0);
    shared.end();
    assert_eq!(shared.judge().verdict, Verdict::Passed, "the product's lease may have been held");

    drill.add_attempt(3, ms(100), ms(104));
    drill.end();
    assert_eq!(drill.judge().verdict, Verdict::Passed, "an unknown attempt may still go on");
}

#[test]
fn where_replays_are_marked_only_one_answer_is_not() {
    let mut drill = Drill::clean(3, 3);
    drill.profile.contract.replay_marker = Some("idempotent-replayed".to_owned());
    for (at, attempt) in drill.history.attempts.iter_mut().enumerate() {
        attempt.replay_marker = Some(at % 3 != 0);
    }
    assert_eq!(drill.judge().verdict, Verdict::Passed);
    drill.history.attempts[4].replay_marker = Some(false);
    let judgement = drill.judge();
    assert_eq!(only(&judgement, "R6").evidence.rows, [[user(1), key(1), "2".to_owned()]]);
}

#[test]
fn an_intent_without_a_key_is_promised_nothing() {
    let mut drill = Drill::clean(3, 2);
    let id = drill.add_intent(8, 8, 1);
    drill.history.intents[id.0 as usize].key.clear();
    for number in [50, 51] {
        acknowledge(drill.add_attempt(id.0, ms(400), ms(404)), number);
        let mut order = row(number, 1);
        order.user = Some(user(8).into());
        order.key = None;
        drill.add_order(order);
    }
    drill.end();
    let judgement = drill.judge();
    assert_eq!(ids(&judgement), Vec::<&str>::new(), "{judgement:#?}");
    assert!(drill.history.attempts.iter().all(|it| it.outcome == Outcome::Acknowledged));
}
