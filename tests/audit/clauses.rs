//! Clauses of the contract, and what a single row or reply shows: each planted defect is found, each
//! licence is respected.

use std::time::Duration;

use dupeproof::audit::{GateState, Verdict};
use dupeproof::codes::Severity;
use dupeproof::history::{
    Attempt, BodyId, Cause, Contended, CustomRows, DrainFacts, IntentId, KeyForm, MovementRow,
    OrderRow, Variant, VariantId, Waiting,
};
use dupeproof::profile::{
    Answer, BodyCode, CustomCheck, Hint, MissingKey, MovementsTable, OtherParameters, Secret,
};

use crate::fixture::*;

/// A clean drill with a ledger that agrees.
fn with_ledger() -> Drill {
    let mut drill = Drill::clean(4, 2);
    drill.profile.audit.movements = Some(MovementsTable {
        table: "stock_movements".to_owned(),
        order: "order_id".to_owned(),
        product: "product_id".to_owned(),
        delta: "delta".to_owned(),
    });
    drill.baseline.movements = Some(vec![movement(None, 1_000)]);
    let moved = (0..4).map(|number| movement(Some(&order_id(number)), -1));
    let moved: Vec<_> = std::iter::once(movement(None, 1_000)).chain(moved).collect();
    drill.before_repair.as_mut().unwrap().movements = Some(moved.clone());
    drill.after().movements = Some(moved);
    let first = DrainFacts {
        ended: drill.before_repair.as_ref().unwrap().taken,
        ..drill.history.drains[0].clone()
    };
    drill.history.drains.insert(0, first);
    drill
}

fn movement(order: Option<&str>, delta: i64) -> MovementRow {
    MovementRow { order: order.map(Into::into), product: PRODUCT.to_string().into(), delta }
}

/// A clean drill in which the orders of users 0 and 1 are paid and closed at the same time; the acting
/// attempts come from 100 ms on, two for each order, pay first.
fn with_race() -> (Drill, usize) {
    let mut drill = Drill::clean(2, 2);
    drill.profile.audit.orders.sold.push("CLOSED".to_owned());
    let first = drill.history.attempts.len();
    for number in 0..2 {
        for (place, request) in ["pay", "close"].into_iter().enumerate() {
            let id = drill.add_intent(number, 100 + number * 2 + place as u32, 1);
            let intent = &mut drill.history.intents[id.0 as usize];
            intent.request = request.to_owned();
            intent.entity = Some(order_id(number));
            drill.add_attempt(id.0, ms(100), ms(104 + place as u64));
        }
    }
    drill.end();
    (drill, first)
}

/// Makes an acting attempt a success that names a status.
fn acted(drill: &mut Drill, at: usize, number: u32, status: &str) {
    let id = BodyId(500 + at as u32);
    let text = format!("{{\"orderId\":\"{}\",\"status\":\"{status}\"}}", order_id(number));
    drill.history.bodies.insert(id, body(id.0, &text));
    let attempt = &mut drill.history.attempts[at];
    acknowledge(attempt, number);
    (attempt.status, attempt.body) = (Some(200), Some(id));
}

fn set_status(drill: &mut Drill, number: usize, status: &str) {
    for snapshot in [drill.before_repair.as_mut(), drill.after.as_mut()].into_iter().flatten() {
        snapshot.orders[number].status = Some(status.into());
    }
}

#[test]
fn orders_and_movements_that_agree_pass() {
    let judgement = with_ledger().judge();
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    assert_eq!(gate(&judgement, "I04").state, GateState::Held);
    assert_eq!(gate(&judgement, "I03b").detail, "0 of 1 product disagrees");
}

#[test]
fn an_order_without_its_movement_is_critical_and_a_healed_one_is_not() {
    let mut drill = with_ledger();
    drill.after().movements.as_mut().unwrap().pop();
    *drill.available() += 1;
    let judgement = drill.judge();
    assert_eq!(ids(&judgement), ["I03", "I04"], "{judgement:#?}");
    assert_eq!(judgement.findings[1].evidence.rows[0][4], "an order without its movement");

    let mut healed = with_ledger();
    healed.before_repair.as_mut().unwrap().movements.as_mut().unwrap().pop();
    let judgement = healed.judge();
    let finding = only(&judgement, "I04");
    assert_eq!(finding.severity, Severity::Contract);
    assert_eq!(finding.title, "an order had its stock movement only after a retry");

    healed.profile.contract.settles_within = Some(Duration::from_secs(30));
    let judgement = healed.judge();
    assert_eq!(only(&judgement, "I04").severity, Severity::Efficiency);
    assert_eq!(judgement.verdict, Verdict::Passed);

    healed.profile.contract.settles_within = None;
    healed.history.drains[0].drained = false;
    assert_eq!(ids(&healed.judge()), Vec::<&str>::new(), "a late commit isn't a healed order");
}

#[test]
fn a_saga_that_may_still_settle_is_a_doubt() {
    let mut drill = with_ledger();
    drill.profile.contract.settles_within = Some(Duration::from_secs(30));
    drill.after().movements.as_mut().unwrap().push(movement(Some("77"), -2));
    *drill.available() -= 2;
    drill.after().orders.push(OrderRow { id: "77".into(), ..row(0, 2) });
    drill.after().movements.as_mut().unwrap().pop();
    let judgement = drill.judge();
    assert!(doubts(&judgement).contains(&"I04"), "{judgement:#?}");
}

