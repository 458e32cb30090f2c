//! The distributed lock: who may enter now, in the three ways in which it can be had.
//!
//! | file | holds |
//! |---|---|
//! | `lease` | what its holder has: a key, a token, a fence, and whether it still holds |
//! | `renewal` | how a lease outlives its first term |
//! | `draw` | a fence drawn in a step of its own, as defects do |
//! | `redis_lease`, `reentrant`, `postgres_advisory`, `none` | one strategy each |
//!
//! A lock lives for seconds and may end while its holder is slow. That is allowed: the unique
//! index and the conditional stock update have the last word, the fence tells a late holder from
//! the present one, and the lock only keeps most duplicates from getting that far.

pub mod draw;
mod lease;
mod none;
mod postgres_advisory;
mod redis_lease;
mod reentrant;
mod renewal;

pub use lease::{Lease, acquire};
pub use redis_lease::{RedisLease, take_alone};
pub use renewal::Validity;

use std::time::Duration;

use redis::{Script, aio::ConnectionManager};

use super::{
    defects::{
        Defect, d05_lock_without_ttl, d06_constant_token, d08_lease_shorter_than_work,
        d10_global_lock_key, d11_lock_on_user_not_stock,
    },
    error::ShopError,
    intent::Intent,
    settings::{LeaseKind, LockBy, LockPer, Settings, Stock},
    state::Shop,
    strategy::Going,
    token::Token,
    transaction::OrderConnection,
};

/// One way to keep others out.
pub trait Lock: Send + Sync {
    /// One try. Where the lock lives in a connection, `place` is it.
    fn take<'a>(
        &'a self,
        shop: &'a Shop,
        bid: &'a Bid,
        place: &'a mut Option<OrderConnection>,
    ) -> Going<'a, Taken>;

    /// False if it wasn't the bidder's any more.
    fn release<'a>(
        &'a self,
        shop: &'a Shop,
        bid: &'a Bid,
        place: &'a mut Option<OrderConnection>,
    ) -> Going<'a, bool>;

    /// What renews it; `None` where it doesn't end by itself.
    fn renewal(&self) -> Option<&'static Script>;

    /// True if it is held by a connection, which must then be had before and kept until after.
    fn lives_in_connection(&self) -> bool {
        false
    }
}

/// Who wants which lock, and for how long.
#[derive(Debug, Clone)]
pub struct Bid {
    pub key: String,
    pub token: Token,
    pub life: Duration,
    /// The resource whose writes are fenced; `None` where the lock isn't the resource's own.
    pub fenced: Option<Fenced>,
}

/// A product, and the highest fence that it is known to have accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fenced {
    pub product_id: i64,
    /// `None` until it was read: only needed where Redis has no counter, or one that is behind.
    pub seed: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// With its fence, where there is one.
    Granted(Option<i64>),
    Busy,
    /// Redis has lost the counter: nothing was taken, and the resource must be asked first.
    SeedMissing,
}

pub fn strategy(settings: &Settings) -> &'static dyn Lock {
    let has = |defect| settings.defects.contains(&defect);
    match (settings.lock, settings.lease_kind) {
        (LockBy::None, _) => &none::None,
        (LockBy::Redis, LeaseKind::Plain) if has(Defect::LockWithoutTtl) => {
            &d05_lock_without_ttl::WithoutTtl
        }
        (LockBy::Redis, LeaseKind::Plain) if has(Defect::LeaseShorterThanWork) => {
            &d08_lease_shorter_than_work::ShortLease
        }
        (LockBy::Redis, LeaseKind::Plain) => &RedisLease,
        (LockBy::Redis, LeaseKind::Reentrant) => &reentrant::Reentrant,
        (LockBy::PostgresAdvisory, _) => &postgres_advisory::PostgresAdvisory,
    }
}

pub async fn load_scripts(redis: &mut ConnectionManager) -> Result<(), ShopError> {
    let leases = redis_lease::scripts().into_iter().chain(reentrant::scripts());
    for script in leases.chain([draw::script()]) {
        script.load_async(redis).await.map_err(failed("loading the scripts of the lease"))?;
    }
    Ok(())
}

impl Bid {
    pub fn of(shop: &Shop, intent: &Intent) -> Self {
        let lock_per = lock_per(shop);
        Self {
            key: key(lock_per, intent),
            token: token(shop),
            life: shop.settings.lease,
            fenced: is_fenced(&shop.settings, lock_per)
                .then_some(Fenced { product_id: intent.wish.product_id, seed: None }),
        }
    }
}

/// Only a lock that every writer of the product must hold can number them; and without stock
/// there is nothing that would look at the number.
fn is_fenced(settings: &Settings, lock_per: LockPer) -> bool {
    settings.lock == LockBy::Redis && lock_per != LockPer::User && settings.stock != Stock::None
}

fn lock_per(shop: &Shop) -> LockPer {
    if shop.has(Defect::GlobalLockKey) {
        d10_global_lock_key::lock_per()
    } else if shop.has(Defect::LockOnUserNotStock) {
        d11_lock_on_user_not_stock::lock_per()
    } else {
        shop.settings.lock_per
    }
}

fn token(shop: &Shop) -> Token {
    if shop.has(Defect::ConstantToken) { d06_constant_token::token() } else { Token::fresh() }
}

/// The key names the contended resource, never the whole endpoint, unless that is asked for.
fn key(lock_per: LockPer, intent: &Intent) -> String {
    match lock_per {
        LockPer::Product => format!("lock:stock:{}", intent.wish.product_id),
        LockPer::User => format!("lock:order:create:{}", intent.user),
        LockPer::Global => "lock:orders".to_owned(),
    }
}

impl Fenced {
    pub fn counter(&self) -> String {
        format!("fence:stock:{}", self.product_id)
    }
}

pub fn failed(doing: &'static str) -> impl Fn(redis::RedisError) -> ShopError {
    move |source| ShopError::Redis { doing, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shop::settings::tests::settings;

    #[test]
    fn only_a_lock_that_all_writers_of_the_product_share_is_fenced() {
        let is_fenced = |flags| {
            let settings = settings(flags);
            is_fenced(&settings, settings.lock_per)
        };
        assert!(is_fenced("shop"));
        assert!(is_fenced("shop --lock-per global"));
        assert!(!is_fenced("shop --lock-per user"));
        assert!(!is_fenced("shop --stock none"));
        assert!(!is_fenced("shop --lock postgres-advisory"));
    }
}
