//! I14: the payment provider's log against the rows.

use std::time::Duration;

use dupeproof::audit::{GateState, Judgement, Verdict};
use dupeproof::codes::Severity;
use dupeproof::history::{OrderRow, PaymentEvent, PaymentLine};
use dupeproof::profile::Target;

use crate::fixture::*;

const AMOUNT: i64 = 1_250;

fn line(event: PaymentEvent, id: &str, order: u32) -> PaymentLine {
    PaymentLine {
        at_us: STARTED_US + i64::from(order) * 10_000 + 2_000,
        event,
        id: id.into(),
        order: Some(order_id(order).into()),
        amount: Some(AMOUNT),
    }
}

fn pay_id(order: u32) -> String {
    format!("{}:pay", order_id(order))
}

/// Three orders in the lab, each asked for by two, each paid.
fn paid() -> Drill {
    let mut drill = Drill::clean(3, 2);
    drill.profile.target = Target::Lab;
    let orders = &mut drill.profile.audit.orders;
    orders.paid_at = Some("paid_at".to_owned());
    orders.closed_at = Some("closed_at".to_owned());
    orders.sold = ["CREATED", "PAYING", "PAID"].map(str::to_owned).into();
    for (row, number) in drill.after().orders.iter_mut().zip(0..) {
        row.status = Some("PAID".into());
        row.paid_us = Some(STARTED_US + number * 10_000 + 3_000);
    }
    drill.after().payments = Some(Vec::new());
    for order in 0..3 {
        ask_and_charge(&mut drill, &pay_id(order), order);
    }
    drill
}

fn log(drill: &mut Drill) -> &mut Vec<PaymentLine> {
    drill.after().payments.as_mut().unwrap()
}

fn ask_and_charge(drill: &mut Drill, id: &str, order: u32) {
    let events = [PaymentEvent::ChargeRequest, PaymentEvent::Charge];
    log(drill).extend(events.map(|event| line(event, id, order)));
}

/// Leaves the second order in another state.
fn becomes(drill: &mut Drill, status: &str, closed_us: Option<i64>) {
    let row = &mut drill.after().orders[1];
    *row = OrderRow { status: Some(status.into()), paid_us: None, closed_us, ..row.clone() };
    if closed_us.is_some() {
        *drill.available() += 1;
    }
}

fn only_i14(judgement: &Judgement) -> &dupeproof::audit::Finding {
    let mut found = judgement.findings.iter().filter(|finding| finding.code.id == "I14");
    let finding = found.next().unwrap_or_else(|| panic!("no I14 in {:?}", ids(judgement)));
    assert!(found.next().is_none(), "one kind of break, one finding");
    finding
}

fn has_no_i14(drill: &Drill) {
    let judgement = drill.judge();
    assert!(!ids(&judgement).contains(&"I14"), "{:#?}", judgement.findings);
    assert_eq!(gate(&judgement, "I14").state, GateState::Held);
}

#[test]
fn orders_that_were_charged_once_pass() {
    let judgement = paid().judge();
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    assert_eq!(gate(&judgement, "I14").detail, "0 of 3 orders charged wrongly, 3 charges");
}

#[test]
fn without_a_log_or_a_charge_nothing_is_judged() {
    let mut drill = paid();
    log(&mut drill).clear();
    assert_eq!(gate(&drill.judge(), "I14").state, GateState::NotJudged);
    drill.after().payments = None;
    assert_eq!(gate(&drill.judge(), "I14").state, GateState::NotJudged);
}

#[test]
fn an_id_asked_for_again_is_the_same_charge() {
    let mut drill = paid();
    let again = line(PaymentEvent::ChargeRequest, &pay_id(1), 1);
    let state = PaymentLine { order: None, ..line(PaymentEvent::StateRequest, &pay_id(1), 1) };
    log(&mut drill).extend([again, state]);
    has_no_i14(&drill);
}

