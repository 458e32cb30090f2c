//! Which attempt starts when, and which intent it carries: all of it follows from the number.
//!
//! Repeats stand evenly among the first attempts, so that how many there are before any number is a
//! multiplication and not a memory. Which earlier intent a repeat takes is drawn.

use std::time::Duration;

use crate::profile::Rate;

/// Before the first attempt is due: the thread that keeps the pace has to start.
pub(super) const HEAD_START: Duration = Duration::from_millis(2);

/// The schedule of a steady load.
#[derive(Clone, Copy, Debug)]
pub(in crate::load) struct Schedule {
    attempts: u32,
    per_second: u32,
    share: f64,
}

/// What an attempt carries, by the place of the intent in the phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carries {
    New(u32),
    /// One of so many that there have been.
    OneOf(u32),
}

impl Schedule {
    pub fn new(rate: &Rate) -> Self {
        let per_second = rate.per_second.max(1);
        let attempts = (f64::from(per_second) * rate.lasts.as_secs_f64()).round();
        Self { attempts: attempts as u32, per_second, share: rate.duplicate_share.clamp(0.0, 1.0) }
    }

    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// All intents that there will be.
    pub fn intents(&self) -> u32 {
        self.attempts - self.repeats_before(self.attempts)
    }

    /// When an attempt starts, from the beginning.
    pub fn start(&self, attempt: u32) -> Duration {
        let micros = u64::from(attempt) * 1_000_000 / u64::from(self.per_second);
        Duration::from_micros(micros)
    }

    /// How many attempts have started at this time.
    pub fn come(&self, elapsed: Duration) -> u32 {
        let come = elapsed.as_micros() * u128::from(self.per_second) / 1_000_000;
        u32::try_from(come).unwrap_or(u32::MAX).min(self.attempts)
    }

    pub(super) fn carries(&self, attempt: u32) -> Carries {
        let before = self.repeats_before(attempt);
        match self.repeats_before(attempt + 1) - before {
            0 => Carries::New(attempt - before),
            _ => Carries::OneOf(attempt - before),
        }
    }

    /// Repeats among the attempts before this one; the very first attempt is none.
    fn repeats_before(&self, attempt: u32) -> u32 {
        let repeats = (f64::from(attempt) * self.share).floor() as u32;
        repeats.min(attempt.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(share: f64) -> Schedule {
        Schedule::new(&Rate {
            per_second: 300,
            lasts: Duration::from_secs(2),
            duplicate_share: share,
            quantity: 1,
            request: 0,
        })
    }

    #[test]
    fn every_attempt_carries_the_next_intent_or_one_that_was_before() {
        for share in [0.0, 0.1, 0.3, 0.5, 0.999, 1.0] {
            let schedule = schedule(share);
            let mut next = 0;
            for attempt in 0..schedule.attempts() {
                match schedule.carries(attempt) {
                    Carries::New(intent) => {
                        assert_eq!(intent, next);
                        next += 1;
                    }
                    Carries::OneOf(count) => assert!(count == next && count > 0),
                }
            }
            assert_eq!(next, schedule.intents());
            let repeats = f64::from(schedule.attempts() - next);
            assert!((repeats - 600.0 * share).abs() <= 1.0, "{share}: {repeats}");
        }
    }

    #[test]
    fn attempts_start_evenly_and_have_come_when_they_start() {
        let schedule = schedule(0.0);
        assert_eq!(schedule.start(300), Duration::from_secs(1));
        for attempt in 0..schedule.attempts() {
            assert!(schedule.come(schedule.start(attempt) + Duration::from_micros(1)) >= attempt);
        }
        assert_eq!(schedule.come(Duration::from_secs(9)), 600);
    }
}
