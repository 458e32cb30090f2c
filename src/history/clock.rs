//! The one clock of a run. It is handed down, never looked up.
//!
//! Run time is monotonic and starts at 0; the wall clock is read only to name the run and to notice
//! that it stepped (gate G8), which would make `created_at` columns incomparable.

use std::fmt;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// Microseconds since the run began.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct RunTime(pub u64);

impl RunTime {
    /// The time from `earlier` to this; zero when `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// This moment plus a span.
    pub const fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.as_micros() as u64))
    }
}

impl fmt::Display for RunTime {
    /// Seconds with milliseconds, as stories show it: `12.047 s`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{:03} s", self.0 / 1_000_000, self.0 / 1_000 % 1_000)
    }
}

/// Tells run time. Cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started: Instant,
    wall_started: jiff::Timestamp,
}

impl Clock {
    /// A clock whose run time is 0 now.
    pub fn start() -> Self {
        Self { started: Instant::now(), wall_started: jiff::Timestamp::now() }
    }

    pub fn now(&self) -> RunTime {
        self.at(Instant::now())
    }

    /// The run time of a moment that was taken with `Instant::now`.
    pub fn at(&self, moment: Instant) -> RunTime {
        RunTime(moment.saturating_duration_since(self.started).as_micros() as u64)
    }

    /// The moment at which the run time was `time`.
    pub fn instant(&self, time: RunTime) -> Instant {
        self.started + Duration::from_micros(time.0)
    }

    /// The wall clock at run time 0.
    pub const fn wall_started(&self) -> jiff::Timestamp {
        self.wall_started
    }

    /// How far the wall clock has moved away from the monotonic one since the run began, in
    /// microseconds; far from 0 means that somebody set the clock.
    pub fn wall_drift_us(&self) -> i64 {
        let wall = jiff::Timestamp::now().as_microsecond() - self.wall_started.as_microsecond();
        wall - self.started.elapsed().as_micros() as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_time_reads_as_seconds() {
        assert_eq!(RunTime(12_047_912).to_string(), "12.047 s");
        assert_eq!(RunTime(999).to_string(), "0.000 s");
    }

    #[test]
    fn a_moment_and_its_run_time_are_the_same() {
        let clock = Clock::start();
        let later = clock.started + Duration::from_millis(1_500);
        assert_eq!(clock.at(later), RunTime(1_500_000));
        assert_eq!(clock.instant(RunTime(1_500_000)), later);
    }
}
