//! Redis can't be asked: the database arbitrates, or the order is refused.
//!
//! Arbitrating goes without record, lease and fence, and loses nothing by it: the unique index says
//! which of two duplicates is first, the row count whether there is stock. The claim may have been
//! made although its reply was lost, so the record is settled before the answer all the same: where
//! Redis was merely slow, a duplicate that comes after the answer must find it.

use super::{Outcome, settling::Settling, under_lease};
use crate::shop::{
    error::ShopError, intent::Intent, record::Record, settings::RedisDown, state::Shop,
};

pub async fn place(shop: &Shop, intent: &Intent, record: &Record) -> Result<Outcome, ShopError> {
    match shop.settings.redis_down {
        RedisDown::Arbitrate => arbitrate(shop, intent, record).await,
        RedisDown::Reject => {
            let refused = Ok(Outcome::Unavailable);
            Settling::of(shop, intent, &refused).carry_out(shop, record).await;
            refused
        }
    }
}

/// The database decides, also over a record that nobody can read.
pub async fn arbitrate(
    shop: &Shop,
    intent: &Intent,
    record: &Record,
) -> Result<Outcome, ShopError> {
    let placed = under_lease::place_without_lock(shop, intent).await;
    Settling::of(shop, intent, &placed).carry_out(shop, record).await;
    placed
}
