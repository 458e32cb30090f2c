//! D01: the lock is released inside the transaction.
//!
//! Looks harmless, since all the work is done and only COMMIT is left. But until COMMIT is over
//! nobody sees the order, and the next holder of the lock inserts it again.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::{error::ShopError, lock::Lease, state::Shop, transaction::OrderConnection};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::UnlockBeforeCommit,
    id: "D01",
    switch: "unlock-before-commit",
    does: "The lock is released, and the release answered, before COMMIT is sent.",
    partners: &[
        Partner::Defect(Defect::NoUniqueConstraint),
        Partner::Flag { name: "idempotency", value: "none" },
    ],
    needs: &[Need::Lease],
    finds: "burst.same-key",
};

pub async fn commit(
    shop: &Shop,
    connection: &mut OrderConnection,
    lease: &mut Lease,
) -> Result<(), ShopError> {
    lease.release(shop, &mut None).await;
    connection.commit().await
}
