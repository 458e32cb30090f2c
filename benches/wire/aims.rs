//! What a proxy that nobody notices may cost, beside HAProxy in the same run.

use crate::Runs;
use crate::cases::Run;
use crate::figures::median;
use crate::latency::Latencies;

/// Of HAProxy's throughput.
pub const LEAST_THROUGHPUT: f64 = 0.95;
/// Of HAProxy's CPU for an exchange.
pub const MOST_CPU: f64 = 1.10;
/// Beyond what HAProxy adds to the p50, in microseconds.
pub const MOST_BEYOND: f64 = 5.0;
/// Added to the p50 with everything on one CPU, in microseconds.
pub const MOST_PINNED: f64 = 30.0;

impl Runs {
    /// Ours to HAProxy's: the median over the rounds of the ratios within each.
    pub fn ratio(&self, value: fn(&Run) -> f64) -> f64 {
        median(self.rounds.iter().map(|[_, ours, haproxy]| value(ours) / value(haproxy)))
    }

    pub fn median(&self, place: usize, value: fn(&Run) -> f64) -> f64 {
        median(self.rounds.iter().map(|round| value(&round[place])))
    }

    pub fn is_fast_enough(&self) -> bool {
        self.ratio(|run| run.per_second) >= LEAST_THROUGHPUT
    }

    pub fn is_cheap_enough(&self) -> bool {
        self.ratio(Run::cpu) <= MOST_CPU
    }
}

impl Latencies {
    pub fn is_short_enough(&self) -> bool {
        if self.is_pinned {
            return self.added(1, 0.5) <= MOST_PINNED;
        }
        [0.25, 0.5].iter().all(|share| self.added(1, *share) <= self.added(2, *share) + MOST_BEYOND)
    }
}
