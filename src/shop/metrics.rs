//! What the service tells of itself at `GET /metrics`, in the OpenMetrics text format.
//!
//! Efficiency, not correctness: how long attempts wait for the lock and hold it, how much of the
//! lease was left, what the unlocks came to, how often a defence had to act. The names follow
//! Prometheus: seconds as the unit, `_total` for what only grows.
//! <https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md>

use std::{sync::Arc, time::Duration};

use prometheus_client::{
    encoding::{EncodeLabelSet, EncodeLabelValue, text::encode},
    metrics::{
        counter::Counter,
        family::Family,
        histogram::{Histogram, exponential_buckets},
    },
    registry::{Registry, Unit},
};

pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub struct Metrics {
    registry: Registry,
    attempts: Family<AttemptLabels, Counter>,
    lock_waits: Family<LockLabels, Histogram>,
    lock_holds: Histogram,
    lease_left: Histogram,
    unlocks: Family<UnlockLabels, Counter>,
    renewals: Family<RenewalLabels, Counter>,
    in_progress_age: Histogram,
    pub takeovers: Counter,
    pub parked: Counter,
    pub unique_conflicts: Counter,
    pub fence_refusals: Counter,
    pub leases_lost: Counter,
    pub transaction_retries: Counter,
    pub without_redis: Counter,
}

/// What an attempt to place an order came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
pub enum Came {
    Created,
    Replayed,
    Mismatch,
    InProgress,
    Parked,
    TokenUsed,
    SoldOut,
    UnknownProduct,
    Busy,
    Invalid,
    Failed,
}

/// What an unlock came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
pub enum Unlock {
    /// It was still the holder's.
    Released,
    /// It had ended, and may have been somebody else's.
    NotHeld,
    /// Without a reply the holder doesn't know.
    Unanswered,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AttemptLabels {
    outcome: Came,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LockLabels {
    result: Granting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
enum Granting {
    Granted,
    Refused,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct UnlockLabels {
    result: Unlock,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RenewalLabels {
    result: Renewed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
enum Renewed {
    Ok,
    Lost,
    Unanswered,
}

impl Unlock {
    pub fn of<E>(released: &Result<bool, E>) -> Self {
        match released {
            Ok(true) => Self::Released,
            Ok(false) => Self::NotHeld,
            Err(_) => Self::Unanswered,
        }
    }
}

/// 0.5 ms to 16 s, each bound twice the last.
fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.000_5, 2.0, 16))
}

impl Metrics {
    pub fn new() -> Arc<Self> {
        let mut registry = Registry::with_prefix("shop");
        let lock_waits = Family::new_with_constructor(seconds as fn() -> Histogram);
        let metrics = Self {
            attempts: Family::default(),
            lock_waits,
            lock_holds: seconds(),
            lease_left: seconds(),
            unlocks: Family::default(),
            renewals: Family::default(),
            in_progress_age: seconds(),
            takeovers: Counter::default(),
            parked: Counter::default(),
            unique_conflicts: Counter::default(),
            fence_refusals: Counter::default(),
            leases_lost: Counter::default(),
            transaction_retries: Counter::default(),
            without_redis: Counter::default(),
            registry: Registry::default(),
        };
        metrics.register_in(&mut registry);
        Arc::new(Self { registry, ..metrics })
    }

    fn register_in(&self, registry: &mut Registry) {
        registry.register("attempts", "POST /orders by outcome", self.attempts.clone());
        let mut times = |name, help, histogram: &Histogram| {
            registry.register_with_unit(name, help, Unit::Seconds, histogram.clone());
        };
        times("lock_hold", "From the grant of the lock to its release", &self.lock_holds);
        times("lease_left", "What was left of the lease at its release", &self.lease_left);
        times(
            "in_progress_age",
            "Age of the record in progress that a duplicate met",
            &self.in_progress_age,
        );
        registry.register_with_unit(
            "lock_wait",
            "From the first try to the grant, or to giving up",
            Unit::Seconds,
            self.lock_waits.clone(),
        );
        registry.register("unlocks", "Releases of the lock by result", self.unlocks.clone());
        registry.register("renewals", "Renewals of the lease by result", self.renewals.clone());
        for (name, help, counter) in [
            ("takeovers", "Records taken over from an owner past its lease", &self.takeovers),
            ("parked", "Intents left for reconciliation", &self.parked),
            ("unique_conflicts", "Inserts that met an order", &self.unique_conflicts),
            ("fence_refusals", "Writes refused for an old fence", &self.fence_refusals),
            (
                "leases_lost",
                "Attempts that stopped because their lease was over",
                &self.leases_lost,
            ),
            (
                "transaction_retries",
                "Transactions begun again after 40001 or 40P01",
                &self.transaction_retries,
            ),
            ("without_redis", "Orders that the database decided alone", &self.without_redis),
        ] {
            registry.register(name, help, counter.clone());
        }
    }

    pub fn note_attempt(&self, outcome: Came) {
        self.attempts.get_or_create(&AttemptLabels { outcome }).inc();
    }

    pub fn note_grant(&self, wait: Duration) {
        self.note_lock(Granting::Granted, wait);
    }

    pub fn note_refused_lock(&self, wait: Duration) {
        self.note_lock(Granting::Refused, wait);
    }

    fn note_lock(&self, result: Granting, wait: Duration) {
        self.lock_waits.get_or_create(&LockLabels { result }).observe(wait.as_secs_f64());
    }

    /// `left` is `None` for a lock without a term.
    pub fn note_hold(&self, hold: Duration, left: Option<Duration>) {
        self.lock_holds.observe(hold.as_secs_f64());
        if let Some(left) = left {
            self.lease_left.observe(left.as_secs_f64());
        }
    }

    pub fn note_unlock(&self, result: Unlock) {
        self.unlocks.get_or_create(&UnlockLabels { result }).inc();
    }

    /// `None` if there was no reply.
    pub fn note_renewal(&self, is_ours: Option<bool>) {
        let result = match is_ours {
            Some(true) => Renewed::Ok,
            Some(false) => Renewed::Lost,
            None => Renewed::Unanswered,
        };
        self.renewals.get_or_create(&RenewalLabels { result }).inc();
    }

    pub fn note_in_progress(&self, age: Duration) {
        self.in_progress_age.observe(age.as_secs_f64());
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("a string takes whatever is written");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_told_in_seconds_and_totals() {
        let metrics = Metrics::new();
        metrics.note_attempt(Came::Replayed);
        metrics.note_grant(Duration::from_millis(3));
        metrics.note_hold(Duration::from_millis(8), Some(Duration::from_millis(2_900)));
        metrics.note_unlock(Unlock::NotHeld);
        metrics.fence_refusals.inc();
        let text = metrics.text();
        for line in [
            r#"shop_attempts_total{outcome="Replayed"} 1"#,
            r#"shop_lock_wait_seconds_sum{result="Granted"} 0.003"#,
            "shop_lock_hold_seconds_count 1",
            "shop_lease_left_seconds_sum 2.9",
            r#"shop_unlocks_total{result="NotHeld"} 1"#,
            "shop_fence_refusals_total 1",
            "shop_takeovers_total 0",
            "# EOF",
        ] {
            assert!(text.contains(line), "{line} is missing in\n{text}");
        }
    }
}
