//! The lints of the trace: the correct shop has none, each defect has its own.

use dupeproof::audit::{Finding, GateState, Judgement};
use dupeproof::codes::Severity;
use dupeproof::history::{Role, StepEnd, Wire};

use crate::fixture::{Drill, ids, loud};
use crate::wires::{Hand, Lock, Renewals, Shop, Stock, Unlock, lock_key, served_by, sql, watched};

const LINTS: [&str; 9] = ["L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8", "L9"];

fn states(judgement: &Judgement) -> Vec<GateState> {
    let is_lint = |id: &str| LINTS.contains(&id);
    let lines = judgement.gates.iter().filter(|gate| is_lint(gate.code.id));
    lines.map(|gate| gate.state).collect()
}

/// The only finding of the wires, with this id.
fn only<'a>(judgement: &'a Judgement, id: &str) -> &'a Finding {
    assert_eq!(ids(judgement), [id], "{judgement:#?}");
    let finding = &judgement.findings[0];
    assert_eq!(finding.severity, Severity::Protected);
    assert!(loud(judgement).is_empty());
    assert!(!finding.evidence.rows.is_empty() && !finding.therefore.is_empty());
    finding
}

fn assert_silent(drill: &Drill) {
    let judgement = drill.judge();
    assert_eq!(ids(&judgement), [""; 0], "{:#?}", judgement.findings);
}

#[test]
fn the_correct_shop_has_no_lint_whatever_its_strategies() {
    for lock in [Lock::Fenced, Lock::Alone, Lock::Reentrant, Lock::Advisory] {
        for stock in [Stock::Conditional, Stock::Version, Stock::ForUpdate] {
            for begins_before_lock in [false, true] {
                for work_ms in [1, 5_000] {
                    let shop = Shop { lock, stock, begins_before_lock, work_ms, ..Shop::default() };
                    let judgement = served_by(shop, 3).judge();
                    assert_eq!(ids(&judgement), [""; 0], "{shop:?} {:#?}", judgement.findings);
                    let states = states(&judgement);
                    let has_leases = lock != Lock::Advisory;
                    let held = |at: usize| has_leases || at != 4;
                    for (at, state) in states.iter().enumerate() {
                        assert_eq!(*state == GateState::Held, held(at), "{shop:?} {}", LINTS[at]);
                    }
                }
            }
        }
    }
}

#[test]
fn each_defect_of_the_shop_has_its_lint() {
    let shop = Shop::default();
    let plain = Shop { lock: Lock::Alone, ..shop };
    let slow = Shop { work_ms: 5_000, ..shop };
    for (id, defective) in [
        ("L1", Shop { unlocks_early: true, ..shop }),
        ("L1", Shop { unlocks_early: true, lock: Lock::Reentrant, ..shop }),
        ("L1", Shop { unlocks_early: true, begins_before_lock: true, ..shop }),
        ("L2", Shop { unlock: Unlock::PlainDel, ..plain }),
        ("L2", Shop { unlock: Unlock::PlainDel, ..shop }),
        ("L3", Shop { unlock: Unlock::GetThenDel, ..plain }),
        ("L3", Shop { unlock: Unlock::GetThenDel, ..shop }),
        ("L4", Shop { setnx: true, ..shop }),
        ("L5", Shop { constant_token: true, ..plain }),
        ("L5", Shop { constant_token: true, ..shop }),
        ("L6", Shop { renewals: Renewals::WithoutToken, ..slow }),
        ("L7", Shop { lease_ms: 20, work_ms: 60, renewals: Renewals::None, ..plain }),
        ("L7", Shop { lease_ms: 20, work_ms: 60, renewals: Renewals::None, ..shop }),
        ("L7", Shop { renewals: Renewals::Refused, lock: Lock::Alone, ..slow }),
        ("L7", Shop { renewals: Renewals::Refused, ..slow }),
        ("L8", Shop { stock: Stock::ReadThenWrite, ..shop }),
        ("L9", Shop { stock: Stock::ForUpdateOutside, ..shop }),
    ] {
        let judgement = served_by(defective, 2).judge();
        assert_eq!(ids(&judgement), [id], "{defective:?} {judgement:#?}");
        let finding = only(&judgement, id);
        assert!(finding.evidence.rows.iter().all(|row| row[3].contains('#')), "{finding:#?}");
    }
}

#[test]
fn a_lease_entered_again_is_not_released_early_though_its_first_entry_is_nobodys() {
    let mut drill = served_by(Shop { lock: Lock::Reentrant, ..Shop::default() }, 2);
    // Another intent of the product was under way when the first one entered.
    let steps = &mut drill.history.steps;
    let entry = steps.iter_mut().find(|step| step.role == Some(Role::Lock)).unwrap();
    (entry.intent, entry.product) = (None, None);
    assert_eq!(ids(&drill.judge()), [""; 0]);
}

