//! The distributed lock: who may enter now. It lives for seconds and then ends by itself.
//!
//! Taken in one command, `SET key token NX PX ttl`, so that a process that dies right after it
//! leaves a key that expires; removed by comparing and deleting in one script, so that nobody
//! removes a later holder's lease. It may end while its holder is slow. That is allowed: the
//! unique index and the conditional stock update have the last word, and the lease only keeps
//! most duplicates from getting that far.

use std::{sync::LazyLock, time::Duration};

use redis::{Script, aio::ConnectionManager};
use tokio::time::{Instant, sleep};

use super::{
    duration::as_millis,
    error::ShopError,
    intent::Intent,
    settings::{LockPer, Settings},
    speak,
    state::Shop,
    token::Token,
};

static UNLOCK: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("lua/unlock.lua")));

/// The reply to an unlock can be lost. Asking again with the same token is safe: 1 or 0.
const UNLOCK_TRIES: u32 = 2;

pub struct Lease {
    redis: ConnectionManager,
    key: String,
    token: Token,
    instance: u32,
    is_held: bool,
}

pub async fn load_script(redis: &mut ConnectionManager) -> Result<(), ShopError> {
    UNLOCK
        .load_async(redis)
        .await
        .map(drop)
        .map_err(|source| ShopError::Redis { doing: "loading the unlock script", source })
}

/// `None` if it couldn't be had within the lock wait, which is no failure.
pub async fn acquire(shop: &Shop, intent: &Intent) -> Result<Option<Lease>, ShopError> {
    let settings = &shop.settings;
    let mut lease = Lease {
        redis: shop.redis.clone(),
        key: key(settings, intent),
        token: Token::fresh(),
        instance: settings.instance,
        is_held: false,
    };
    let deadline = Instant::now() + settings.lock_wait;
    loop {
        if lease.try_take(settings.lease).await? {
            return Ok(Some(lease));
        }
        let pause = jittered(settings.lock_poll);
        if Instant::now() + pause > deadline {
            return Ok(None);
        }
        sleep(pause).await;
    }
}

impl Lease {
    async fn try_take(&mut self, life: Duration) -> Result<bool, ShopError> {
        let taken: Result<Option<String>, _> = redis::cmd("SET")
            .arg(&self.key)
            .arg(self.token.as_str())
            .arg("NX")
            .arg("PX")
            .arg(as_millis(life))
            .query_async(&mut self.redis)
            .await;
        // Without a reply the lease may have been granted: the token tells at the release.
        self.is_held = !matches!(taken, Ok(None));
        match taken {
            Ok(reply) => Ok(reply.is_some()),
            Err(source) => {
                self.release().await;
                Err(ShopError::Redis { doing: "taking the lease", source })
            }
        }
    }

    /// Unlocks by token, once. A failure is only told: the lease ends by itself, and the order's
    /// fate is decided already.
    pub async fn release(&mut self) {
        if !std::mem::take(&mut self.is_held) {
            return;
        }
        for _ in 0..UNLOCK_TRIES {
            let unlocked: Result<i64, _> =
                UNLOCK.key(&self.key).arg(self.token.as_str()).invoke_async(&mut self.redis).await;
            match unlocked {
                Ok(_) => return,
                Err(source) => {
                    let doing = "releasing the lease";
                    let error = ShopError::Redis { doing, source };
                    speak::problem(self.instance, &self.key, &error);
                }
            }
        }
    }
}

/// The key names the contended resource, never the whole endpoint.
fn key(settings: &Settings, intent: &Intent) -> String {
    match settings.lock_per {
        LockPer::Product => format!("lock:stock:{}", intent.wish.product_id),
        LockPer::User => format!("lock:order:create:{}", intent.user),
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
    fn the_pause_stays_within_half_of_what_was_asked() {
        for _ in 0..100 {
            let pause = jittered(Duration::from_millis(10));
            assert!(pause >= Duration::from_millis(5), "{pause:?}");
            assert!(pause <= Duration::from_millis(15), "{pause:?}");
        }
    }
}
