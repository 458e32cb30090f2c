//! What came back for an attempt, in words.

use crate::history::{Attempt, Outcome};

use super::words::span;

/// `201, order 1417`, `202, in progress`, `409, refused as mismatch`, `no answer: timeout`.
pub fn answer(attempt: &Attempt) -> String {
    let status = attempt.status.map(|status| status.to_string());
    let with = |what: String| match &status {
        Some(status) => format!("{status}, {what}"),
        None => what,
    };
    match attempt.outcome {
        Outcome::NotSent => format!("not sent: {}", failure(attempt)),
        Outcome::Acknowledged => {
            with(format!("order {}", attempt.order.as_deref().unwrap_or("without an id")))
        }
        Outcome::Pending => with("in progress".to_owned()),
        Outcome::Parked => with("parked for reconciliation".to_owned()),
        Outcome::Refused => with(match attempt.refusal.as_deref() {
            Some(why) => format!("refused as {why}"),
            None => "refused".to_owned(),
        }),
        Outcome::Unknown => match status {
            Some(status) => format!("{status}, outcome unknown"),
            None => format!("no answer: {}", failure(attempt)),
        },
    }
}

/// The same with the time it took: `201, order 1417, after 12.3 ms`.
pub fn answer_and_time(attempt: &Attempt) -> String {
    match attempt.latency() {
        Some(latency) => format!("{}, after {}", answer(attempt), span(latency)),
        None => answer(attempt),
    }
}

fn failure(attempt: &Attempt) -> &str {
    attempt.failure.as_deref().unwrap_or("the reason was not recorded")
}
