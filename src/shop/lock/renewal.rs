//! How a lease outlives its first term: renewed every third of it, by token, until it is released.
//!
//! What the holder knows is a moment until which the lease is certainly its own: a term after the
//! last grant or renewal was SENT, since the term began no earlier. A renewal that Redis refuses ends
//! it at once. One that fails leaves the moment where it is, and the next may still come in time.
//! The holder asks before each side effect; a pause between the question and the effect is what
//! the fence is for.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use redis::{RedisResult, Script, aio::ConnectionManager};
use tokio::{task::JoinHandle, time::Instant};

use super::Bid;
use crate::shop::{
    defects::{Defect, d07_renew_without_token, d09_renew_failure_ignored},
    duration::as_millis,
    state::Shop,
};

/// Renewals within one term.
const PER_TERM: u32 = 3;

/// Until when the lease is certainly held, shared by its holder and its renewal.
#[derive(Debug, Clone)]
pub struct Validity {
    began: Instant,
    /// Nanoseconds after `began`.
    until: Arc<AtomicU64>,
}

/// The task that renews; it ends with this.
#[derive(Debug)]
pub struct Renewal(JoinHandle<()>);

impl Validity {
    /// For one term from now on, to be called before the lease is asked for.
    pub fn for_a_term(life: Duration) -> Self {
        let validity = Self { began: Instant::now(), until: Arc::default() };
        validity.extend(validity.began, life);
        validity
    }

    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    pub fn left(&self) -> Duration {
        self.left_at(Instant::now())
    }

    fn left_at(&self, now: Instant) -> Duration {
        let until = Duration::from_nanos(self.until.load(Ordering::Acquire));
        until.saturating_sub(now.duration_since(self.began))
    }

    pub fn extend(&self, from: Instant, life: Duration) {
        let until = from.duration_since(self.began) + life;
        self.until.store(u64::try_from(until.as_nanos()).unwrap_or(u64::MAX), Ordering::Release);
    }

    fn end(&self) {
        self.until.store(0, Ordering::Release);
    }
}

impl Renewal {
    pub fn start(shop: &Shop, script: &'static Script, bid: Bid, validity: Validity) -> Self {
        let (defects, metrics) = (shop.defects, shop.metrics.clone());
        let mut redis = shop.redis.clone();
        Self(tokio::spawn(async move {
            loop {
                tokio::time::sleep(bid.life / PER_TERM).await;
                let sent = Instant::now();
                let renewed = if defects.has(Defect::RenewWithoutToken) {
                    d07_renew_without_token::renew(&mut redis, &bid).await
                } else {
                    renew(&mut redis, script, &bid).await
                };
                metrics.note_renewal(renewed.as_ref().ok().copied());
                match renewed {
                    _ if defects.has(Defect::RenewFailureIgnored) => {
                        d09_renew_failure_ignored::go_on(&validity, sent, &bid);
                    }
                    Ok(true) => validity.extend(sent, bid.life),
                    Ok(false) => {
                        validity.end();
                        return;
                    }
                    // The next one may get through before the term is over.
                    Err(_) => {}
                }
            }
        }))
    }
}

/// True if it was still the bidder's.
async fn renew(
    redis: &mut ConnectionManager,
    script: &'static Script,
    bid: &Bid,
) -> RedisResult<bool> {
    script.key(&bid.key).arg(bid.token.as_str()).arg(as_millis(bid.life)).invoke_async(redis).await
}

impl Drop for Renewal {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERM: Duration = Duration::from_secs(3);

    #[test]
    fn a_lease_is_certain_for_one_term_after_it_was_asked_for() {
        let validity = Validity::for_a_term(TERM);
        let after = |time| validity.left_at(validity.began + time);
        assert_eq!(after(Duration::from_millis(2_999)), Duration::from_millis(1));
        assert_eq!(after(TERM), Duration::ZERO);
    }

    #[test]
    fn a_renewal_counts_from_when_it_was_sent_and_a_refusal_ends_it() {
        let validity = Validity::for_a_term(TERM);
        let sent = validity.began + Duration::from_secs(2);
        validity.extend(sent, TERM);
        assert_eq!(validity.left_at(sent + Duration::from_secs(2)), Duration::from_secs(1));
        validity.end();
        assert!(validity.is_over());
    }
}
