//! D56: a duplicate waits until the first attempt is done.
//!
//! Kind to the client, who gets the order and not a "come back later". But the wait is as long as the
//! first attempt takes, its connection is held all the while, and so is that of each further retry.

use tokio::time::sleep;

use super::{Defect, DefectInfo, Need};
use crate::shop::{
    error::ShopError,
    intent::Intent,
    record::{Claim, Record},
    state::Shop,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::WaitsForFirst,
    id: "D56",
    switch: "waits-for-first",
    does: "A duplicate asks the record again and again until it isn't in progress any more.",
    partners: &[],
    needs: &[Need::Record],
    finds: "burst.same-key, the first COMMIT held past the longest wait",
};

pub async fn claim(shop: &Shop, record: &Record, intent: &Intent) -> Result<Claim, ShopError> {
    loop {
        match record.claim(shop, intent).await? {
            Claim::InProgress(_) | Claim::Overdue(_) => sleep(shop.settings.lock_poll).await,
            claim => return Ok(claim),
        }
    }
}
