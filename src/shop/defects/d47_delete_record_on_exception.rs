//! D47: whatever goes wrong, the record is deleted.
//!
//! Looks tidy: a failed attempt shouldn't bar the next one. But "failed" is what this process knows;
//! where the answer to COMMIT was lost, the order may be there, and nothing remembers it any more.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::chain::Settling;

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::DeleteRecordOnException,
    id: "D47",
    switch: "delete-record-on-exception",
    does: "Any error deletes the record, also one that leaves open whether COMMIT was carried out.",
    partners: &[Partner::Defect(Defect::NoUniqueConstraint)],
    needs: &[Need::Record],
    finds: "the reply to COMMIT lost, then a retry",
};

pub fn settling() -> Settling {
    Settling::GiveBack
}