#[test]
fn a_movement_without_its_order_is_found_and_those_of_others_are_not() {
    let mut drill = with_ledger();
    drill.after().movements.as_mut().unwrap().push(movement(Some("77"), -1));
    *drill.available() -= 1;
    let judgement = drill.judge();
    assert_eq!(ids(&judgement), ["I03", "I04"]);
    assert_eq!(judgement.findings[1].evidence.rows[0][4], "a movement without its order");

    drill.profile.actor.products = vec![PRODUCT];
    assert!(!ids(&drill.judge()).contains(&"I04"), "a pool's product may be moved by others");
}

#[test]
fn a_ledger_that_does_not_add_up_is_found() {
    let mut drill = with_ledger();
    drill.after().movements.as_mut().unwrap().push(movement(None, 5));
    let judgement = drill.judge();
    assert!(only(&judgement, "I03b").therefore[0].contains("the ledger moved 1 since"));
    drill.after().movements.as_mut().unwrap().retain(|it| it.order.is_none());
    for number in 0..4 {
        let strange = movement(Some(&format!("x-{number}")), -1);
        drill.after().movements.as_mut().unwrap().push(strange);
    }
    assert!(doubts(&drill.judge()).contains(&"I04"), "a column that never names an order");
}

#[test]
fn without_product_and_quantity_the_stock_alone_is_judged() {
    let mut drill = Drill::clean(4, 2);
    let columns = &mut drill.profile.audit.orders;
    (columns.product, columns.quantity) = (None, None);
    assert_eq!(drill.judge().verdict, Verdict::Passed, "{:#?}", drill.judge());
    *drill.available() -= 3;
    let judgement = drill.judge();
    assert!(only(&judgement, "I03c").therefore[0].contains("left the stock for nobody"));
    *drill.available() += 4;
    assert!(only(&drill.judge(), "I03c").therefore[0].contains("never left the stock"));
    drill.history.drains[0].drained = false;
    assert!(doubts(&drill.judge()).contains(&"I03c"));
}

#[test]
fn an_acknowledged_order_that_takes_on_another_request_is_critical() {
    let plant = |begin: u64| {
        let mut drill = Drill::clean(3, 2);
        drill.add_intent(1, 1, 2);
        acknowledge(drill.add_attempt(3, ms(begin), ms(begin + 4)), 1);
        drill.after().orders[1].quantity = Some(2);
        *drill.available() -= 1;
        drill.end();
        drill
    };
    let judgement = plant(100).judge();
    let finding = only(&judgement, "I07");
    assert_eq!(finding.severity, Severity::Critical);
    assert_eq!(finding.title, "an acknowledged order took on a changed request");
    // In a mixed burst whoever came first wins, and then the other one was told of its order.
    assert_eq!(only(&plant(10).judge(), "I07").severity, Severity::Contract);
    for other in [OtherParameters::OldResult, OtherParameters::Unsaid] {
        let (mut late, mut mixed) = (plant(100), plant(10));
        late.profile.contract.other_parameters = other.clone();
        mixed.profile.contract.other_parameters = other;
        assert_eq!(only(&late.judge(), "I07").severity, Severity::Critical);
        assert_eq!(ids(&mixed.judge()), Vec::<&str>::new());
    }
}

#[test]
fn where_the_old_result_is_promised_a_changed_request_may_get_it() {
    let mut drill = Drill::clean(3, 2);
    drill.add_intent(1, 1, 2);
    acknowledge(drill.add_attempt(3, ms(100), ms(104)), 1);
    drill.end();
    for (other, broken) in [
        (OtherParameters::OldResult, false),
        (OtherParameters::Unsaid, false),
        (drill.profile.contract.other_parameters.clone(), true),
    ] {
        drill.profile.contract.other_parameters = other;
        assert_eq!(ids(&drill.judge()) == ["I07"], broken);
    }
}

#[test]
fn a_changed_request_may_wait_where_fingerprints_are_compared_later() {
    let mut drill = Drill::clean(1, 2);
    drill.add_intent(0, 0, 2);
    put_off(drill.add_attempt(1, ms(1), ms(3)));
    refuse(drill.add_attempt(1, ms(900), ms(904)), 409, "mismatch");
    drill.end();
    only(&drill.judge(), "I07");
    let answer = Answer { statuses: vec![409], code: None };
    drill.profile.contract.other_parameters =
        OtherParameters::Rejected { answer, while_in_progress: false };
    assert_eq!(drill.judge().verdict, Verdict::Passed, "{:#?}", drill.judge());
}

#[test]
fn a_duplicate_must_not_fail_once_the_first_is_known_complete() {
    for (begin, broken) in [(100, true), (11, false)] {
        let mut drill = Drill::clean(3, 2);
        drill.add_attempt(1, ms(begin), ms(begin + 4)).status = Some(500);
        drill.end();
        assert_eq!(ids(&drill.judge()) == ["I08"], broken);
    }
}

