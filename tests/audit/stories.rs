//! Stories: the shortest telling, as far as it was observed.

use dupeproof::codes::{all, find};
use dupeproof::history::{Exit, InstanceId, OrderRow};
use dupeproof::story::tell;

use crate::fixture::*;

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

#[test]
fn every_gate_line_leads_to_an_entry_of_the_registry() {
    for gate in Drill::clean(2, 2).judge().gates {
        assert_eq!(find(gate.code.id), Some(gate.code));
    }
    let texts = all().flat_map(|code| [code.title, code.what, code.checked, code.cure]);
    assert!(texts.into_iter().all(|text| !text.contains("  ")), "a text has a hole in it");
}
