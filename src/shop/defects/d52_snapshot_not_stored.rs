//! D52: a replay is built from the order as it is now.
//!
//! The same request is answered `CREATED` before the order was paid and `PAID` after it, so a
//! client that compares the two answers can't tell whether it was one order.

use super::{Defect, DefectInfo};
use crate::shop::{
    answer::Answer, error::ShopError, intent::Intent, order, state::Shop,
    transaction::OrderConnection,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::SnapshotNotStored,
    id: "D52",
    switch: "snapshot-not-stored",
    does: "A replay tells the current state of the order and not the first answer.",
    partners: &[],
    needs: &[],
    finds: "burst.sequential once the order is paid or closed",
};

pub async fn replay(shop: &Shop, intent: &Intent, first: Answer) -> Result<Answer, ShopError> {
    let mut connection = OrderConnection::acquire(shop).await?;
    let order = order::find(shop, &mut connection, intent).await?;
    Ok(match order {
        Some(order) => Answer { body: Answer::current(&order).body, ..first },
        None => first,
    })
}
