//! D46: the record is read, and written if it wasn't there.
//!
//! Two steps where one is needed. Redis's clock is asked in between, as good code does, so the
//! window is a round trip wide: every duplicate that reads within it takes the claim too.

use super::{Defect, DefectInfo, Partner};
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
        .query_async(&mut redis)
        .await
        .map_err(&failed)?;
    let (seconds, micros): (i64, i64) =
        redis::cmd("TIME").query_async(&mut redis).await.map_err(&failed)?;
    let now_ms = seconds * 1_000 + micros / 1_000;
    if found.first().is_some_and(Option::is_some) {
        return Ok(Some(with_age(found, now_ms)));
    }
    redis::pipe()
        .cmd("HSET")
        .arg(&record.key)
        .arg(&["fingerprint", intent.fingerprint.as_str(), "status", "IN_PROGRESS"])
        .arg(&["owner", record.owner.as_str(), "attempts", "1"])
        .arg(&["started_at_ms", &now_ms.to_string()])
        .ignore()
        .cmd("PEXPIRE")
        .arg(&record.key)
        .arg(as_millis(shop.settings.record_ttl))
        .ignore()
        .query_async::<()>(&mut redis)
        .await
        .map_err(&failed)?;
    Ok(None)
}

fn with_age(mut found: Fields, now_ms: i64) -> Fields {
    for started_at_ms in found.iter_mut().skip(3).take(1).flatten() {
        let age_ms = started_at_ms.parse().map_or(0, |started: i64| now_ms - started);
        *started_at_ms = age_ms.to_string();
    }
    found
}
