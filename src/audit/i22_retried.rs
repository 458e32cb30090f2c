//! I22: no deadlocks, and what PostgreSQL asks to be tried again is tried again.
//!
//! A transaction that ends with 40001 or 40P01 is whole once it is repeated, and nobody else can repeat
//! it. Told to the caller as a failure, after a single try, it costs a retry from outside. Only steps that
//! are certainly one attempt's count, and none at which a fault of the drill fired.

use std::collections::HashSet;

use crate::codes::I22;
use crate::history::{Attempt, LinkId, RunTime, StepEnd, Wire};

use super::answer;
use super::bench::Bench;
use super::lint::{Lint, Sight};
use super::ruling::Ruling;
use super::steps::Placed;
use super::words::plural;

const SERIALIZATION: &str = "40001";
const DEADLOCK: &str = "40P01";

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    if !bench.trace.has_every_step_of(Wire::Postgres) {
        return Ruling::default();
    }
    let failed = failed(bench);
    if failed.is_empty() {
        return Ruling::default();
    }
    let deadlocks = failed.iter().filter(|at| at.step.answer.as_deref() == Some(DEADLOCK)).count();
    let mut sights: Vec<Sight<'_>> = Vec::new();
    let attempts = bench.case.history.attempts.iter();
    for attempt in attempts.filter(|it| it.status.is_some_and(|status| status >= 500)) {
        let mut own = failed.iter().filter(|at| at.attempt.is_some_and(|it| it.id == attempt.id));
        if let (Some(at), None) = (own.next(), own.next()) {
            sights.push(told(bench, attempt, at));
        }
    }
    let told = sights.len() as u64;
    if sights.is_empty() {
        sights.extend(failed.iter().filter_map(deadlock));
    }
    let (what, help) = match told {
        0 => (
            "PostgreSQL ended a deadlock",
            "take locks and rows in one order everywhere, such as by ascending product",
        ),
        _ => (
            "a transaction that PostgreSQL asks to be repeated was told as a failure",
            "repeat a transaction that ends with 40001 or 40P01 as a whole, a few times, before anybody is told",
        ),
    };
    let detail = format!(
        "{} and {}, {told} told after one try",
        plural((failed.len() - deadlocks) as u64, "40001", "times 40001"),
        plural(deadlocks as u64, "deadlock", "deadlocks"),
    );
    let lint = Lint { code: &I22, what, help };
    Ruling::of(&I22, detail, lint.finding(bench, &sights).into_iter().collect())
}

/// Statements that PostgreSQL ended in this way by itself.
fn failed<'a>(bench: &Bench<'a>) -> Vec<Placed<'a>> {
    let fired: HashSet<(LinkId, RunTime)> = bench
        .faults
        .firings()
        .filter_map(|(_, shot)| shot.firing.step.as_ref())
        .map(|step| (step.link, step.asked))
        .collect();
    let is_such = |at: &Placed<'_>| {
        at.step.wire == Wire::Postgres
            && at.step.end == StepEnd::Failed
            && matches!(at.step.answer.as_deref(), Some(SERIALIZATION | DEADLOCK))
            && !fired.contains(&(at.step.link, at.step.asked))
    };
    bench.trace.steps.all().filter(is_such).collect()
}

fn told<'a>(bench: &Bench<'a>, attempt: &'a Attempt, at: &Placed<'a>) -> Sight<'a> {
    let because = format!(
        "the caller has to do what the service could have done, because {} was ended with {} at {}, was \
         not tried again, and {} was answered {}",
        at.name(),
        at.step.answer.as_deref().unwrap_or_default(),
        at.step.answered.unwrap_or_default(),
        bench.index.name_of(attempt),
        answer(attempt)
    );
    Sight { attempts: vec![attempt], subject: subject(at), steps: vec![*at], because }
}

fn deadlock<'a>(at: &Placed<'a>) -> Option<Sight<'a>> {
    if at.step.answer.as_deref() != Some(DEADLOCK) {
        return None;
    }
    let because = format!(
        "two transactions waited for each other, because PostgreSQL ended {} with {DEADLOCK} at {}",
        at.name(),
        at.step.answered.unwrap_or_default()
    );
    let attempts = at.attempt.into_iter().collect();
    Some(Sight { attempts, subject: subject(at), steps: vec![*at], because })
}

fn subject(at: &Placed<'_>) -> String {
    at.step.object.as_deref().unwrap_or("a transaction").to_owned()
}
