//! Invariants: each planted defect is found, and nothing else is.

use dupeproof::audit::{GateState, Verdict};
use dupeproof::codes::Severity;
use dupeproof::history::{Exit, InstanceId, OrderRow, RefusedInsert};
use dupeproof::profile::{BusinessColumn, ReplayBody, Target};

use crate::fixture::*;

#[test]
fn a_clean_drill_passes() {
    let judgement = Drill::clean(12, 4).judge();
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    assert!(judgement.gates.iter().all(|gate| gate.state != GateState::Broken));
    assert_eq!(gate(&judgement, "I02").detail, "0 of 12 keys have two orders or more");
    assert_eq!(judgement.accounting.intents_with_one_order, 12);
    assert_eq!(judgement.accounting.attempts, 48);
}

#[test]
fn stock_below_zero_is_found_also_if_it_has_healed_since() {
    let mut drill = Drill::clean(2, 2);
    let before = drill.before_repair.as_mut().unwrap();
    before.stock.get_mut(&PRODUCT.to_string()).unwrap().available = -3;
    let judgement = drill.judge();
    let finding = only(&judgement, "I01");
    assert_eq!(finding.title, "1 product is below zero, the lowest at -3");
    assert_eq!(gate(&judgement, "I01").detail, "1 of 1 product is below zero");
}

#[test]
fn a_second_order_of_a_key_is_found_with_its_reason() {
    let mut drill = Drill::clean(3, 2);
    drill.after().constraints.clear();
    drill.add_order(OrderRow { id: "77".into(), ..row(1, 1) });
    let judgement = drill.judge();
    let finding = only(&judgement, "I02");
    assert_eq!(finding.severity, Severity::Critical);
    assert_eq!(finding.title, "one intent became two orders");
    assert_eq!(finding.evidence.rows[0][..4], [&user(1), &key(1), "2", "1001, 77"]);
    assert_eq!(gate(&judgement, "I02").detail, "1 of 3 keys has two orders or more");
    assert!(finding.therefore.iter().any(|why| why.contains("nobody was told of order 77")));
    assert!(finding.therefore.iter().any(|why| why.contains("no unique index covers")));
    assert_eq!(judgement.accounting.intents_with_more, 1);
}

#[test]
fn two_acknowledged_orders_of_a_key_are_i02_and_i06() {
    let mut drill = Drill::clean(3, 2);
    drill.add_order(OrderRow { id: order_id(500).into(), ..row(1, 1) });
    drill.history.attempts[3].order = Some(order_id(500).into());
    let judgement = drill.judge();
    assert_eq!(ids(&judgement), ["I02", "I06"]);
    assert!(judgement.findings[0].therefore[0].contains("were in flight together"));
    assert_eq!(judgement.findings[1].severity, Severity::Critical);
    assert_eq!(judgement.findings[1].title, "one intent was told of two orders");
}

#[test]
fn keys_that_a_unique_index_does_not_see_are_counted_for_their_user() {
    let mut drill = Drill::clean(3, 2);
    let keyless = OrderRow { id: "77".into(), key: None, ..row(1, 1) };
    drill.add_order(keyless);
    let judgement = drill.judge();
    let finding = only(&judgement, "I02");
    assert!(finding.therefore.iter().any(|why| why.contains("lets NULL keys through")));
}

#[test]
fn a_cancelled_order_is_no_second_order() {
    let mut drill = Drill::clean(3, 2);
    let cancelled = Some("CANCELLED".into());
    drill.after().orders.push(OrderRow { id: "77".into(), status: cancelled, ..row(1, 1) });
    assert_eq!(drill.judge().verdict, Verdict::Passed);
}

#[test]
fn under_a_business_key_two_keys_may_share_an_order_and_not_have_two() {
    let mut drill = Drill::clean(3, 2);
    drill.profile.contract.one_order_per = vec![BusinessColumn::User];
    drill.baseline.constraints[0].columns.pop();
    drill.add_intent(1, 40, 1);
    let attempt = drill.add_attempt(3, ms(400), ms(405));
    acknowledge(attempt, 1);
    drill.end();
    assert_eq!(drill.judge().verdict, Verdict::Passed, "{:#?}", drill.judge());

    drill.add_order(OrderRow { id: "77".into(), key: Some(key(40).into()), ..row(1, 1) });
    let judgement = drill.judge();
    assert_eq!(only(&judgement, "I02").title, "one user got two orders");
}

