//! G8: the wall clock didn't step.
//!
//! 250 ms: a time service that slews (at most 500 ppm in the kernel) needs more than eight minutes to
//! move that far, longer than a drill, so more is a step; and a smaller step still leaves rows in the
//! right second of a story. No verdict on data rests on the wall clock, only the place of rows on the
//! time line.

use crate::codes::G8;

use super::bench::Bench;
use super::ruling::Ruling;
use super::words::thousands;

const LIMIT_US: u64 = 250_000;

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let Some(clock) = bench.case.history.clock else {
        return Ruling::missed(&G8, "the clock was not read at the end of the run", "run again");
    };
    let drift = clock.drift_us.unsigned_abs();
    let ms = thousands(drift / 1_000);
    if drift <= LIMIT_US {
        return Ruling::held(&G8, format!("moved by {ms} ms"));
    }
    Ruling::missed(
        &G8,
        format!("the wall clock moved by {ms} ms against the monotonic clock during the run"),
        "let the time service slew instead of step, and run again",
    )
}