#[test]
fn a_rejected_intent_has_no_order() {
    let mut drill = Drill::clean(3, 2);
    drill.add_intent(3, 3, 1);
    refuse(drill.add_attempt(3, ms(100), ms(104)), 422, "business");
    drill.add_order(row(3, 1));
    drill.end();
    let judgement = drill.judge();
    let finding = only(&judgement, "I08b");
    assert!(finding.therefore[0].contains("order 1003 is of a request that was rejected"));
    drill.add_attempt(3, ms(200), ms(204));
    drill.end();
    assert_eq!(drill.judge().verdict, Verdict::Passed, "an unknown attempt explains the order");
}

#[test]
fn a_mismatch_has_no_effect() {
    let mut drill = Drill::clean(3, 2);
    drill.add_intent(1, 1, 2);
    refuse(drill.add_attempt(3, ms(100), ms(104)), 409, "mismatch");
    drill.after().orders[1].quantity = Some(2);
    *drill.available() -= 1;
    drill.end();
    let judgement = drill.judge();
    assert!(only(&judgement, "I18").therefore[0].contains("is the effect of attempt 3"));
}

#[test]
fn a_fingerprint_that_changes_after_the_order_is_an_effect() {
    let mut drill = Drill::clean(3, 2);
    drill.profile.audit.orders.fingerprint = Some("request_fingerprint".to_owned());
    drill.add_intent(1, 1, 2);
    refuse(drill.add_attempt(3, ms(100), ms(104)), 409, "mismatch");
    drill.before_repair.as_mut().unwrap().orders[1].fingerprint = Some("first".into());
    drill.after().orders[1].fingerprint = Some("first".into());
    drill.end();
    assert_eq!(drill.judge().verdict, Verdict::Passed, "{:#?}", drill.judge());
    drill.after().orders[1].fingerprint = Some("second".into());
    assert_eq!(only(&drill.judge(), "I18").title, "the fingerprint of 1 order changed");
}

#[test]
fn one_order_for_two_users_is_found() {
    let mut drill = Drill::clean(3, 2);
    drill.add_intent(8, 1, 1);
    acknowledge(drill.add_attempt(3, ms(100), ms(104)), 1);
    drill.end();
    let judgement = drill.judge();
    let finding = only(&judgement, "I09");
    assert_eq!(finding.title, "a user was told of another user's order");
    assert_eq!(finding.witness.attempts.len(), 2);

    refuse(&mut drill.history.attempts[6], 409, "mismatch");
    let judgement = drill.judge();
    assert!(only(&judgement, "I09").therefore[0].contains("measured against"));
}

#[test]
fn two_keys_are_two_orders_unless_a_window_makes_them_one() {
    let mut drill = Drill::clean(3, 2);
    drill.add_intent(1, 40, 1);
    acknowledge(drill.add_attempt(3, ms(100), ms(104)), 1);
    drill.end();
    assert_eq!(only(&drill.judge(), "I16").title, "two keys got one order");
    drill.profile.contract.window = Some(Duration::from_secs(1));
    assert_eq!(drill.judge().verdict, Verdict::Passed, "{:#?}", drill.judge());
    drill.profile.contract.window = Some(Duration::from_millis(50));
    assert_eq!(only(&drill.judge(), "I16").severity, Severity::Contract);

    let mut drill = Drill::clean(3, 2);
    drill.add_intent(1, 40, 1);
    acknowledge(drill.add_attempt(3, ms(100), ms(104)), 50);
    drill.add_order(OrderRow { id: order_id(50).into(), key: Some(key(40).into()), ..row(1, 1) });
    drill.end();
    assert_eq!(drill.judge().verdict, Verdict::Passed, "{:#?}", drill.judge());
    drill.profile.contract.window = Some(Duration::from_millis(95));
    let judgement = drill.judge();
    let finding = only(&judgement, "I16");
    assert_eq!(finding.title, "equal requests within one window got two orders");
    assert_eq!(finding.severity, Severity::Critical);
    drill.profile.contract.window = Some(Duration::from_millis(94));
    assert_eq!(drill.judge().verdict, Verdict::Passed, "perhaps the window was over");
}

#[test]
fn a_key_that_was_merged_into_an_older_order_opens_no_window() {
    let mut drill = Drill::clean(3, 2);
    drill.profile.contract.window = Some(Duration::from_millis(50));
    for (key_number, begin, number) in [(40, 55, 1), (41, 70, 50)] {
        let id = drill.add_intent(1, key_number, 1);
        acknowledge(drill.add_attempt(id.0, ms(begin), ms(begin + 4)), number);
    }
    drill.add_order(OrderRow { id: order_id(50).into(), key: Some(key(41).into()), ..row(1, 1) });
    drill.end();
    assert_eq!(drill.judge().verdict, Verdict::Passed, "{:#?}", drill.judge());
}

#[test]
fn a_pay_and_a_close_that_exclude_each_other_pass() {
    let (mut drill, first) = with_race();
    acted(&mut drill, first, 0, "PAID");
    refuse(&mut drill.history.attempts[first + 1], 422, "business");
    refuse(&mut drill.history.attempts[first + 2], 409, "mismatch");
    acted(&mut drill, first + 3, 1, "CLOSED");
    set_status(&mut drill, 0, "PAID");
    set_status(&mut drill, 1, "CLOSED");
    let judgement = drill.judge();
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    assert_eq!(judgement.accounting.intents_with_one_order, 2, "acting intents place none");
}

