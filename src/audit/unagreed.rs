//! Answers that no clause of the contract knows.
//!
//! A complete reply below 500 that the contract can't read is an answer of the service's own making;
//! a 5xx may be anything. 408 says that the request didn't come in time, and a held last byte is our
//! own doing. Whether the profile leads to the service at all, an acknowledgement of the same request
//! shows: without one nothing is claimed.

use std::collections::HashSet;

use crate::history::{Attempt, Outcome};

use super::bench::Bench;

const REQUEST_TIMEOUT: u16 = 408;

/// Whether an attempt got such an answer.
pub(super) fn is_outside(attempt: &Attempt) -> bool {
    attempt.outcome == Outcome::Unknown
        && attempt.status.is_some_and(|status| {
            status < 500 && status != REQUEST_TIMEOUT && !(200..300).contains(&status)
        })
}

/// Names of the requests that were acknowledged at least once under a good key.
pub(super) fn vouched<'a>(bench: &Bench<'a>) -> HashSet<&'a str> {
    let history = bench.case.history;
    let told = history.attempts.iter().filter(|it| it.outcome == Outcome::Acknowledged);
    let intents = told.map(|it| history.intent(it.intent)).filter(|it| it.key_form.is_good());
    intents.map(|intent| intent.request.as_str()).collect()
}
