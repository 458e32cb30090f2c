//! D02: the lock is removed by its name alone.
//!
//! Looks harmless, since whoever unlocks has locked before. But a lease that ran out may be
//! another's by now, and that one is removed: a third enters beside it.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::{
    error::ShopError,
    lock::{Bid, failed},
    state::Shop,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::UnlockPlainDel,
    id: "D02",
    switch: "unlock-plain-del",
    does: "The lock is released by DEL, whoever holds it by now.",
    partners: &[Partner::Defect(Defect::RmwStock)],
    needs: &[Need::Lease],
    finds: "an unlock that is held until the lease is another's",
};

/// True if there was anything to remove.
pub async fn unlock(shop: &Shop, bid: &Bid) -> Result<bool, ShopError> {
    let removed: i64 = redis::cmd("DEL")
        .arg(&bid.key)
        .query_async(&mut shop.redis.clone())
        .await
        .map_err(failed("releasing the lease"))?;
    Ok(removed == 1)
}