#[test]
fn paid_and_closed_is_found_in_rows_and_in_replies() {
    let (mut drill, first) = with_race();
    for (place, number) in [0, 0, 1, 1].into_iter().enumerate() {
        acted(&mut drill, first + place, number, ["PAID", "CLOSED"][place % 2]);
    }
    set_status(&mut drill, 0, "CLOSED");
    set_status(&mut drill, 1, "CLOSED");
    assert_eq!(drill.judge().verdict, Verdict::Passed, "closing what was paid may be legal");

    let columns = &mut drill.profile.audit.orders;
    (columns.paid_at, columns.closed_at) = (Some("paid".to_owned()), Some("closed".to_owned()));
    let at = Some(STARTED_US + 101_000);
    (drill.after().orders[0].paid_us, drill.after().orders[0].closed_us) = (at, at);
    (drill.after().orders[1].paid_us, drill.after().orders[1].closed_us) = (at, at);
    let judgement = drill.judge();
    let finding = only(&judgement, "I10");
    assert_eq!((finding.count, finding.witness.attempts.len()), (2, 2));
    drill.after().orders[1].paid_us = None;
    let judgement = drill.judge();
    assert_eq!(ids(&judgement), ["I10", "I25"], "order 1001 was never paid, and its reply says so");

    // Without columns: two other orders show that each refuses the other.
    let columns = &mut drill.profile.audit.orders;
    (columns.paid_at, columns.closed_at) = (None, None);
    for (number, winner) in [(8, 0), (9, 1)] {
        for (place, request) in ["pay", "close"].into_iter().enumerate() {
            let id = drill.add_intent(number, 200 + number * 2 + place as u32, 1);
            let intent = &mut drill.history.intents[id.0 as usize];
            (intent.request, intent.entity) = (request.to_owned(), Some(order_id(number)));
            let attempt = drill.add_attempt(id.0, ms(100), ms(104));
            match place == winner {
                true => acknowledge(attempt, number),
                false => refuse(attempt, 422, "business"),
            }
        }
    }
    drill.end();
    let judgement = drill.judge();
    assert_eq!(only(&judgement, "I10").count, 2);
}

#[test]
fn what_acts_on_an_order_may_be_refused_later() {
    let (mut drill, first) = with_race();
    acted(&mut drill, first, 0, "PAID");
    for at in [first + 1, first + 2, first + 3] {
        refuse(&mut drill.history.attempts[at], 422, "business");
    }
    set_status(&mut drill, 0, "PAID");
    let again = drill.add_attempt(2, ms(300), ms(304));
    refuse(again, 422, "business");
    drill.end();
    assert_eq!(drill.judge().verdict, Verdict::Passed, "{:#?}", drill.judge());
}

#[test]
fn a_reply_that_the_row_contradicts_is_found() {
    let (mut drill, first) = with_race();
    acted(&mut drill, first + 1, 0, "CLOSED");
    drill.history.attempts[first].first_byte = Some(ms(200));
    drill.history.attempts[first].completed = Some(ms(204));
    acted(&mut drill, first, 0, "PAID");
    refuse(&mut drill.history.attempts[first + 2], 422, "business");
    acted(&mut drill, first + 3, 1, "CLOSED");
    set_status(&mut drill, 0, "CLOSED");
    set_status(&mut drill, 1, "CLOSED");
    drill.end();
    let judgement = drill.judge();
    let finding = only(&judgement, "I25");
    assert_eq!(finding.evidence.rows[0][..3], ["1000", "PAID", "CLOSED"]);
    set_status(&mut drill, 0, "SHIPPED");
    drill.profile.audit.orders.sold.push("SHIPPED".to_owned());
    assert_eq!(ids(&drill.judge()), Vec::<&str>::new(), "a job may have sent it off");
}

#[test]
fn a_success_without_an_order_id_is_found() {
    let mut drill = Drill::clean(3, 2);
    let attempt = drill.add_attempt(1, ms(100), ms(104));
    (attempt.status, attempt.failure) = (Some(204), Some("a 204 with no JSON body".into()));
    drill.end();
    assert_eq!(only(&drill.judge(), "I25").title, "a success can't be read");
}

#[test]
fn sold_out_is_a_lie_only_if_there_was_enough_for_all() {
    let mut drill = Drill::clean(3, 2);
    drill.history.bodies.insert(BodyId(90), body(90, "{\"error\":\"Out of stock\"}"));
    drill.add_intent(3, 3, 1);
    let attempt = drill.add_attempt(3, ms(100), ms(104));
    refuse(attempt, 422, "business");
    attempt.body = Some(BodyId(90));
    drill.end();
    assert_eq!(only(&drill.judge(), "I25").title, "`sold out` while there was stock");
    // Seven attempts may have held seven units for a moment.
    let product = PRODUCT.to_string();
    drill.baseline.stock.get_mut(&product).unwrap().available = 6;
    *drill.available() = 3;
    assert_eq!(drill.judge().verdict, Verdict::Passed, "{:#?}", drill.judge());
    drill.baseline.stock.get_mut(&product).unwrap().available = 7;
    *drill.available() = 4;
    assert_eq!(ids(&drill.judge()), ["I25"]);
    drill.history.bodies.insert(BodyId(90), body(90, "{\"error\":\"coupon unknown\"}"));
    assert_eq!(drill.judge().verdict, Verdict::Passed, "another reason isn't about stock");
}

