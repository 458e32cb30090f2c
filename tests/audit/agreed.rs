//! Answers against the contract's words: what no clause knows is found, and what a clause leaves open
//! is left alone.

use dupeproof::audit::Verdict;
use dupeproof::history::{Attempt, KeyForm, Outcome};
use dupeproof::profile::{Answer, MissingKey, OtherParameters};

use crate::fixture::*;

/// An answer that reads as nothing.
fn odd(attempt: &mut Attempt, status: u16) {
    attempt.outcome = Outcome::Unknown;
    (attempt.status, attempt.order, attempt.body) = (Some(status), None, None);
}

/// Three keys, and one more attempt of the second, before or after it was acknowledged.
fn with_odd_answer(begin: u64, status: u16) -> Drill {
    let mut drill = Drill::clean(3, 2);
    odd(drill.add_attempt(1, ms(begin), ms(begin + 2)), status);
    drill.end();
    drill
}

fn passes(drill: &Drill) {
    let judgement = drill.judge();
    assert_eq!(ids(&judgement), Vec::<&str>::new(), "{judgement:#?}");
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
}

#[test]
fn an_answer_that_no_clause_knows_is_found() {
    for begin in [10, 100] {
        for status in [302, 418, 423] {
            let judgement = with_odd_answer(begin, status).judge();
            let finding = only(&judgement, "I25");
            assert_eq!(finding.title, "an answer that the contract doesn't know");
            assert!(finding.therefore[0].contains(&format!("{status}, outcome unknown")));
        }
        passes(&with_odd_answer(begin, 408));
    }
    passes(&with_odd_answer(10, 503));
}

#[test]
fn what_a_silent_clause_may_explain_is_left_alone() {
    let silent = |begin| {
        let mut drill = with_odd_answer(begin, 409);
        drill.profile.contract.in_progress = Answer::default();
        drill.profile.contract.other_parameters = OtherParameters::Unsaid;
        drill
    };
    passes(&silent(10));
    assert_eq!(ids(&silent(100).judge()), ["I25"], "nothing is in progress any more");
    let mut changed = Drill::clean(3, 2);
    changed.add_intent(1, 1, 2);
    odd(changed.add_attempt(3, ms(100), ms(102)), 418);
    changed.profile.contract.other_parameters = OtherParameters::Unsaid;
    changed.end();
    assert_eq!(ids(&changed.judge()), Vec::<&str>::new());
    changed.profile.contract.other_parameters = OtherParameters::OldResult;
    assert_eq!(ids(&changed.judge()), ["I25"]);
}

#[test]
fn nothing_is_unknown_to_a_contract_that_may_be_about_something_else() {
    let mut drill = Drill::clean(3, 2);
    drill.history.attempts.iter_mut().for_each(|attempt| odd(attempt, 405));
    assert_eq!(ids(&drill.judge()), Vec::<&str>::new(), "the path may be wrong");
    let mut cut_off = with_odd_answer(10, 418);
    cut_off.history.sealed = false;
    assert_eq!(ids(&cut_off.judge()), Vec::<&str>::new());
}

#[test]
fn a_success_has_a_status_of_a_first_answer_or_of_a_replay() {
    let mut drill = Drill::clean(3, 2);
    drill.history.attempts.iter_mut().for_each(|attempt| attempt.status = Some(203));
    let judgement = drill.judge();
    assert_eq!(only(&judgement, "I25").count, 6);
    assert!(only(&judgement, "I25").therefore[0].contains("201"));
    drill.profile.contract.replay.statuses = Some(vec![200, 203]);
    passes(&drill);
    drill.profile.contract.replay.statuses = None;
    drill.profile.contract.first.push(203);
    passes(&drill);
    // Two statuses for one intent are I06's alone.
    drill.profile.contract.first.pop();
    drill.history.attempts.iter_mut().for_each(|attempt| attempt.status = Some(201));
    drill.history.attempts[1].status = Some(203);
    only(&drill.judge(), "I06");
}

fn with_bad_key(form: KeyForm) -> Drill {
    let mut drill = Drill::clean(3, 2);
    let id = drill.add_intent(8, 8, 1);
    drill.history.intents[id.0 as usize].key_form = form;
    drill.add_attempt(id.0, ms(100), ms(104));
    drill.end();
    drill
}

