//! D04: the lock is taken by SETNX, and given its end by PEXPIRE.
//!
//! As it was written before SET could do both. Whoever dies between the two leaves a lock that never
//! ends.

use super::{Defect, DefectInfo, Need};
use crate::shop::{
    duration::as_millis,
    error::ShopError,
    lock::{Bid, Taken, draw, failed},
    state::Shop,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::SetnxThenPexpire,
    id: "D04",
    switch: "setnx-then-pexpire",
    does: "The lock is taken by SETNX, and gets its end by a PEXPIRE of its own.",
    partners: &[],
    needs: &[Need::Lease],
    finds: "a kill between SETNX and PEXPIRE",
};

pub async fn take(shop: &Shop, bid: &Bid) -> Result<Taken, ShopError> {
    let failed = failed("taking the lease");
    let mut redis = shop.redis.clone();
    let is_ours: bool = redis::cmd("SETNX")
        .arg(&bid.key)
        .arg(bid.token.as_str())
        .query_async(&mut redis)
        .await
        .map_err(&failed)?;
    if !is_ours {
        return Ok(Taken::Busy);
    }
    redis::cmd("PEXPIRE")
        .arg(&bid.key)
        .arg(as_millis(bid.life))
        .query_async::<()>(&mut redis)
        .await
        .map_err(&failed)?;
    draw::fence(shop, bid).await
}
