//! I11: what a fault left open becomes definite within `recovery-limit` of its heal.
//!
//! What is asked about after that and still is `in progress`, or an error, has no owner any more: its record
//! outlives the lease, or keeps a failure for good. The resolver asks until the limit; its last question
//! may come one pause of the client's before it, and counts. A target that doesn't answer is no witness,
//! and an intent that nothing had hit is G11's. Before the repair it is no finding: that is what a retry is
//! for. An intent that was parked is definite, if a fault or the end of an instance gave reason for it.

use crate::codes::{I11, Severity};
use crate::history::{Attempt, IntentId, Outcome, RunTime};

use super::bench::Bench;
use super::ruling::Ruling;
use super::words::{share, span, times};
use super::{Evidence, Finding, Witness, answer};

/// An intent that stayed open too long.
pub(super) struct Overdue<'a> {
    /// Its last answer.
    pub last: &'a Attempt,
    healed: RunTime,
}

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let parked = parked(bench);
    if bench.faults.count_hit() == 0 && parked.is_empty() {
        return Ruling::default();
    }
    let overdue = overdue(bench);
    let count = overdue.len() as u64;
    let of = bench.faults.count_hit();
    let detail = format!(
        "{} that a fault hit open past the recovery limit",
        share(count, of, "intent", "intents")
    );
    let findings = open(bench, &overdue).into_iter().chain(without_cause(bench, &parked));
    Ruling::of(&I11, detail, findings.collect())
}

/// Intents that a fault had hit and that were asked about past the recovery limit behind its heal, without
/// a definite answer.
pub(super) fn overdue<'a>(bench: &Bench<'a>) -> Vec<Overdue<'a>> {
    if !bench.knows_every_attempt() {
        return Vec::new();
    }
    let variants = bench.index.keys.iter().flat_map(|key| &key.variants);
    let overdue = variants.filter_map(|variant| {
        let ids = variant.attempts.iter().map(|attempt| attempt.intent);
        let mut ids: Vec<IntentId> = ids.collect();
        ids.dedup();
        if !ids.iter().any(|id| bench.faults.has_hit(*id)) {
            return None;
        }
        let healed = ids.iter().filter_map(|id| bench.faults.healed_of(*id)).max()?;
        let due = healed.plus(bench.faults.limit());
        let pause = bench.case.profile.client.retries.longest_wait;
        let is_late = |attempt: &&&Attempt| {
            is_open(attempt)
                && attempt.first_byte >= Some(healed)
                && attempt.completed.is_some_and(|end| end.plus(pause) >= due)
        };
        let last =
            variant.attempts.iter().filter(is_late).max_by_key(|it| (it.completed, it.id))?;
        let is_settled = |attempt: &&Attempt| {
            attempt.outcome.is_definite() && attempt.first_byte <= last.first_byte
        };
        (!variant.attempts.iter().any(is_settled)).then_some(Overdue { last, healed })
    });
    overdue.collect()
}

/// Whether the target answered, and settled nothing.
fn is_open(attempt: &Attempt) -> bool {
    match attempt.outcome {
        Outcome::Pending => true,
        Outcome::Unknown => attempt.status.is_some() && attempt.failure.is_none(),
        Outcome::NotSent | Outcome::Acknowledged | Outcome::Parked | Outcome::Refused => false,
    }
}

fn open(bench: &Bench<'_>, overdue: &[Overdue<'_>]) -> Option<Finding> {
    let first = overdue.first()?;
    let mut evidence = Evidence::of(&["user", "key", "healed at", "last asked at", "answer"]);
    for it in overdue {
        let intent = bench.case.history.intent(it.last.intent);
        evidence.rows.push(vec![
            intent.user.clone(),
            intent.key.clone(),
            it.healed.to_string(),
            it.last.first_byte.unwrap_or_default().to_string(),
            answer(it.last),
        ]);
    }
    let intent = bench.case.history.intent(first.last.intent);
    let count = overdue.len() as u64;
    let limit = span(bench.faults.limit());
    Some(Finding {
        code: &I11,
        severity: Severity::Contract,
        title: format!("an intent stayed open past the recovery limit{}", times(count)),
        count,
        evidence,
        witness: Witness {
            heading: format!("what became of {}", intent.key),
            attempts: vec![first.last.id],
            product: Some(intent.product),
            ..Witness::default()
        },
        therefore: vec![format!(
            "nobody finishes what was begun, because all was put right at {}, and {}, sent at {}, still got \
             {}; the contract allows {limit}",
            first.healed,
            bench.index.name_of(first.last),
            first.last.first_byte.unwrap_or_default(),
            answer(first.last)
        )],
        help: "give `in progress` a short lease, take over when it is over, and keep no error as the final \
               answer."
            .to_owned(),
    })
}

/// Attempts that were parked although nothing had gone wrong with their intents.
fn parked<'a>(bench: &Bench<'a>) -> Vec<&'a Attempt> {
    let history = bench.case.history;
    let is_excused = !bench.knows_every_attempt()
        || !history.exits.is_empty()
        || bench.case.profile.lab.payments.is_some()
        || bench.case.profile.payments.is_some();
    if is_excused {
        return Vec::new();
    }
    let parked = history.attempts.iter().filter(|it| it.outcome == Outcome::Parked);
    let is_groundless = |attempt: &&Attempt| {
        let (group, _) = bench.index.seat_of(attempt);
        let of_key = bench.index.keys[group].attempts();
        let has_trouble = |it: &&Attempt| it.outcome == Outcome::Unknown;
        !of_key.iter().any(|it| has_trouble(it) || bench.faults.excuses.puts_off(it))
            && !bench.faults.has_hit(attempt.intent)
    };
    parked.filter(is_groundless).collect()
}

fn without_cause(bench: &Bench<'_>, parked: &[&Attempt]) -> Option<Finding> {
    let first = parked.iter().min_by_key(|it| (it.first_byte, it.id))?;
    let mut evidence = Evidence::of(&["user", "key", "sent at", "answer"]);
    for attempt in parked {
        let intent = bench.case.history.intent(attempt.intent);
        evidence.rows.push(vec![
            intent.user.clone(),
            intent.key.clone(),
            attempt.first_byte.unwrap_or_default().to_string(),
            answer(attempt),
        ]);
    }
    let intent = bench.case.history.intent(first.intent);
    Some(Finding {
        code: &I11,
        severity: Severity::Contract,
        title: format!(
            "an intent was parked and nothing had gone wrong{}",
            times(parked.len() as u64)
        ),
        count: parked.len() as u64,
        evidence,
        witness: Witness {
            heading: format!("why {} was parked", intent.key),
            attempts: vec![first.id],
            product: Some(intent.product),
            ..Witness::default()
        },
        therefore: vec![format!(
            "a buyer is sent to the help desk for nothing, because {} got {}, while no fault had hit the \
             intent, no instance had ended, and every other answer of it was clear",
            bench.index.name_of(first),
            answer(first)
        )],
        help:
            "park only what can't be decided: an owner that died, or a payment without an answer."
                .to_owned(),
    })
}
