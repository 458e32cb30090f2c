//! D60: a changed intent is refused, and leaves its fingerprint in the record.
//!
//! From then on the buyer's own retry is the mismatch, and the changed intent gets its answer.

use super::{Defect, DefectInfo, Need};
use crate::shop::{
    error::ShopError,
    fingerprint::Fingerprint,
    record::{self, Record},
    state::Shop,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::MismatchChangesRecord,
    id: "D60",
    switch: "mismatch-changes-record",
    does: "A mismatch overwrites the record's fingerprint, so the original is refused from then on.",
    partners: &[],
    needs: &[Need::Record],
    finds: "burst.mutated, its original asked again",
};

pub async fn keep(shop: &Shop, record: &Record, given: &Fingerprint) -> Result<(), ShopError> {
    redis::cmd("HSET")
        .arg(&record.key)
        .arg("fingerprint")
        .arg(given.as_str())
        .query_async(&mut shop.redis.clone())
        .await
        .map_err(record::failed("changing the record"))
}