fn with_bad_key(form: KeyForm) -> Drill {
    let mut drill = Drill::clean(3, 2);
    let id = drill.add_intent(8, 8, 1);
    let intent = &mut drill.history.intents[id.0 as usize];
    intent.key_form = form;
    if form == KeyForm::Missing {
        intent.key.clear();
    }
    drill.add_attempt(id.0, ms(100), ms(104));
    drill.end();
    drill
}

fn last(drill: &mut Drill) -> &mut Attempt {
    drill.history.attempts.last_mut().unwrap()
}

#[test]
fn a_bad_key_is_answered_as_the_contract_says() {
    for (form, why) in [
        (KeyForm::Missing, "missing-key"),
        (KeyForm::TooLong, "malformed-key"),
        (KeyForm::Twice, "missing-key"),
    ] {
        let mut drill = with_bad_key(form);
        refuse(last(&mut drill), 400, why);
        assert_eq!(drill.judge().verdict, Verdict::Passed, "{:#?}", drill.judge());
        refuse(last(&mut drill), 404, "business");
        assert!(only(&drill.judge(), "I26").title.contains("rejected in other words"));
        acknowledge(last(&mut drill), 8);
        drill.add_order(OrderRow { key: None, ..row(8, 1) });
        assert!(only(&drill.judge(), "I26").title.contains("accepted"));
        drill.profile.contract.missing_key = MissingKey::Executed;
        drill.profile.contract.malformed_key = None;
        assert_eq!(ids(&drill.judge()), Vec::<&str>::new());
    }
}

#[test]
fn the_code_in_the_body_tells_rejections_apart() {
    let mut drill = with_bad_key(KeyForm::Missing);
    refuse(last(&mut drill), 400, "malformed-key");
    drill.history.bodies.insert(BodyId(90), body(90, "{\"code\":\"BAD_KEY\"}"));
    last(&mut drill).body = Some(BodyId(90));
    let code =
        Some(BodyCode { pointer: "/code".to_owned(), values: vec!["MISSING_KEY".to_owned()] });
    drill.profile.contract.missing_key = MissingKey::Rejected(Answer { statuses: vec![400], code });
    only(&drill.judge(), "I26");
    drill.history.bodies.insert(BodyId(90), body(90, "{\"code\":\"MISSING_KEY\"}"));
    assert_eq!(drill.judge().verdict, Verdict::Passed);
}

#[test]
fn a_rejected_bad_key_has_no_effect_in_whatever_form_it_was_kept() {
    for kept in [None, Some("k-7c1e-0"), Some("k-7c1e-008")] {
        let mut drill = with_bad_key(KeyForm::TooLong);
        refuse(last(&mut drill), 400, "malformed-key");
        drill.add_order(OrderRow { key: kept.map(Into::into), ..row(8, 1) });
        assert_eq!(ids(&drill.judge()), ["I18"], "{kept:?}");
        forget(last(&mut drill));
        assert_eq!(ids(&drill.judge()), Vec::<&str>::new(), "an unknown attempt may have acted");
    }
}

#[test]
fn a_wait_without_a_bound_is_found_and_our_own_time_out_is_not() {
    let mut drill = Drill::clean(3, 2);
    drill.add_attempt(1, ms(100), ms(2_100));
    drill.end();
    assert_eq!(drill.judge().verdict, Verdict::Passed, "two seconds are within ten");
    drill.history.attempts[6].completed = Some(ms(10_200));
    drill.end();
    assert_eq!(only(&drill.judge(), "I21").title, "a caller waited longer than 10.0 s");
    drill.history.attempts[6].sent = dupeproof::history::Sent::Part;
    assert_eq!(drill.judge().verdict, Verdict::Passed, "nobody got all of it");
}

#[test]
fn a_late_answer_in_a_crowd_that_waits_as_a_whole_is_nobodys_fault_and_no_clean_result() {
    let mut drill = Drill::clean(150, 2);
    let limit = drill.profile.contract.longest_wait;
    let wait = |drill: &mut Drill, attempts: usize, lasts: Duration| {
        for attempt in &mut drill.history.attempts[..attempts] {
            attempt.completed = attempt.released.map(|released| released.plus(lasts));
        }
        drill.end();
    };
    wait(&mut drill, 1, limit * 2);
    assert!(ids(&drill.judge()).contains(&"I21"), "one among many that were served in time");
    wait(&mut drill, 100, limit / 2);
    wait(&mut drill, 1, limit * 2);
    let judgement = drill.judge();
    assert!(!ids(&judgement).contains(&"I21"), "{:?}", ids(&judgement));
    assert_eq!(gate(&judgement, "I21").state, GateState::NotJudged);
}

