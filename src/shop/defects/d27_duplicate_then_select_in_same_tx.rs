//! D27: after the unique index refused the order, the winner is read in the same transaction.
//!
//! PostgreSQL lets nothing be read in a transaction of which a statement failed (25P02). The code
//! looks right, works on other databases, and fails only when two buyers really meet.

use super::{Defect, DefectInfo, Partner};
use crate::shop::{
    error::ShopError,
    intent::Intent,
    order::{self, Insert, Order},
    state::Shop,
    transaction::OrderConnection,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::DuplicateThenSelectInSameTx,
    id: "D27",
    switch: "duplicate-then-select-in-same-tx",
    does: "The winner is read in the transaction that its unique index has failed: 25P02, then 500.",
    partners: &[Partner::Flag { name: "idempotency", value: "postgres" }],
    needs: &[],
    finds: "burst.same-key, burst.sequential",
};

pub async fn insert(
    shop: &Shop,
    connection: &mut OrderConnection,
    intent: &Intent,
) -> Result<Option<Order>, ShopError> {
    match order::insert_or_fail(connection, intent, Insert::Plain).await {
        Err(error) if error.is_unique_violation() => order::find(shop, connection, intent).await,
        inserted => inserted,
    }
}
