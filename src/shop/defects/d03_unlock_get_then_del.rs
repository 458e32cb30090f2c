//! D03: whose the lock is, is asked first, and then it is removed by its name.
//!
//! Looks careful, since the token is compared. But the lease may end between the answer and the DEL,
//! and what is removed then is the next holder's.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::{
    error::ShopError,
    lock::{Bid, failed},
    state::Shop,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::UnlockGetThenDel,
    id: "D03",
    switch: "unlock-get-then-del",
    does: "The lock is released by GET, a comparison in the shop, and then DEL.",
    partners: &[Partner::Defect(Defect::RmwStock)],
    needs: &[Need::Lease],
    finds: "an unlock that is held after its GET until the lease is another's",
};

/// True if it seemed to be the bidder's.
pub async fn unlock(shop: &Shop, bid: &Bid) -> Result<bool, ShopError> {
    let failed = failed("releasing the lease");
    let mut redis = shop.redis.clone();
    let holder: Option<String> =
        redis::cmd("GET").arg(&bid.key).query_async(&mut redis).await.map_err(&failed)?;
    if holder.as_deref() != Some(bid.token.as_str()) {
        return Ok(false);
    }
    redis::cmd("DEL").arg(&bid.key).query_async::<()>(&mut redis).await.map_err(&failed)?;
    Ok(true)
}