#[test]
fn in_progress_comes_with_the_promised_hint() {
    let mut drill = Drill::clean(3, 2);
    let attempt = drill.add_attempt(1, ms(10), ms(13));
    put_off(attempt);
    attempt.waiting = Some(Waiting { retry_after: true, location: false });
    drill.end();
    for (hint, broken) in [
        (Hint::None, false),
        (Hint::Either, false),
        (Hint::RetryAfter, false),
        (Hint::Location, true),
    ] {
        drill.profile.contract.hint = hint;
        assert_eq!(ids(&drill.judge()) == ["I21"], broken, "{hint:?}");
    }
}

#[test]
fn own_checks_find_rows_that_were_not_there_before() {
    let mut drill = Drill::clean(3, 2);
    drill.profile.audit.sql = vec![CustomCheck {
        title: "no order without a parcel".to_owned(),
        severity: Severity::Contract,
        query: "SELECT ...".to_owned(),
    }];
    let rows = |values: &[&str]| CustomRows {
        columns: vec!["order".to_owned()],
        rows: values.iter().map(|&value| vec![Some(value.to_owned())]).collect(),
        trouble: None,
    };
    drill.baseline.custom = vec![rows(&["7", "8"])];
    drill.after().custom = vec![rows(&["8", "7"])];
    assert_eq!(drill.judge().verdict, Verdict::Passed, "{:#?}", drill.judge());
    drill.after().custom = vec![rows(&["8", "8", "9"])];
    let judgement = drill.judge();
    let finding = only(&judgement, "U01");
    assert_eq!(finding.title, "no order without a parcel: 2 rows");
    assert_eq!((finding.severity, judgement.verdict), (Severity::Contract, Verdict::Violated));
    drill.profile.audit.sql[0].severity = Severity::Protected;
    assert_eq!(drill.judge().verdict, Verdict::Passed);
    drill.after().custom.clear();
    assert_doubted(&drill, "U01");
}

#[test]
fn an_own_check_that_could_not_be_run_is_told_and_the_others_are_judged() {
    let mut drill = Drill::clean(3, 2);
    let check = |title: &str| CustomCheck {
        title: title.to_owned(),
        severity: Severity::Critical,
        query: "SELECT ...".to_owned(),
    };
    drill.profile.audit.sql = vec![check("slow"), check("fine")];
    let failed =
        CustomRows { trouble: Some("it took too long".to_owned()), ..CustomRows::default() };
    let none = CustomRows::default();
    let one = CustomRows { rows: vec![vec![Some("7".to_owned())]], ..none.clone() };
    drill.baseline.custom = vec![none.clone(), none.clone()];
    drill.after().custom = vec![failed.clone(), none.clone()];
    assert_eq!(
        assert_doubted(&drill, "U01"),
        r#"the check "slow" could not be run: it took too long"#
    );
    drill.after().custom = vec![failed.clone(), one];
    let judgement = drill.judge();
    assert_eq!(only(&judgement, "U01").title, "fine: 1 row");
    assert_eq!(judgement.verdict, Verdict::Violated);
    let gate = judgement.gates.iter().find(|gate| gate.code.id == "U01").unwrap();
    assert_eq!(gate.detail, "1 row in 1 check, 1 not run");
    // All rows would be new ones, had nobody tried.
    drill.baseline.custom[0] = failed;
    drill.after().custom = vec![none.clone(), none];
    assert!(assert_doubted(&drill, "U01").contains("could not be run before the load"));
}

#[test]
fn a_weak_schema_is_protected_although_nothing_broke() {
    let holes = |drill: &Drill| {
        let judgement = drill.judge();
        assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
        let finding = only(&judgement, "L10").clone();
        assert_eq!(finding.severity, Severity::Protected);
        finding.evidence.rows.into_iter().map(|row| row[1].clone()).collect::<Vec<_>>()
    };
    let mut drill = Drill::clean(3, 2);
    drill.baseline.constraints.clear();
    assert_eq!(
        holes(&drill),
        ["no unique index over (user_id, idempotency_key)", "no check on available"]
    );
    drill.baseline.constraints = vec![unique_index(true), stock_check()];
    assert_eq!(holes(&drill), ["orders_one_per_key is partial"]);
    drill.baseline.constraints = vec![unique_index(false), stock_check()];
    drill.baseline.constraints[0].nullable = vec!["idempotency_key".to_owned()];
    assert_eq!(holes(&drill), ["idempotency_key may be NULL"]);
    drill.baseline.constraints[0].nullable.insert(0, "user_id".to_owned());
    assert_eq!(holes(&drill), ["user_id may be NULL", "idempotency_key may be NULL"]);
    let judgement = drill.judge();
    let finding = only(&judgement, "L10");
    assert_eq!(finding.title, "the schema isn't the last line of defence in 2 places");
    assert!(finding.help.contains("user_id SET NOT NULL; ALTER"), "{}", finding.help);
    drill.profile.contract.missing_key = MissingKey::Executed;
    assert_eq!(ids(&drill.judge()), Vec::<&str>::new(), "orders without a key have none");
}

