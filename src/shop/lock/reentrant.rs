//! The lease as one that its holder may enter again: a hash with token, count and fence.
//!
//! For code whose parts each take the lease that they need, whoever calls them: here the order and
//! the stock within it. An entry and a leave are counted in one script each. A plain lease can't do
//! this: its holder would wait for itself.

use std::sync::LazyLock;

use redis::Script;

use super::{
    Bid, Lock, Taken,
    redis_lease::{take_with_fence, unlock},
};
use crate::shop::{state::Shop, strategy::Going, transaction::OrderConnection};

static ENTER: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("../lua/enter.lua")));
static LEAVE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("../lua/leave.lua")));
static RENEW: LazyLock<Script> =
    LazyLock::new(|| Script::new(include_str!("../lua/renew_entered.lua")));

pub struct Reentrant;

pub fn scripts() -> [&'static Script; 3] {
    [&ENTER, &LEAVE, &RENEW]
}

impl Lock for Reentrant {
    fn take<'a>(
        &'a self,
        shop: &'a Shop,
        bid: &'a Bid,
        _: &'a mut Option<OrderConnection>,
    ) -> Going<'a, Taken> {
        Box::pin(take_with_fence(shop, bid, &ENTER))
    }

    fn release<'a>(
        &'a self,
        shop: &'a Shop,
        bid: &'a Bid,
        _: &'a mut Option<OrderConnection>,
    ) -> Going<'a, bool> {
        Box::pin(unlock(shop, bid, &LEAVE))
    }

    fn renewal(&self) -> Option<&'static Script> {
        Some(&RENEW)
    }
}
