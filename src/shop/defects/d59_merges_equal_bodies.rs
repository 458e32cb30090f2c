//! D59: a buyer who wants the same thing twice within a minute gets it once.
//!
//! Too much deduplication is a defect too: two keys are two intents, whatever their bodies say.

use super::{Defect, DefectInfo};
use crate::shop::{
    error::ShopError,
    intent::Intent,
    order::{self, Order},
    transaction::OrderConnection,
};

const RECENT: &str = include_str!("../sql/order_by_recent_body.sql");

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::MergesEqualBodies,
    id: "D59",
    switch: "merges-equal-bodies",
    does: "Under any key, the same user's same body within a minute gets the old order.",
    partners: &[],
    needs: &[],
    finds: "burst.fresh-key",
};

pub async fn look(
    connection: &mut OrderConnection,
    intent: &Intent,
) -> Result<Option<Order>, ShopError> {
    let found = sqlx::query_as(RECENT)
        .bind(&intent.user)
        .bind(intent.fingerprint.as_str())
        .fetch_optional(connection.raw())
        .await;
    let found: Option<order::Row> = connection.checked("looking for an equal order", found)?;
    Ok(found.map(Order::from))
}
