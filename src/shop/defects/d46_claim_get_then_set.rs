//! D46: the record is read, and written if it wasn't there.
//!
//! Two steps where one is needed. Redis's clock is asked in between, as good code does, so the
//! window is a round trip wide: every duplicate that reads within it takes the claim too.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::{
    duration::as_millis,
    error::ShopError,
    intent::Intent,
    record::{self, Fields, Record},
    state::Shop,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::ClaimGetThenSet,
    id: "D46",
    switch: "claim-get-then-set",
    does: "The claim is HMGET, then HSET, so duplicates that read together all get it.",
    partners: &[Partner::Defect(Defect::NoUniqueConstraint)],
    needs: &[Need::Record],
    finds: "burst.same-key",
};

/// `None` if the claim was made.
pub async fn claim(
    shop: &Shop,
    record: &Record,
    intent: &Intent,
) -> Result<Option<Fields>, ShopError> {
    let mut redis = shop.redis.clone();
    let failed = record::failed("claiming the record");
    let found: Fields = redis::cmd("HMGET")
        .arg(&record.key)
        .arg(&["fingerprint", "status", "owner", "started_at_ms"])
        .arg(&["response_status", "response_location", "response_body"])
        .arg(&["processing_until_ms", "attempts"])
        .query_async(&mut redis)
        .await
        .map_err(&failed)?;
    let (seconds, micros): (i64, i64) =
        redis::cmd("TIME").query_async(&mut redis).await.map_err(&failed)?;
    let now_ms = seconds * 1_000 + micros / 1_000;
    if found.first().is_some_and(Option::is_some) {
        return Ok(Some(as_the_script_tells(found, now_ms)));
    }
    let until_ms = now_ms.saturating_add_unsigned(as_millis(record::processing_lease(shop)));
    redis::pipe()
        .cmd("HSET")
        .arg(&record.key)
        .arg(&["fingerprint", intent.fingerprint.as_str(), "status", "IN_PROGRESS"])
        .arg(&["owner", record.owner.as_str(), "attempts", "1"])
        .arg(&["started_at_ms", &now_ms.to_string()])
        .arg(&["processing_until_ms", &until_ms.to_string()])
        .ignore()
        .cmd("PEXPIRE")
        .arg(&record.key)
        .arg(as_millis(record::life_in_progress(shop)))
        .ignore()
        .query_async::<()>(&mut redis)
        .await
        .map_err(&failed)?;
    Ok(None)
}

/// The age in place of the start, and what is left in place of the end.
fn as_the_script_tells(mut found: Fields, now_ms: i64) -> Fields {
    for (place, sign) in [(3, -1), (7, 1)] {
        if let Some(Some(moment)) = found.get_mut(place) {
            let since = moment.parse().map_or(0, |moment: i64| (moment - now_ms) * sign);
            *moment = since.to_string();
        }
    }
    found
}
