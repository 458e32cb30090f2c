//! D50: an overdue record is simply taken.
//!
//! Its owner must be dead by now, so why ask? It may have placed the order before it died, and the
//! order table would tell. And of several duplicates that come at once each one takes the record,
//! because none compares whose it was.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::{
    duration::as_millis,
    error::ShopError,
    record::{self, Record},
    state::Shop,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::BlindTakeover,
    id: "D50",
    switch: "blind-takeover",
    does: "An overdue record is overwritten, without a look for the order or at its owner.",
    partners: &[Partner::Defect(Defect::NoUniqueConstraint)],
    needs: &[Need::Record],
    finds: "a pause past the processing lease, or a kill after COMMIT",
};

pub async fn take_over(shop: &Shop, record: &Record) -> Result<(), ShopError> {
    let mut redis = shop.redis.clone();
    let failed = record::failed("taking the record over");
    let (seconds, micros): (i64, i64) =
        redis::cmd("TIME").query_async(&mut redis).await.map_err(&failed)?;
    let now_ms = seconds * 1_000 + micros / 1_000;
    let until_ms = now_ms.saturating_add_unsigned(as_millis(record::processing_lease(shop)));
    redis::pipe()
        .cmd("HSET")
        .arg(&record.key)
        .arg(&["owner", record.owner.as_str()])
        .arg(&["started_at_ms", &now_ms.to_string()])
        .arg(&["processing_until_ms", &until_ms.to_string()])
        .ignore()
        .cmd("HINCRBY")
        .arg(&record.key)
        .arg("attempts")
        .arg(1)
        .ignore()
        .query_async(&mut redis)
        .await
        .map_err(&failed)
}