#[test]
fn variants_must_differ_and_mean_the_same() {
    let mut drill = Drill::clean(3, 2);
    let variant = |sha256: &str, fingerprint: &str| Variant {
        id: VariantId(0),
        intent: IntentId(0),
        how: "key order".to_owned(),
        sha256: sha256.to_owned(),
        original_sha256: "original".to_owned(),
        fingerprint: fingerprint.to_owned(),
    };
    let print = drill.history.intents[0].fingerprint.clone();
    drill.history.attempts[1].variant = Some(VariantId(0));
    drill.history.variants = vec![variant("other", &print)];
    assert_eq!(gate(&drill.judge(), "G5").detail, "1 variant, 0 keys with changed requests");
    assert_eq!(drill.judge().verdict, Verdict::Passed);
    drill.history.variants = vec![variant("original", &print)];
    assert!(assert_doubted(&drill, "G5").contains("has the original's bytes"));
    drill.history.variants = vec![variant("other", "changed")];
    assert!(assert_doubted(&drill, "G5").contains("means something else"));

    let mut drill = Drill::clean(3, 2);
    drill.add_intent(1, 1, 1);
    acknowledge(drill.add_attempt(3, ms(100), ms(104)), 1);
    drill.end();
    assert!(assert_doubted(&drill, "G5").contains("1 changed request means the same"));
}

#[test]
fn overlap_is_counted_per_contended_thing() {
    let mut drill = Drill::clean(4, 2);
    let detail = |drill: &Drill| gate(&drill.judge(), "G1").detail.clone();
    assert_eq!(detail(&drill), "4 of 4 keys had two attempts or more in flight");
    for attempt in &mut drill.history.attempts {
        (attempt.first_byte, attempt.released) = (Some(ms(1)), Some(ms(1)));
        attempt.completed = Some(ms(5));
    }
    drill.end();
    drill.history.phases[0].contended = Some(Contended::Product);
    assert_eq!(detail(&drill), "1 of 1 product had two attempts or more in flight");
    drill.history.phases[0].contended = Some(Contended::KeyString);
    assert_eq!(detail(&drill), "4 of 4 key strings had two attempts or more in flight");
    for attempt in drill.history.attempts.iter_mut().filter(|it| it.id.0 % 2 == 1) {
        attempt.released = Some(ms(5));
    }
    assert!(assert_doubted(&drill, "G1").contains("only 0 of 4 key strings"));
    drill.history.phases[0].arrival = "staggered".to_owned();
    assert_doubted(&drill, "G1");
    drill.history.phases[0].arrival = "around-completion".to_owned();
    assert_eq!(gate(&drill.judge(), "G1").state, GateState::NotJudged);
}

#[test]
fn what_one_attempt_names_is_contended_for_by_nobody() {
    // Of four keys one is sent twice: that one overlaps, and the others are beside the point.
    let mut drill = Drill::clean(4, 1);
    acknowledge(drill.add_attempt(0, ms(0), ms(2)), 0);
    drill.history.attempts.last_mut().unwrap().cause = Cause::Burst;
    drill.history.phases[0].planned = 5;
    let judgement = drill.judge();
    assert_eq!(gate(&judgement, "G1").detail, "1 of 1 key had two attempts or more in flight");
    assert_eq!(judgement.accounting.overlap[0].planned, 2);
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    // Where all are alone there is no overlap to show.
    let mut drill = Drill::clean(4, 1);
    drill.profile.phases.clear();
    let what = assert_doubted(&drill, "G1");
    assert_eq!(what, "phase `double click`: no key was asked for by two attempts");
    drill.history.phases[0].contended = Some(Contended::KeyString);
    assert!(assert_doubted(&drill, "G1").contains("no key string was"));
}

#[test]
fn a_phase_needs_an_answer_for_every_kind_of_attempt() {
    let mut drill = with_bad_key(KeyForm::Missing);
    let judgement = drill.judge();
    assert!(doubts(&judgement).contains(&"G3"), "{judgement:#?}");
    refuse(last(&mut drill), 400, "missing-key");
    assert_eq!(drill.judge().verdict, Verdict::Passed);
    for attempt in &mut drill.history.attempts[..6] {
        attempt.cause = Cause::Prepare;
    }
    (drill.history.phases[0].planned, drill.history.phases[0].contended) = (0, None);
    assert_eq!(drill.judge().verdict, Verdict::Passed, "{:#?}", drill.judge());
}

#[test]
fn orders_of_a_pools_users_from_before_do_not_count() {
    let mut drill = Drill::clean(3, 2);
    drill.profile.actor.users = (0..3).map(|number| Secret::plain(user(number))).collect();
    let old = OrderRow { id: "17".into(), key: Some("old".into()), ..row(1, 1) };
    drill.baseline.orders.push(old.clone());
    drill.after().orders.push(old.clone());
    assert_eq!(drill.judge().verdict, Verdict::Passed, "{:#?}", drill.judge());
    // A user with orders of old may be at work elsewhere; one without is ours, and a riddle.
    let product = Some("4711".into());
    drill.after().orders.push(OrderRow {
        id: "78".into(),
        product: product.clone(),
        ..old.clone()
    });
    assert_eq!(drill.judge().verdict, Verdict::Passed, "{:#?}", drill.judge());
    let strange = OrderRow { id: "79".into(), user: Some(user(2).into()), product, ..old };
    drill.after().orders.push(strange);
    assert!(assert_doubted(&drill, "I13").contains("the users may be at work elsewhere"));
}

