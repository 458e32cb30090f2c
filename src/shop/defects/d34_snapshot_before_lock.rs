//! D34: something is read before the lock is asked for, in the same transaction.
//!
//! At repeatable read the first statement decides what all others see. Whoever then waits for the
//! lock looks, under the lock, at the world as it was before: the last holder's order isn't in it,
//! although the lock enclosed that holder's COMMIT.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::settings::Begin;

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::SnapshotBeforeLock,
    id: "D34",
    switch: "snapshot-before-lock",
    does: "The transaction begins, and reads, before the lock is asked for.",
    partners: &[
        Partner::Defect(Defect::NoUniqueConstraint),
        Partner::Flag { name: "isolation", value: "repeatable-read" },
        Partner::Flag { name: "idempotency", value: "none" },
        Partner::Flag { name: "stock", value: "none" },
    ],
    needs: &[Need::LeaseOfRedis, Need::Snapshot],
    finds: "burst.same-key",
};

pub fn begin() -> Begin {
    Begin::BeforeLockWithRead
}
