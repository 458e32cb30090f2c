//! D28: a transaction that PostgreSQL asks to be repeated is given up.
//!
//! `ON CONFLICT DO NOTHING` never fails, so it is said. From repeatable read upwards it does, with
//! 40001, where the row in the way is newer than the snapshot. Repeated, the transaction would have
//! found the winner.
//! <https://www.postgresql.org/docs/15/transaction-iso.html#XACT-REPEATABLE-READ>

use super::{Defect, DefectInfo, Need, Partner};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::OnConflictUnderRr,
    id: "D28",
    switch: "on-conflict-under-rr",
    does: "A transaction that was rolled back with 40001 isn't repeated, and its buyer gets 503.",
    partners: &[
        Partner::Flag { name: "isolation", value: "repeatable-read" },
        Partner::Flag { name: "idempotency", value: "postgres" },
    ],
    needs: &[Need::Snapshot],
    finds: "burst.same-key, the first COMMIT held",
};

/// The first one is the only one.
pub const TRANSACTION_TRIES: u32 = 1;
