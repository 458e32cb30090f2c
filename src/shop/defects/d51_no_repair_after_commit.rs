//! D51: a crash between COMMIT and SUCCESS is never made good.
//!
//! The order is found, so it isn't placed a second time, and the data are right. But nobody brings
//! the record to its end, and the buyer, whose order is on its way, is told to come back later.

use super::{Defect, DefectInfo, Need};
use crate::shop::{
    chain::Outcome, error::ShopError, intent::Intent, order, state::Shop,
    transaction::OrderConnection,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::NoRepairAfterCommit,
    id: "D51",
    switch: "no-repair-after-commit",
    does: "An overdue record whose order exists stays in progress, and is answered so.",
    partners: &[],
    needs: &[Need::Record],
    finds: "a kill after COMMIT",
};

/// `None` if there is no order.
pub async fn look(shop: &Shop, intent: &Intent) -> Result<Option<Outcome>, ShopError> {
    let mut connection = OrderConnection::acquire(shop).await?;
    let found = order::find(shop, &mut connection, intent).await?;
    Ok(found.map(|_| Outcome::InProgress))
}