#[test]
fn a_bad_key_is_not_answered_with_what_the_contract_does_not_know() {
    for form in [KeyForm::Missing, KeyForm::TooLong] {
        let mut drill = with_bad_key(form);
        odd(drill.history.attempts.last_mut().unwrap(), 418);
        assert_eq!(ids(&drill.judge()), ["I26"]);
        odd(drill.history.attempts.last_mut().unwrap(), 500);
        assert_eq!(ids(&drill.judge()), Vec::<&str>::new());
    }
}

#[test]
fn a_request_without_a_key_is_not_rejected_for_it_where_it_is_executed() {
    let mut drill = with_bad_key(KeyForm::Missing);
    drill.profile.contract.missing_key = MissingKey::Executed;
    refuse(drill.history.attempts.last_mut().unwrap(), 400, "malformed-key");
    assert_eq!(only(&drill.judge(), "I26").title, "1 request was rejected for want of a key");
    drill.history.intents.last_mut().unwrap().key_form = KeyForm::Empty;
    passes(&drill);
    drill.history.intents.last_mut().unwrap().key_form = KeyForm::Missing;
    for (status, why) in [(422, "business"), (429, "shed")] {
        refuse(drill.history.attempts.last_mut().unwrap(), status, why);
        passes(&drill);
    }
}

#[test]
fn a_stored_rejection_is_not_decided_anew() {
    let rejected_at = |time| {
        let mut drill = Drill::clean(3, 2);
        refuse(drill.add_attempt(1, ms(1), ms(time)), 422, "business");
        drill.end();
        drill
    };
    let mut drill = rejected_at(5);
    passes(&drill);
    drill.profile.contract.rejection_is_stored = true;
    assert_eq!(only(&drill.judge(), "I06").title, "a stored rejection was decided anew");
    let mut together = rejected_at(11);
    together.profile.contract.rejection_is_stored = true;
    passes(&together);
}

#[test]
fn one_answer_is_the_first_and_has_no_marker() {
    let mut drill = Drill::clean(3, 2);
    drill.profile.contract.replay_marker = Some("idempotent-replayed".to_owned());
    drill.history.attempts.iter_mut().for_each(|attempt| attempt.replay_marker = Some(true));
    for attempt in [0, 4] {
        drill.history.attempts[attempt].replay_marker = Some(false);
    }
    let judgement = drill.judge();
    assert_eq!(only(&judgement, "R6").title, "a first answer claims to be a replay");
    let mut open = drill.clone();
    forget(open.add_attempt(1, ms(9), ms(12)));
    open.end();
    passes(&open);
    let mut pending = drill.clone();
    put_off(pending.add_attempt(1, ms(9), ms(11)));
    pending.end();
    passes(&pending);
    drill.history.sealed = false;
    assert_eq!(ids(&drill.judge()), Vec::<&str>::new());
}

#[test]
fn a_changed_request_gets_the_old_result_where_that_is_promised() {
    let mut drill = Drill::clean(3, 2);
    drill.profile.contract.other_parameters = OtherParameters::OldResult;
    drill.add_intent(1, 1, 2);
    refuse(drill.add_attempt(3, ms(100), ms(104)), 422, "business");
    drill.end();
    let judgement = drill.judge();
    let finding = only(&judgement, "R3");
    assert!(finding.therefore[0].contains("a changed request"), "{finding:#?}");
    acknowledge(drill.history.attempts.last_mut().unwrap(), 1);
    passes(&drill);
    refuse(drill.history.attempts.last_mut().unwrap(), 422, "business");
    drill.history.attempts.last_mut().unwrap().first_byte = Some(ms(11));
    passes(&drill);
}

#[test]
fn one_answer_for_in_progress_and_mismatch_is_held_against_nobody() {
    let mut drill = Drill::clean(3, 2);
    drill.add_intent(1, 1, 2);
    drill.history.intents[3].product += 1;
    let attempt = drill.add_attempt(3, ms(2_000), ms(2_002));
    put_off(attempt);
    attempt.status = Some(409);
    refuse(drill.add_attempt(3, ms(2_010), ms(2_012)), 409, "mismatch");
    drill.end();
    assert!(ids(&drill.judge()).contains(&"I07"));
    drill.profile.contract.in_progress = Answer { statuses: vec![409], code: None };
    assert_eq!(ids(&drill.judge()), Vec::<&str>::new());
}
