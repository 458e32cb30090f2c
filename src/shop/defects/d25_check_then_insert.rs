//! D25: whether the order exists is checked before the lease is held, and trusted under it.
//!
//! What was read before the lock is old news under the lock: of two duplicates that both looked
//! early, the second waits its turn and then inserts just as the first did.

use super::{Defect, DefectInfo, Partner};
use crate::shop::{
    error::ShopError,
    intent::Intent,
    order::{self, Order},
    state::Shop,
    transaction::OrderConnection,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::CheckThenInsert,
    id: "D25",
    switch: "check-then-insert",
    does: "The look for an existing order comes before the lease, and a plain INSERT trusts it.",
    partners: &[
        Partner::Defect(Defect::NoUniqueConstraint),
        Partner::Flag { name: "idempotency", value: "none" },
    ],
    needs: &[],
    finds: "burst.same-key",
};

/// In the transaction if it has begun: a second connection for each waiter would drain the pool.
pub async fn look(
    shop: &Shop,
    intent: &Intent,
    early: Option<&mut OrderConnection>,
) -> Result<Option<Order>, ShopError> {
    match early {
        Some(connection) => order::find(shop, connection, intent).await,
        None => {
            let mut connection = OrderConnection::acquire(shop).await?;
            order::find(shop, &mut connection, intent).await
        }
    }
}