#[test]
fn a_finding_shows_its_steps_with_times_and_subject() {
    let judgement = served_by(Shop { unlocks_early: true, ..Shop::default() }, 2).judge();
    let finding = only(&judgement, "L1");
    assert_eq!(finding.title, "a lock was released before COMMIT was answered, twice");
    assert_eq!(finding.count, 2);
    let steps: Vec<&str> = finding.evidence.rows[..3].iter().map(|row| &*row[3]).collect();
    let unlock = "redis EVALSHA unlock lock:stock #1";
    assert_eq!(steps, ["redis EVALSHA grant lock:stock #1", unlock, "postgres COMMIT #1"]);
    assert!(finding.evidence.rows.iter().all(|row| row[2] == lock_key()));
    assert!(finding.therefore[0].contains("could not see"), "{finding:#?}");
    assert_eq!(finding.witness.attempts.len(), 1);
}

#[test]
fn without_proxies_there_is_no_line_for_a_lint() {
    let judgement = Drill::clean(3, 2).judge();
    assert_eq!(states(&judgement), []);
    assert!(judgement.gates.iter().all(|gate| !["I29", "G13"].contains(&gate.code.id)));
}

#[test]
fn requests_that_were_never_alone_are_not_judged() {
    let mut drill = served_by(Shop { unlocks_early: true, ..Shop::default() }, 1);
    let mut twin = drill.history.attempts[0].clone();
    twin.id = dupeproof::history::AttemptId(1);
    drill.history.attempts.push(twin);
    let judgement = drill.judge();
    let gate = judgement.gates.iter().find(|gate| gate.code.id == "L1").unwrap();
    assert_eq!(gate.state, GateState::NotJudged);
    assert_eq!(gate.detail, "no request was alone on the wires");
    assert!(!ids(&judgement).contains(&"L1"));
}

#[test]
fn attempts_at_two_instances_are_told_apart_by_their_links() {
    let mut drill = served_by(Shop { unlocks_early: true, ..Shop::default() }, 1);
    let mut twin = drill.history.attempts[0].clone();
    twin.id = dupeproof::history::AttemptId(1);
    twin.instance = dupeproof::history::InstanceId(1);
    drill.history.attempts.push(twin);
    for link in &mut drill.history.links {
        link.instance = Some(dupeproof::history::InstanceId(0));
    }
    assert!(ids(&drill.judge()).contains(&"L1"));
}

#[test]
fn a_lock_that_was_over_before_the_transaction_is_fine() {
    let mut drill = watched(1);
    let mut hand = Hand::new(&mut drill, 0);
    let grant = hand.on_lock("SET", "", Role::Lock, "OK");
    (grant.token, grant.lease_ms) = (Some(1), Some(3_000));
    let unlock = hand.on_lock("EVALSHA", "unlock", Role::Unlock, "1");
    (unlock.token, unlock.compares) = (Some(1), true);
    hand.begin();
    hand.sql(sql!("insert_order"), Some(Role::OrderInsert), "INSERT 0 1");
    hand.end("COMMIT");
    assert_silent(&drill);
}

#[test]
fn an_unlock_after_a_commit_that_failed_or_was_never_answered_is_fine() {
    for end in [StepEnd::Failed, StepEnd::Unanswered] {
        let mut drill = served_by(Shop { unlocks_early: true, ..Shop::default() }, 1);
        let is_commit = |step: &&mut dupeproof::history::Step| &*step.verb == "COMMIT";
        drill.history.steps.iter_mut().find(is_commit).unwrap().end = end;
        assert_silent(&drill);
    }
}

#[test]
fn a_renewal_that_may_have_worked_excuses_a_late_write() {
    let slow = Shop { work_ms: 5_000, lock: Lock::Alone, ..Shop::default() };
    assert_silent(&served_by(Shop { renewals: Renewals::Unanswered, ..slow }, 2));
    let mut drill = served_by(Shop { renewals: Renewals::None, ..slow }, 1);
    assert_eq!(ids(&drill.judge()), ["L7"]);
    drill.history.wires[0].unread = 1;
    assert_silent(&drill);
}

#[test]
fn a_write_that_changed_nothing_is_not_late() {
    let slow =
        Shop { work_ms: 5_000, lock: Lock::Alone, renewals: Renewals::None, ..Shop::default() };
    let mut drill = served_by(slow, 1);
    for step in &mut drill.history.steps {
        if step.wire == Wire::Postgres {
            step.answer = Some("UPDATE 0".into());
        }
    }
    assert_silent(&drill);
}

/// What two statements come to, in one transaction or in none.
fn statements(texts: &[&str], begin: Option<&str>) -> Vec<&'static str> {
    let mut drill = watched(1);
    let mut hand = Hand::new(&mut drill, 0);
    if let Some(begin) = begin {
        hand.begin_with(begin);
    }
    for text in texts {
        hand.sql(text, None, "UPDATE 1").intent = Some(dupeproof::history::IntentId(0));
    }
    if begin.is_some() {
        hand.end("COMMIT");
    }
    ids(&drill.judge())
}

