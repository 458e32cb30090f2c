//! D05: the lock has no end, so there is none to renew and none to ask for.
//!
//! Looks safe, since nobody is ever overtaken, and every way out of the code unlocks. A killed
//! process takes none of them: its product can't be sold until somebody deletes the key by hand.

use redis::Script;

use super::{Defect, DefectInfo, Need};
use crate::shop::{
    error::ShopError,
    lock::{Bid, Lock, RedisLease, Taken, draw, failed},
    state::Shop,
    strategy::Going,
    transaction::OrderConnection,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::LockWithoutTtl,
    id: "D05",
    switch: "lock-without-ttl",
    does: "The lock is taken by SET NX without PX, so it stays when its holder dies.",
    partners: &[],
    needs: &[Need::Lease],
    finds: "a kill while the lock is held",
};

/// The lease without its term.
pub struct WithoutTtl;

impl Lock for WithoutTtl {
    fn take<'a>(
        &'a self,
        shop: &'a Shop,
        bid: &'a Bid,
        _: &'a mut Option<OrderConnection>,
    ) -> Going<'a, Taken> {
        Box::pin(take(shop, bid))
    }

    fn release<'a>(
        &'a self,
        shop: &'a Shop,
        bid: &'a Bid,
        place: &'a mut Option<OrderConnection>,
    ) -> Going<'a, bool> {
        RedisLease.release(shop, bid, place)
    }

    fn renewal(&self) -> Option<&'static Script> {
        None
    }
}

async fn take(shop: &Shop, bid: &Bid) -> Result<Taken, ShopError> {
    let taken: Option<String> = redis::cmd("SET")
        .arg(&bid.key)
        .arg(bid.token.as_str())
        .arg("NX")
        .query_async(&mut shop.redis.clone())
        .await
        .map_err(failed("taking the lease"))?;
    match taken {
        Some(_) => draw::fence(shop, bid).await,
        None => Ok(Taken::Busy),
    }
}
