//! What the holder of a lock has in hand, from the wait for it to its release.
//!
//! The wait is bounded and random, so that waiters neither hang nor ask in step. While it is held
//! the lease is renewed, and asked before each side effect whether it still holds. Its release is
//! tried again with the same token where the reply was lost: 1 or 0, both are fine.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{
    Bid, Taken,
    renewal::{Renewal, Validity},
};
use crate::shop::{
    defects::{
        Defect, d12_lock_wait_unbounded, d16_unlock_retry_blind, d20_fence_from_volatile_redis,
    },
    error::ShopError,
    intent::Intent,
    metrics::Unlock,
    speak,
    state::Shop,
    stock,
    transaction::OrderConnection,
};

/// The reply to an unlock can be lost.
const UNLOCK_TRIES: u32 = 2;

#[derive(Debug)]
pub struct Lease {
    bid: Bid,
    /// Strictly greater than that of every earlier holder; `None` where writes aren't fenced.
    pub fence: Option<i64>,
    /// `None` for a lock that doesn't end by itself.
    validity: Option<Validity>,
    renewal: Option<Renewal>,
    granted: Instant,
    is_held: bool,
}

/// `None` if it couldn't be had within the lock wait, which is no failure. `known_fence` is the
/// highest that the resource is known to have accepted, if it was looked at.
pub async fn acquire(
    shop: &Shop,
    intent: &Intent,
    known_fence: Option<i64>,
    place: &mut Option<OrderConnection>,
) -> Result<Option<Lease>, ShopError> {
    let mut bid = Bid::of(shop, intent);
    if let Some(fenced) = &mut bid.fenced {
        fenced.seed = if shop.has(Defect::FenceFromVolatileRedis) {
            d20_fence_from_volatile_redis::seed()
        } else {
            known_fence
        };
    }
    let began = Instant::now();
    let patience = if shop.has(Defect::LockWaitUnbounded) {
        d12_lock_wait_unbounded::PATIENCE
    } else {
        shop.settings.lock_wait
    };
    let deadline = began + patience;
    loop {
        let validity = Validity::for_a_term(bid.life);
        let taken = match shop.strategies.lock.take(shop, &bid, place).await {
            Ok(taken) => taken,
            Err(error) => {
                // Without a reply it may have been granted: the token tells.
                release_in_doubt(shop, &bid, place).await;
                return Err(error);
            }
        };
        match taken {
            Taken::Granted(fence) => {
                shop.metrics.note_grant(began.elapsed());
                return Ok(Some(Lease::held(shop, bid, fence, validity)));
            }
            Taken::SeedMissing => {
                if let Some(fenced) = &mut bid.fenced {
                    fenced.seed = Some(stock::last_fence(shop, place, fenced.product_id).await?);
                }
                continue;
            }
            Taken::Busy => {}
        }
        let pause = jittered(shop.settings.lock_poll);
        if Instant::now() + pause > deadline {
            shop.metrics.note_refused_lock(began.elapsed());
            return Ok(None);
        }
        sleep(pause).await;
    }
}

impl Lease {
    /// Where Redis can't be reached and the database is to arbitrate.
    pub fn without_lock(shop: &Shop, intent: &Intent) -> Self {
        Self {
            bid: Bid::of(shop, intent),
            fence: None,
            validity: None,
            renewal: None,
            granted: Instant::now(),
            is_held: false,
        }
    }

    fn held(shop: &Shop, bid: Bid, fence: Option<i64>, validity: Validity) -> Self {
        let script = shop.strategies.lock.renewal();
        let start = |script| Renewal::start(shop, script, bid.clone(), validity.clone());
        Self {
            renewal: script.map(start),
            validity: script.map(|_| validity),
            bid,
            fence,
            granted: Instant::now(),
            is_held: true,
        }
    }

    /// To be asked immediately before each side effect.
    pub fn must_hold(&self) -> Result<(), ShopError> {
        match &self.validity {
            Some(validity) if validity.is_over() => Err(ShopError::LeaseLost),
            _ => Ok(()),
        }
    }

    /// Takes the lease once more, where it is one that its holder may enter again.
    pub async fn enter_again(&self, shop: &Shop) -> Result<(), ShopError> {
        match shop.strategies.lock.take(shop, &self.bid, &mut None).await? {
            Taken::Granted(_) => Ok(()),
            Taken::Busy | Taken::SeedMissing => Err(ShopError::LeaseLost),
        }
    }

    pub async fn leave(&self, shop: &Shop) -> Result<(), ShopError> {
        let left = shop.strategies.lock.release(shop, &self.bid, &mut None).await?;
        if left { Ok(()) } else { Err(ShopError::LeaseLost) }
    }

    /// Once. A failure is only told: the lease ends by itself, and the order's fate is decided
    /// already.
    pub async fn release(&mut self, shop: &Shop, place: &mut Option<OrderConnection>) {
        if !std::mem::take(&mut self.is_held) {
            return;
        }
        self.renewal = None;
        let left = self.validity.as_ref().map(Validity::left);
        shop.metrics.note_hold(self.granted.elapsed(), left);
        for tries in 1..=UNLOCK_TRIES {
            let released = if tries > 1 && shop.has(Defect::UnlockRetryBlind) {
                d16_unlock_retry_blind::unlock_again(shop, &self.bid).await
            } else {
                shop.strategies.lock.release(shop, &self.bid, place).await
            };
            shop.metrics.note_unlock(Unlock::of(&released));
            match released {
                Ok(_) => return,
                Err(_) if shop.has(Defect::UnlockErrorSwallowed) => return,
                Err(error) => speak::problem(shop.settings.instance, &self.bid.key, &error),
            }
        }
    }
}

async fn release_in_doubt(shop: &Shop, bid: &Bid, place: &mut Option<OrderConnection>) {
    if let Err(error) = shop.strategies.lock.release(shop, bid, place).await {
        speak::problem(shop.settings.instance, &bid.key, &error);
    }
}

/// Half to one and a half times the pause, so that waiters don't ask in step.
fn jittered(pause: Duration) -> Duration {
    pause.mul_f64(rand::random_range(0.5..1.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiters_do_not_ask_in_step() {
        let pause = Duration::from_millis(10);
        let pauses: Vec<_> = (0..100).map(|_| jittered(pause)).collect();
        assert!(pauses.iter().all(|one| (pause / 2..pause * 3 / 2).contains(one)));
        assert!(pauses.iter().any(|one| *one != pauses[0]));
    }
}
