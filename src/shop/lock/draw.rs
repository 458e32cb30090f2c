//! The fence drawn in a step of its own, for a lease that wasn't taken by the script that draws it.
//!
//! Only defects take one like that, and each is to be wrong in one way alone: whether the lease is
//! still the caller's is asked in the same step, so a holder that was late draws nothing.

use std::sync::LazyLock;

use redis::Script;

use super::{Bid, Lock, RedisLease, Taken, redis_lease::take_with_fence};
use crate::shop::{error::ShopError, state::Shop};

static DRAW: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("../lua/draw.lua")));

pub fn script() -> &'static Script {
    &DRAW
}

/// What the grant comes to. A lease that can't be numbered yet is given back.
pub async fn fence(shop: &Shop, bid: &Bid) -> Result<Taken, ShopError> {
    if bid.fenced.is_none() {
        return Ok(Taken::Granted(None));
    }
    let drawn = take_with_fence(shop, bid, &DRAW).await?;
    if drawn == Taken::SeedMissing {
        RedisLease.release(shop, bid, &mut None).await?;
    }
    Ok(drawn)
}
