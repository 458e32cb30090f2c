//! D08: the lease has a term that the work may exceed, and nobody renews it or asks for it.
//!
//! Looks harmless, since an order takes a few milliseconds on the machine where the term was chosen.
//! The first slow COMMIT outlasts it, and the next holder is let in beside the first.

use std::time::Duration;

use redis::Script;

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::{
    lock::{Bid, Lock, RedisLease, Taken},
    state::Shop,
    strategy::Going,
    transaction::OrderConnection,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::LeaseShorterThanWork,
    id: "D08",
    switch: "lease-shorter-than-work",
    does: "The lease lives 20 ms, is never renewed, and its holder never asks whether it is over.",
    partners: &[Partner::Defect(Defect::RmwStock)],
    needs: &[Need::Lease],
    finds: "a COMMIT that is held for longer than the lease; burst.same-key of one product with \
            --work-time 60ms",
};

const TERM: Duration = Duration::from_millis(20);

/// The lease with too short a term.
pub struct ShortLease;

impl Lock for ShortLease {
    fn take<'a>(
        &'a self,
        shop: &'a Shop,
        bid: &'a Bid,
        place: &'a mut Option<OrderConnection>,
    ) -> Going<'a, Taken> {
        Box::pin(async move {
            let short = Bid { life: TERM, ..bid.clone() };
            RedisLease.take(shop, &short, place).await
        })
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
