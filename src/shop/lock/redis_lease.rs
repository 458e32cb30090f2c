//! The lock as a lease in Redis: one key, one random token, one term.
//!
//! Taken in one command, `SET key token NX PX ttl`, so that a process that dies right after it
//! leaves a key that expires; removed by comparing and deleting in one script, so that nobody
//! removes a later holder's lease. Where the lease is the product's own, the command stands in a
//! script that draws the fence in the same step: drawn later, a holder that paused in between
//! would come back with the highest number of all.

use std::sync::LazyLock;

use redis::Script;

use super::{Bid, Lock, Taken, failed};
use crate::shop::{
    defects::{
        Defect, d02_unlock_plain_del, d03_unlock_get_then_del, d04_setnx_then_pexpire,
        d19_fence_not_atomic_with_lock,
    },
    duration::as_millis,
    error::ShopError,
    state::Shop,
    strategy::Going,
    transaction::OrderConnection,
};

static GRANT: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("../lua/grant.lua")));
static RENEW: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("../lua/renew.lua")));
static UNLOCK: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("../lua/unlock.lua")));

/// What a grant script answers in place of a fence.
const SEED_MISSING: i64 = -1;

pub struct RedisLease;

pub fn scripts() -> [&'static Script; 3] {
    [&GRANT, &RENEW, &UNLOCK]
}

impl Lock for RedisLease {
    fn take<'a>(
        &'a self,
        shop: &'a Shop,
        bid: &'a Bid,
        _: &'a mut Option<OrderConnection>,
    ) -> Going<'a, Taken> {
        Box::pin(async move {
            if shop.has(Defect::SetnxThenPexpire) {
                d04_setnx_then_pexpire::take(shop, bid).await
            } else if shop.has(Defect::FenceNotAtomicWithLock) {
                d19_fence_not_atomic_with_lock::take(shop, bid).await
            } else if bid.fenced.is_some() {
                take_with_fence(shop, bid, &GRANT).await
            } else {
                take_alone(shop, bid).await
            }
        })
    }

    fn release<'a>(
        &'a self,
        shop: &'a Shop,
        bid: &'a Bid,
        _: &'a mut Option<OrderConnection>,
    ) -> Going<'a, bool> {
        Box::pin(async move {
            if shop.has(Defect::UnlockPlainDel) {
                d02_unlock_plain_del::unlock(shop, bid).await
            } else if shop.has(Defect::UnlockGetThenDel) {
                d03_unlock_get_then_del::unlock(shop, bid).await
            } else {
                unlock(shop, bid, &UNLOCK).await
            }
        })
    }

    fn renewal(&self) -> Option<&'static Script> {
        Some(&RENEW)
    }
}

/// Without a fence.
pub async fn take_alone(shop: &Shop, bid: &Bid) -> Result<Taken, ShopError> {
    let taken: Option<String> = redis::cmd("SET")
        .arg(&bid.key)
        .arg(bid.token.as_str())
        .arg("NX")
        .arg("PX")
        .arg(as_millis(bid.life))
        .query_async(&mut shop.redis.clone())
        .await
        .map_err(failed("taking the lease"))?;
    Ok(if taken.is_some() { Taken::Granted(None) } else { Taken::Busy })
}

/// By a script that answers with the fence, with nothing, or with [`SEED_MISSING`].
pub async fn take_with_fence(
    shop: &Shop,
    bid: &Bid,
    script: &'static Script,
) -> Result<Taken, ShopError> {
    let mut call = script.key(&bid.key);
    if let Some(fenced) = &bid.fenced {
        call.key(fenced.counter());
    }
    let seed = bid.fenced.and_then(|fenced| fenced.seed);
    let fence: Option<i64> = call
        .arg(bid.token.as_str())
        .arg(as_millis(bid.life))
        .arg(seed.map_or_else(String::new, |seed| seed.to_string()))
        .invoke_async(&mut shop.redis.clone())
        .await
        .map_err(failed("taking the lease"))?;
    Ok(match fence {
        None => Taken::Busy,
        Some(SEED_MISSING) => Taken::SeedMissing,
        Some(fence) => Taken::Granted(bid.fenced.map(|_| fence)),
    })
}

/// True if it was still the bidder's.
pub async fn unlock(shop: &Shop, bid: &Bid, script: &'static Script) -> Result<bool, ShopError> {
    let unlocked: i64 = script
        .key(&bid.key)
        .arg(bid.token.as_str())
        .invoke_async(&mut shop.redis.clone())
        .await
        .map_err(failed("releasing the lease"))?;
    Ok(unlocked == 1)
}