#[test]
fn without_a_column_for_keys_each_intent_needs_a_user_of_its_own() {
    let mut drill = Drill::clean(3, 2);
    drill.profile.audit.orders.key = None;
    drill.after().orders.iter_mut().for_each(|row| row.key = None);
    assert_eq!(drill.judge().verdict, Verdict::Passed, "{:#?}", drill.judge());
    drill.add_order(OrderRow { id: "77".into(), key: None, ..row(1, 1) });
    only(&drill.judge(), "I02");
    drill.after().orders.pop();
    *drill.available() += 1;
    drill.add_intent(1, 40, 1);
    let judgement = drill.judge();
    assert_eq!(doubts(&judgement), ["I02"]);
    assert_eq!(gate(&judgement, "I02").state, GateState::NotJudged);
}

#[test]
fn inserts_that_only_the_index_refused_are_protected_and_pass() {
    let mut drill = Drill::clean(3, 2);
    let refused = RefusedInsert {
        constraint: "orders_one_per_key".to_owned(),
        detail: "Key (user_id)=(u-7c1e-001) already exists.".to_owned(),
    };
    drill.after().refused_inserts = Some(vec![refused; 61]);
    let judgement = drill.judge();
    let finding = only(&judgement, "I02");
    assert_eq!(finding.severity, Severity::Protected);
    assert_eq!(finding.title, "61 inserts refused by unique index orders_one_per_key");
    assert_eq!((judgement.verdict, finding.evidence.rows.len()), (Verdict::Passed, 61));
    assert_eq!(gate(&judgement, "I02").state, GateState::Held);
}

#[test]
fn units_sold_without_leaving_the_stock_are_found() {
    let mut drill = Drill::clean(3, 2);
    *drill.available() += 2;
    let judgement = drill.judge();
    let finding = only(&judgement, "I03");
    assert_eq!(finding.title, "stock and orders of 1 product disagree by 2 units");
    assert!(finding.therefore[0].starts_with("2 units of product"), "{:?}", finding.therefore);
}

#[test]
fn orders_of_others_count_in_the_sum_and_their_differences_are_doubts() {
    let mut drill = Drill::clean(3, 2);
    let other = |id: &str| Some(id.into());
    drill.add_order(OrderRow {
        id: "77".into(),
        user: other("alice"),
        key: other("hers"),
        ..row(0, 2)
    });
    let judgement = drill.judge();
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    assert!(gate(&judgement, "I13").detail.contains("1 of others left out"));
    *drill.available() += 5;
    assert!(assert_doubted(&drill, "I03").contains("somebody else placed orders"));
}

#[test]
fn in_a_database_of_its_own_an_order_of_somebody_else_is_an_orphan() {
    let mut drill = Drill::clean(3, 2);
    drill.profile.target = Target::Lab;
    let other = |id: &str| Some(id.into());
    drill.add_order(OrderRow {
        id: "77".into(),
        user: other("anon"),
        key: other("random"),
        ..row(0, 2)
    });
    let judgement = drill.judge();
    assert_eq!(only(&judgement, "I13").count, 1, "{judgement:#?}");
}

#[test]
fn a_stock_difference_on_a_busy_database_is_a_doubt() {
    let mut drill = Drill::clean(3, 2);
    *drill.available() += 2;
    drill.history.drains[0].drained = false;
    let judgement = drill.judge();
    assert_eq!(doubts(&judgement), ["I03", "G4"]);
    assert_eq!((judgement.verdict, judgement.findings.len()), (Verdict::Inconclusive, 0));
}

#[test]
fn an_acknowledged_order_that_is_missing_is_found() {
    let mut drill = Drill::clean(3, 2);
    drill.after().orders.remove(1);
    *drill.available() += 1;
    let judgement = drill.judge();
    let finding = only(&judgement, "I05");
    assert_eq!(finding.title, "1 acknowledged order is missing");
    assert_eq!(finding.witness.attempts.len(), 1);

    drill.after = None;
    drill.before_repair.as_mut().unwrap().orders.remove(1);
    let judgement = drill.judge();
    assert_eq!((judgement.verdict, ids(&judgement)), (Verdict::Inconclusive, vec![]));
    assert!(doubts(&judgement).contains(&"I05"));
}

