//! D32: stock is taken in one transaction, and the order inserted in another.
//!
//! The row that all buyers want is locked for a moment only, which is quick, and where the order
//! comes to nothing the units are put back. Unless the process dies in between: then they are gone,
//! and nobody has bought them.

use super::{Defect, DefectInfo, Need, d70_rejection_keeps_stock};
use crate::shop::{
    chain::{
        Outcome,
        in_transaction::{self, Guard},
    },
    error::ShopError,
    intent::Intent,
    lock::Lease,
    speak,
    state::Shop,
    stock,
    transaction::OrderConnection,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::TwoTransactions,
    id: "D32",
    switch: "two-transactions",
    does: "COMMIT is sent once stock is taken, and the order inserted in a second transaction.",
    partners: &[],
    needs: &[Need::Stock],
    finds: "a kill between the two COMMITs",
};

/// Takes a connection with a transaction begun, and leaves it with none.
pub async fn place(
    shop: &Shop,
    intent: &Intent,
    guard: Guard,
    connection: &mut OrderConnection,
    lease: &mut Lease,
) -> Result<Outcome, ShopError> {
    let stopped = in_transaction::look_and_take(shop, intent, guard, connection, lease).await;
    let stopped = match stopped {
        Ok(None) => connection.commit().await.map(|()| None),
        stopped => stopped,
    };
    if let Some(written) = stopped.transpose() {
        return in_transaction::end(shop, intent, connection, lease, written).await;
    }
    let placed = insert(shop, intent, guard, connection, lease).await;
    if !matches!(placed, Ok(Outcome::Created(_))) {
        if shop.has(Defect::RejectionKeepsStock) {
            d70_rejection_keeps_stock::keep();
        } else if let Err(error) = put_back(connection, intent).await {
            speak::problem(shop.settings.instance, "units are lost", &error);
        }
    }
    placed
}

async fn insert(
    shop: &Shop,
    intent: &Intent,
    guard: Guard,
    connection: &mut OrderConnection,
    lease: &mut Lease,
) -> Result<Outcome, ShopError> {
    connection.begin().await?;
    let written = in_transaction::insert(shop, intent, guard, connection, lease).await;
    in_transaction::end(shop, intent, connection, lease, written).await
}

async fn put_back(connection: &mut OrderConnection, intent: &Intent) -> Result<(), ShopError> {
    connection.begin().await?;
    stock::put_units_back(connection, intent.wish.product_id, intent.wish.quantity).await?;
    connection.commit().await
}