#[test]
fn a_value_that_is_written_back_is_found_unless_a_condition_or_a_lock_keeps_it() {
    let read = "SELECT credit, version FROM wallets WHERE id = $1";
    let locked = "SELECT credit FROM wallets WHERE id = $1 FOR UPDATE";
    let write = "UPDATE wallets SET credit = $1 WHERE id = $2";
    let none: [&str; 0] = [];
    for begin in [None, Some("BEGIN")] {
        assert_eq!(statements(&[read, write], begin), ["L8"]);
        for literal in ["7", "'7'", "-7", "7::numeric", "($1)"] {
            let write =
                format!("UPDATE public.wallets AS w SET credit = {literal} WHERE w.id = $2");
            assert_eq!(statements(&[read, &write], begin), ["L8"], "{write}");
        }
        for sound in [
            "UPDATE wallets SET credit = credit - $1 WHERE id = $2",
            "UPDATE wallets SET credit = $1 WHERE id = $2 AND credit = $3",
            "UPDATE wallets SET credit = $1, version = version + 1 WHERE id = $2 AND version = $3",
            "UPDATE wallets SET owner = $1 WHERE id = $2",
            "UPDATE purses SET credit = $1 WHERE id = $2",
            "UPDATE wallets SET credit = $1 WHERE id = $2 AND",
        ] {
            assert_eq!(statements(&[read, sound], begin), none, "{sound}");
        }
        assert_eq!(statements(&[write, read], begin), none);
    }
    assert_eq!(statements(&[locked, write], Some("BEGIN")), none);
    assert_eq!(statements(&[read, locked, write], Some("BEGIN")), none);
    for steady in
        ["BEGIN ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION ISOLATION LEVEL SERIALIZABLE"]
    {
        assert_eq!(statements(&[read, write], Some(steady)), none);
    }
    let unreadable = "SELECT credit FROM wallets WHERE id = $1 FOR NO KEY UPDATE";
    assert_eq!(statements(&[read, unreadable, write], Some("BEGIN")), none);
}

#[test]
fn a_status_that_is_set_whatever_it_was_is_found() {
    let none: [&str; 0] = [];
    for unconditional in [sql!("pay_unconditionally"), sql!("close_unconditionally")] {
        assert_eq!(statements(&[sql!("order_status"), unconditional], None), ["L9"]);
        assert_eq!(statements(&[sql!("order_status"), unconditional], Some("BEGIN")), ["L9"]);
        let locked = "SELECT status FROM orders WHERE order_id = $1 FOR UPDATE";
        assert_eq!(statements(&[locked, unconditional], Some("BEGIN")), none);
        assert_eq!(statements(&[sql!("insert_order"), unconditional], Some("BEGIN")), none);
    }
    for conditional in [
        sql!("pay"),
        sql!("close"),
        sql!("begin_paying"),
        sql!("finish_paying"),
        sql!("give_up_paying"),
        sql!("pay_even_closed"),
        sql!("put_stock_back"),
        sql!("resolve_reconciliation"),
        sql!("upsert_order"),
        sql!("insert_order_unless_there"),
    ] {
        assert_eq!(statements(&[sql!("order_by_id_of_user"), conditional], None), none);
    }
}

#[test]
fn a_row_lock_is_outside_only_where_the_server_said_so() {
    let mut drill = watched(1);
    let mut hand = Hand::new(&mut drill, 0);
    hand.sql(sql!("read_stock_for_update"), Some(Role::StockRead), "SELECT 1");
    assert_eq!(ids(&drill.judge()), ["L9"]);
    drill.history.steps[0].standing = None;
    assert_silent(&drill);
}

#[test]
fn a_renewal_by_name_is_told_from_the_command_that_ends_a_lock() {
    let mut drill = served_by(Shop { setnx: true, ..Shop::default() }, 1);
    let again = drill.history.steps[2].clone();
    assert_eq!(&*again.verb, "PEXPIRE");
    let later = |time: dupeproof::history::RunTime| dupeproof::history::RunTime(time.0 + 350);
    drill.history.steps.push(dupeproof::history::Step {
        asked: later(again.asked),
        forwarded: again.forwarded.map(later),
        answered: again.answered.map(later),
        ..again
    });
    assert_eq!(ids(&drill.judge()), ["L4", "L6"]);
}

#[test]
fn a_lock_that_is_taken_twice_with_an_end_of_its_own_each_is_renewed_by_neither() {
    let mut drill = watched(1);
    let mut hand = Hand::new(&mut drill, 0);
    for _ in 0..2 {
        hand.on_lock("SETNX", "", Role::Lock, "1").token = Some(7);
        hand.on_lock("PEXPIRE", "", Role::Renew, "1").lease_ms = Some(3_000);
        let unlock = hand.on_lock("EVALSHA", "unlock", Role::Unlock, "1");
        (unlock.token, unlock.compares) = (Some(7), true);
    }
    only(&drill.judge(), "L4");
}