#[test]
fn a_body_that_was_cut_is_held_against_nobody() {
    let mut drill = with_bad_key(KeyForm::Missing);
    refuse(last(&mut drill), 400, "missing-key");
    let text = "{\"code\":\"BAD_KEY\",\"detail\":\"...";
    drill.history.bodies.insert(BodyId(90), body(90, text));
    last(&mut drill).body = Some(BodyId(90));
    let code =
        Some(BodyCode { pointer: "/code".to_owned(), values: vec!["MISSING_KEY".to_owned()] });
    drill.profile.contract.missing_key = MissingKey::Rejected(Answer { statuses: vec![400], code });
    only(&drill.judge(), "I26");
    drill.history.bodies.get_mut(&BodyId(90)).unwrap().bytes += 1;
    assert_eq!(drill.judge().verdict, Verdict::Passed, "{:#?}", drill.judge());
}

#[test]
fn own_checks_need_the_baselines_rows_and_a_database_at_rest() {
    let mut drill = Drill::clean(3, 2);
    drill.profile.audit.sql = vec![CustomCheck {
        title: "no order without a parcel".to_owned(),
        severity: Severity::Critical,
        query: "SELECT ...".to_owned(),
    }];
    let none = CustomRows { columns: vec!["order".to_owned()], ..CustomRows::default() };
    let one = CustomRows { rows: vec![vec![Some("7".to_owned())]], ..none.clone() };
    drill.after().custom = vec![one];
    assert!(assert_doubted(&drill, "U01").contains("not run before the load"));
    drill.baseline.custom = vec![none];
    only(&drill.judge(), "U01");
    drill.history.drains[0].drained = false;
    let judgement = drill.judge();
    assert_eq!(ids(&judgement), Vec::<&str>::new());
    let what = &judgement.doubts.iter().find(|doubt| doubt.code == "U01").unwrap().what;
    let expected =
        "1 row in 1 check that the baseline did not have, but the database was not at rest";
    assert_eq!(what, expected);
}

#[test]
fn what_a_pools_others_do_is_an_excuse() {
    // A wait that nobody of the run explains, and a keyless order of one of its users.
    let mut drill = Drill::clean(3, 2);
    drill.add_intent(3, 3, 1);
    put_off(drill.add_attempt(3, ms(5_000), ms(5_004)));
    acknowledge(drill.add_attempt(3, ms(9_000), ms(9_004)), 3);
    drill.add_order(row(3, 1));
    drill.end();
    only(&drill.judge(), "R5");
    drill.profile.actor.products = vec![PRODUCT];
    assert_eq!(drill.judge().verdict, Verdict::Passed, "{:#?}", drill.judge());
    drill.profile.actor.products.clear();
    drill.profile.actor.users = (0..4).map(|number| Secret::plain(user(number))).collect();
    assert_eq!(drill.judge().verdict, Verdict::Passed, "{:#?}", drill.judge());
    drill.add_order(OrderRow { id: "79".into(), key: None, ..row(1, 1) });
    assert_eq!(ids(&drill.judge()), Vec::<&str>::new());
    drill.profile.actor.users.clear();
    assert_eq!(ids(&drill.judge()), ["I02", "R5"]);
}

#[test]
fn a_journal_without_its_seal_claims_only_what_is_there() {
    // A replay that is refused, a late answer, an error: an instance may have ended.
    let mut drill = Drill::clean(3, 2);
    refuse(drill.add_attempt(0, ms(100), ms(104)), 422, "business");
    drill.add_attempt(1, ms(100), ms(104)).status = Some(500);
    drill.add_attempt(2, ms(100), ms(20_000));
    drill.end();
    let mut found = ids(&drill.judge());
    found.sort_unstable();
    assert_eq!(found, ["I08", "I21", "R3"]);
    drill.history.sealed = false;
    assert_doubted(&drill, "G9");
    // Two orders of one key are two orders, whatever else was sent; told apart by the user they aren't.
    let mut drill = Drill::clean(3, 2);
    drill.history.sealed = false;
    drill.add_order(OrderRow { id: "second".into(), ..row(1, 1) });
    assert_eq!(ids(&drill.judge()), ["I02"]);
    drill.profile.audit.orders.key = None;
    assert_eq!(ids(&drill.judge()), Vec::<&str>::new());
    drill.history.sealed = true;
    assert_eq!(ids(&drill.judge()), ["I02"]);
    // What is missing may be late: the last drain may not have been recorded.
    let mut drill = Drill::clean(3, 2);
    drill.after().orders.pop();
    *drill.available() += 1;
    assert_eq!(ids(&drill.judge()), ["I05"]);
    drill.history.sealed = false;
    let judgement = drill.judge();
    assert_eq!(ids(&judgement), Vec::<&str>::new());
    let what = &judgement.doubts.iter().find(|doubt| doubt.code == "I05").unwrap().what;
    assert!(what.contains("but the journal doesn't reach far enough"), "{what}");
}
