//! D16: an unlock whose reply was lost is tried again without the token.
//!
//! Looks harmless, since the first try named it, and this one is only to make sure. But the first may
//! have been carried out, and then the lock is another's.

use super::{Defect, DefectInfo, Need, d02_unlock_plain_del};
use crate::shop::{error::ShopError, lock::Bid, state::Shop};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::UnlockRetryBlind,
    id: "D16",
    switch: "unlock-retry-blind",
    does: "After a lost reply the unlock is tried again as a DEL, whoever holds the lock by now.",
    partners: &[],
    needs: &[Need::Lease],
    finds: "the reply to an unlock dropped, and another one locks before the retry",
};

pub async fn unlock_again(shop: &Shop, bid: &Bid) -> Result<bool, ShopError> {
    d02_unlock_plain_del::unlock(shop, bid).await
}