#[test]
fn two_charges_of_an_order_are_found() {
    let mut drill = paid();
    ask_and_charge(&mut drill, "again", 1);
    let judgement = drill.judge();
    let finding = only_i14(&judgement);
    assert_eq!(finding.severity, Severity::Critical);
    assert_eq!(finding.title, "1 order is charged more than once");
    let cells =
        [order_id(1), "PAID".into(), format!("{}, again", pay_id(1)), "2".into(), "2500".into()];
    assert_eq!(finding.evidence.rows[0][..5], cells);
    assert!(finding.therefore[0].contains("has paid 2 times"), "{}", finding.therefore[0]);
    assert_eq!(judgement.verdict, Verdict::Violated);
}

#[test]
fn a_charge_that_was_given_back_does_not_count_and_half_of_it_does() {
    let mut drill = paid();
    ask_and_charge(&mut drill, "again", 1);
    let refund = PaymentLine { order: None, ..line(PaymentEvent::Refund, "again", 1) };
    log(&mut drill).push(PaymentLine { amount: Some(AMOUNT / 2), ..refund.clone() });
    assert_eq!(only_i14(&drill.judge()).severity, Severity::Critical);
    log(&mut drill).push(PaymentLine { amount: Some(AMOUNT / 2), ..refund });
    has_no_i14(&drill);
}

#[test]
fn another_id_may_follow_a_decline_and_nothing_else() {
    let mut drill = paid();
    log(&mut drill).push(line(PaymentEvent::ChargeRequest, "first", 1));
    let judgement = drill.judge();
    let finding = only_i14(&judgement);
    assert_eq!(finding.severity, Severity::Contract);
    assert_eq!(finding.title, "1 order has several payment ids");
    log(&mut drill).push(line(PaymentEvent::Decline, "first", 1));
    has_no_i14(&drill);
}

#[test]
fn a_closed_order_that_was_charged_needs_its_refund() {
    let mut drill = paid();
    becomes(&mut drill, "CLOSED", Some(STARTED_US + 13_000));
    let judgement = drill.judge();
    let finding = only_i14(&judgement);
    assert_eq!(finding.severity, Severity::Critical);
    assert_eq!(finding.title, "1 order is charged and closed, without a refund");

    drill.profile.contract.settles_within = Some(Duration::from_secs(5));
    has_no_i14(&drill);
    drill.profile.contract.settles_within = None;
    let refund = PaymentLine { order: None, ..line(PaymentEvent::Refund, &pay_id(1), 1) };
    log(&mut drill).push(refund);
    has_no_i14(&drill);
}

#[test]
fn a_charged_order_has_the_recovery_limit_to_become_paid() {
    let mut drill = paid();
    becomes(&mut drill, "PAYING", None);
    has_no_i14(&drill);
    drill.profile.contract.recovery_limit = Duration::from_millis(50);
    let judgement = drill.judge();
    let finding = only_i14(&judgement);
    assert_eq!(finding.severity, Severity::Contract);
    assert_eq!(finding.title, "1 order is charged and not paid");
    assert!(finding.therefore[0].contains("still PAYING after more than 50.0 ms"));
}

#[test]
fn a_charge_for_no_order_is_found_where_nobody_else_is_charged() {
    let mut drill = paid();
    ask_and_charge(&mut drill, "stray", 9);
    let judgement = drill.judge();
    assert_eq!(only_i14(&judgement).severity, Severity::Critical);
    let mut elsewhere = Drill::clean(3, 2);
    elsewhere.after().payments = drill.after.unwrap().payments;
    has_no_i14(&elsewhere);
}

#[test]
fn what_may_only_be_late_is_a_doubt() {
    let mut drill = paid();
    becomes(&mut drill, "CLOSED", Some(STARTED_US + 13_000));
    drill.history.drains[0].drained = false;
    let judgement = drill.judge();
    assert!(!ids(&judgement).contains(&"I14"));
    assert!(doubts(&judgement).contains(&"I14"), "{:?}", doubts(&judgement));
}

#[test]
fn a_charge_whose_reply_was_lost_is_asked_for_again_under_its_id() {
    let mut drill = paid();
    let again = line(PaymentEvent::ChargeRequest, &pay_id(1), 1);
    log(&mut drill).extend([again.clone(), again]);
    let judgement = drill.judge();
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    // Under another one it is a second charge.
    ask_and_charge(&mut drill, "another id", 1);
    assert_eq!(only(&drill.judge(), "I14").severity, Severity::Critical);
}
