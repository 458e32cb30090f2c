//! D19: the lease is taken, and then its fence drawn by a command of its own.
//!
//! Looks harmless, since the number is drawn by a holder. But a holder that pauses between the two may
//! have lost the lease meanwhile, and comes back with the highest number of all.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::{
    error::ShopError,
    lock::{Bid, Taken, failed, take_alone},
    state::Shop,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::FenceNotAtomicWithLock,
    id: "D19",
    switch: "fence-not-atomic-with-lock",
    does: "The lease is taken by SET NX PX, and its fence drawn by an INCR afterwards.",
    partners: &[Partner::Defect(Defect::RmwStock)],
    needs: &[Need::Fence],
    finds: "a holder that pauses between SET and INCR for longer than its lease",
};

/// A counter that is gone or behind is brought to what the shelf has, as it should be.
pub async fn take(shop: &Shop, bid: &Bid) -> Result<Taken, ShopError> {
    let Some(fenced) = bid.fenced else {
        return take_alone(shop, bid).await;
    };
    let failed = failed("drawing the fence");
    let mut redis = shop.redis.clone();
    let counter: Option<i64> =
        redis::cmd("GET").arg(fenced.counter()).query_async(&mut redis).await.map_err(&failed)?;
    if counter.is_none() && fenced.seed.is_none() {
        return Ok(Taken::SeedMissing);
    }
    if take_alone(shop, bid).await? == Taken::Busy {
        return Ok(Taken::Busy);
    }
    if counter < fenced.seed {
        redis::cmd("SET")
            .arg(fenced.counter())
            .arg(fenced.seed)
            .query_async::<()>(&mut redis)
            .await
            .map_err(&failed)?;
    }
    let fence: i64 =
        redis::cmd("INCR").arg(fenced.counter()).query_async(&mut redis).await.map_err(&failed)?;
    Ok(Taken::Granted(Some(fence)))
}
