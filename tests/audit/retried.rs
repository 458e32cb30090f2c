//! I22: what PostgreSQL asks to be tried again, and deadlocks.

use dupeproof::audit::{Judgement, Verdict};
use dupeproof::codes::Severity;
use dupeproof::history::{Outcome, Role, StepEnd};

use crate::fixture::*;
use crate::wires::{Shop, served_by};

/// Two requests of a shop; so many of the first one's statements end like this, and it is answered so.
fn ended(times: usize, answer: &str, status: u16) -> Drill {
    let mut drill = served_by(Shop::default(), 2);
    let is_first = |it: &&mut dupeproof::history::Step| it.role == Some(Role::StockWrite);
    let write = drill.history.steps.iter_mut().find(is_first).unwrap();
    (write.end, write.answer) = (StepEnd::Failed, Some(answer.into()));
    let write = write.clone();
    drill.history.steps.extend(std::iter::repeat_n(write, times - 1));
    let first = &mut drill.history.attempts[0];
    first.status = Some(status);
    if status >= 500 {
        (first.outcome, first.order) = (Outcome::Unknown, None);
    }
    drill
}

fn found(judgement: &Judgement) -> Option<(Severity, &str)> {
    let finding = judgement.findings.iter().find(|it| it.code.id == "I22")?;
    Some((finding.severity, &finding.therefore[0]))
}

#[test]
fn a_serialization_failure_that_is_told_and_not_retried_is_found() {
    let judgement = ended(1, "40001", 503).judge();
    let (severity, because) = found(&judgement).unwrap();
    assert_eq!(severity, Severity::Protected);
    assert!(because.contains("was not tried again"), "{because}");
    assert_ne!(judgement.verdict, Verdict::Violated);
}

#[test]
fn one_that_was_retried_or_is_another_error_is_not() {
    for (times, answer, status) in [(1, "40001", 201), (2, "40001", 503), (1, "23505", 500)] {
        let judgement = ended(times, answer, status).judge();
        assert_eq!(found(&judgement), None, "{times} {answer} {status}");
    }
}

#[test]
fn a_deadlock_is_found_whoever_retries() {
    let judgement = ended(2, "40P01", 201).judge();
    assert!(found(&judgement).unwrap().1.contains("waited for each other"));
}
