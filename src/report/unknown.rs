//! What the unknown outcomes were: a contract that doesn't fit the target shows here first.

use std::collections::BTreeMap;

use super::result::UnknownAnswer;
use crate::history::{Attempt, History, Outcome};

/// Kinds that are told.
const SHOWN: usize = 3;
/// Characters of a body that are told.
const BODY: usize = 80;

/// The most frequent kinds.
pub(super) fn unknown_answers(history: &History) -> Vec<UnknownAnswer> {
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for attempt in history.attempts.iter().filter(|one| one.outcome == Outcome::Unknown) {
        *kinds.entry(kind(history, attempt)).or_default() += 1;
    }
    let mut kinds: Vec<_> =
        kinds.into_iter().map(|(what, count)| UnknownAnswer { count, what }).collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
    kinds.truncate(SHOWN);
    kinds
}

fn kind(history: &History, attempt: &Attempt) -> String {
    let body = attempt.body.and_then(|body| history.bodies.get(&body));
    let body: String = body.map_or("", |body| body.text.as_str()).chars().take(BODY).collect();
    let body: String = body.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match (attempt.status, &attempt.failure) {
        (Some(status), Some(failure)) => format!("{status} {body} ({failure})"),
        (Some(status), None) => format!("{status} {body}, which the contract doesn't know"),
        (None, Some(failure)) => failure.to_string(),
        (None, None) => "no reply".to_owned(),
    }
}