#[test]
fn an_acknowledged_order_that_was_overwritten_is_found() {
    let mut drill = Drill::clean(3, 2);
    drill.after().orders[1].quantity = Some(7);
    *drill.available() -= 6;
    let judgement = drill.judge();
    let finding = only(&judgement, "I05");
    assert_eq!(finding.title, "1 acknowledged order is not what was asked for");
    assert_eq!(finding.evidence.rows[0][4], "quantity: 7");
}

#[test]
fn a_column_that_never_holds_what_was_sent_is_a_slip_in_the_profile() {
    let mut drill = Drill::clean(5, 2);
    for (number, row) in drill.after().orders.iter_mut().enumerate() {
        row.key = Some(format!("hash-{number}").into());
    }
    assert!(assert_doubted(&drill, "G7").contains("`idempotency_key`"));
    let mut drill = Drill::clean(5, 2);
    for row in &mut drill.after().orders {
        row.id = format!("9{}", row.id).into();
    }
    assert!(assert_doubted(&drill, "G7").contains("acknowledged order ids"));
}

#[test]
fn replies_that_differ_in_body_or_status_are_found() {
    let mut drill = Drill::clean(3, 2);
    drill
        .history
        .bodies
        .insert(dupeproof::history::BodyId(90), body(90, "{ \"orderId\": \"1001\" }"));
    drill.history.attempts[3].body = Some(dupeproof::history::BodyId(90));
    let judgement = drill.judge();
    let finding = only(&judgement, "I06");
    assert_eq!(finding.severity, Severity::Contract);
    assert_eq!(finding.evidence.rows[0][2], "body");

    drill.profile.contract.replay.body = ReplayBody::Json;
    assert_eq!(drill.judge().verdict, Verdict::Passed);

    drill.history.attempts[3].status = Some(200);
    assert_eq!(only(&drill.judge(), "I06").evidence.rows[0][2], "status");

    drill.profile.contract.replay.statuses = Some(vec![200]);
    let judgement = drill.judge();
    let finding = only(&judgement, "I06");
    assert_eq!(finding.count, 2, "users 0 and 2 got 201 twice");
}

#[test]
fn an_order_that_nobody_asked_for_is_found() {
    let mut drill = Drill::clean(3, 2);
    drill.add_order(OrderRow { id: "77".into(), key: Some("stray".into()), ..row(1, 1) });
    assert_eq!(only(&drill.judge(), "I13").title, "1 order that nobody asked for");

    let mut drill = Drill::clean(3, 2);
    drill.add_intent(3, 3, 1);
    let attempt = drill.add_attempt(3, ms(400), ms(401));
    attempt.outcome = dupeproof::history::Outcome::NotSent;
    attempt.sent = dupeproof::history::Sent::Nothing;
    drill.end();
    assert_eq!(drill.judge().verdict, Verdict::Passed);
    drill.add_order(row(3, 1));
    assert!(only(&drill.judge(), "I13").therefore[0].contains("nothing was sent under its key"));
}

#[test]
fn an_unknown_attempt_explains_an_order() {
    let mut drill = Drill::clean(3, 2);
    drill.add_intent(3, 3, 1);
    drill.add_attempt(3, ms(400), ms(405));
    drill.add_order(row(3, 1));
    drill.end();
    assert_doubted(&drill, "G11");
}

#[test]
fn an_exit_is_found_unless_it_was_ours() {
    let mut drill = Drill::clean(3, 2);
    drill.history.exits.push(Exit {
        instance: InstanceId(1),
        at: ms(15),
        status: "exit status 1".to_owned(),
        ours: true,
        last_words: "Error: connect ECONNREFUSED".to_owned(),
    });
    assert_eq!(drill.judge().verdict, Verdict::Passed);
    drill.history.exits[0].ours = false;
    let judgement = drill.judge();
    let finding = only(&judgement, "I27");
    assert_eq!(finding.title, "the target ended once, and not by the drill");
    assert!(finding.help.ends_with("ECONNREFUSED"));
}

#[test]
fn a_proven_violation_stays_one_when_the_run_proves_little_else() {
    let mut drill = Drill::clean(3, 2);
    drill.add_order(OrderRow { id: "77".into(), ..row(1, 1) });
    drill.history.drains[0].drained = false;
    drill.history.sealed = false;
    let judgement = drill.judge();
    assert_eq!(judgement.verdict, Verdict::Violated);
    assert_eq!(doubts(&judgement), ["G4", "G9"]);
}
