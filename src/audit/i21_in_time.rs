//! I21: every attempt gets an answer within the longest wait, and a pending one its hint.
//!
//! Seen from the client: from the release to the end of the reply. What the client's own time-out cut
//! off before the longest wait was over says nothing, nor does a crowd that waited as a whole. Attempts near the end of an instance or a fault are exempt
//! (S05).

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::codes::{I21, Severity};
use crate::history::{Attempt, Outcome, PhaseId, Sent, Waiting};
use crate::profile::Hint;

use super::bench::Bench;
use super::ruling::Ruling;
use super::words::{span, thousands, times};
use super::{Evidence, Finding, Witness, answer};

/// Attempts beyond which a phase is a crowd.
const CROWD: usize = 200;
/// A wait is long from this part of the limit on.
const LONG: u32 = 4;
/// Waiting is the rule where one attempt in so many waited long.
const MANY: usize = 20;

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    // The end of an instance would be an excuse, and may not have been recorded.
    if !bench.knows_every_attempt() {
        return Ruling::not_known(&I21);
    }
    let limit = bench.contract().longest_wait;
    let hint = bench.contract().hint;
    let (mut late, mut mute, mut slowest) = (Vec::new(), Vec::new(), None);
    let all = bench.case.history.attempts.iter();
    for attempt in all.filter(|it| it.outcome.was_sent() && !bench.may_be_delayed(it)) {
        let waited = waited(attempt).filter(|_| attempt.sent == Sent::Whole);
        slowest = slowest.max(waited);
        if waited.is_some_and(|waited| waited > limit) {
            late.push(attempt);
        }
        let has_no_hint = attempt.waiting.is_some_and(|waiting| !suffices(waiting, hint));
        if attempt.outcome == Outcome::Pending && has_no_hint {
            mute.push(attempt);
        }
    }
    let all_late = late.len();
    let crowded = if late.is_empty() { HashSet::new() } else { crowded(bench, limit) };
    late.retain(|attempt| !crowded.contains(&bench.case.history.intent(attempt.intent).phase));
    let detail = format!(
        "slowest {}, {} without a hint",
        slowest.map_or_else(|| "-".to_owned(), span),
        thousands(mute.len() as u64),
    );
    let findings = waits(bench, &late).into_iter().chain(hints(bench, &mute, hint));
    let in_a_crowd = all_late > late.len();
    Ruling::of(&I21, detail, findings.collect())
        .unless_none(usize::from(!in_a_crowd), "late answers, in a crowd that waited as a whole")
}

/// Phases in which waiting was the rule: a crowd that the machine couldn't serve in time. Whose fault a
/// late answer in it is, the service's or the machine's that both share, nobody can tell.
fn crowded(bench: &Bench<'_>, limit: Duration) -> HashSet<PhaseId> {
    let mut waits: HashMap<PhaseId, (usize, usize)> = HashMap::new();
    for attempt in &bench.case.history.attempts {
        let Some(waited) = waited(attempt) else { continue };
        let phase = bench.case.history.intent(attempt.intent).phase;
        let (all, long) = waits.entry(phase).or_default();
        *all += 1;
        *long += usize::from(waited > limit / LONG);
    }
    let is_crowded = |&(all, long): &(usize, usize)| all > CROWD && long * MANY > all;
    waits.iter().filter(|(_, waits)| is_crowded(waits)).map(|(phase, _)| *phase).collect()
}

fn waited(attempt: &Attempt) -> Option<Duration> {
    Some(attempt.completed?.since(attempt.released?))
}

const fn suffices(waiting: Waiting, hint: Hint) -> bool {
    match hint {
        Hint::None => true,
        Hint::RetryAfter => waiting.retry_after,
        Hint::Location => waiting.location,
        Hint::Either => waiting.retry_after || waiting.location,
    }
}

fn evidence(bench: &Bench<'_>, attempts: &[&Attempt]) -> Evidence {
    let mut evidence = Evidence::of(&["user", "key", "sent at", "waited", "answer"]);
    for attempt in attempts {
        let intent = bench.case.history.intent(attempt.intent);
        evidence.rows.push(vec![
            intent.user.to_string(),
            intent.key.to_string(),
            attempt.first_byte.unwrap_or_default().to_string(),
            waited(attempt).map_or_else(|| "-".to_owned(), span),
            answer(attempt),
        ]);
    }
    evidence
}

fn witness(bench: &Bench<'_>, attempt: &Attempt, what: &str) -> Witness {
    let intent = bench.case.history.intent(attempt.intent);
    let name = if intent.key.is_empty() { &intent.user } else { &intent.key };
    Witness {
        heading: format!("{what} {name}"),
        attempts: vec![attempt.id],
        orders: Vec::new(),
        product: Some(intent.product),
        ..Witness::default()
    }
}

fn waits(bench: &Bench<'_>, late: &[&Attempt]) -> Option<Finding> {
    let slowest = late.iter().max_by_key(|it| (waited(it), std::cmp::Reverse(it.id)))?;
    let count = late.len() as u64;
    let limit = span(bench.contract().longest_wait);
    let took = waited(slowest).map_or_else(String::new, span);
    Some(Finding {
        code: &I21,
        severity: Severity::Contract,
        title: format!("a caller waited longer than {limit}{}", times(count)),
        count,
        evidence: evidence(bench, late),
        witness: witness(bench, slowest, "how long it took for"),
        therefore: vec![format!(
            "the wait has no bound that the contract knows, because {} waited {took} ({}), and the \
             contract allows {limit}; no instance had ended",
            bench.index.name_of(slowest),
            answer(slowest)
        )],
        help: "bound every wait, for a lock as for the first request, and answer `in progress` when it \
               runs out."
            .to_owned(),
    })
}

fn hints(bench: &Bench<'_>, mute: &[&Attempt], hint: Hint) -> Option<Finding> {
    let first = mute.iter().min_by_key(|it| (it.first_byte, it.id))?;
    let count = mute.len() as u64;
    let promised = match hint {
        Hint::None => "a hint",
        Hint::RetryAfter => "Retry-After",
        Hint::Location => "Location",
        Hint::Either => "Retry-After or Location",
    };
    Some(Finding {
        code: &I21,
        severity: Severity::Contract,
        title: format!("`in progress` without {promised}{}", times(count)),
        count,
        evidence: evidence(bench, mute),
        witness: witness(bench, first, "what was said to"),
        therefore: vec![format!(
            "the caller can't know when to come back, because {} got {} without {promised}, which the \
             contract promises",
            bench.index.name_of(first),
            answer(first)
        )],
        help: format!("set {promised} on every answer that says `in progress`."),
    })
}
