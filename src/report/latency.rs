//! Latency percentiles by class of outcome.
//!
//! Time-outs stay in: an attempt that was given up counts with the time it was waited for, or the
//! slowest requests would be the ones left out.

use hdrhistogram::Histogram;

use super::result::LatencyResult;
use crate::history::{Attempt, Cause, Outcome};

/// The classes in the order of the table; `None` is all of them.
const CLASSES: [(&str, Option<Outcome>); 6] = [
    ("all", None),
    ("acknowledged", Some(Outcome::Acknowledged)),
    ("pending", Some(Outcome::Pending)),
    ("parked", Some(Outcome::Parked)),
    ("refused", Some(Outcome::Refused)),
    ("unknown", Some(Outcome::Unknown)),
];

/// An hour: longer than any client waits.
const LONGEST_US: u64 = 3_600_000_000;

/// One row for each class that has an attempt.
pub(super) fn latencies<'a>(
    attempts: &(impl IntoIterator<Item = &'a Attempt> + Clone),
) -> Vec<LatencyResult> {
    CLASSES.iter().filter_map(|&(name, class)| latency(attempts.clone(), name, class)).collect()
}

fn latency<'a>(
    attempts: impl IntoIterator<Item = &'a Attempt>,
    name: &str,
    class: Option<Outcome>,
) -> Option<LatencyResult> {
    let mut histogram =
        Histogram::<u64>::new_with_bounds(1, LONGEST_US, 3).expect("a valid range and precision");
    attempts
        .into_iter()
        .filter(|attempt| matches!(attempt.cause, Cause::Burst | Cause::Steady))
        .filter(|attempt| class.is_none_or(|class| attempt.outcome == class))
        .filter_map(Attempt::latency)
        .for_each(|latency| histogram.saturating_record(latency.as_micros() as u64));
    let at = |quantile| histogram.value_at_quantile(quantile);
    (!histogram.is_empty()).then(|| LatencyResult {
        outcome: name.to_owned(),
        count: histogram.len(),
        p50_us: at(0.50),
        p95_us: at(0.95),
        p99_us: at(0.99),
        p999_us: at(0.999),
        max_us: histogram.max(),
    })
}
