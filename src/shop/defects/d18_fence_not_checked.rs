//! D18: the fence is stored with the sale, and not compared.
//!
//! Looks as if it were used: it is in the table, and it grows. But the shelf lets a late holder in
//! just as the present one, and writes the older number over the newer.

use super::{Defect, DefectInfo, Need, Partner};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::FenceNotChecked,
    id: "D18",
    switch: "fence-not-checked",
    does: "The fence is stored with each sale, and none is ever refused.",
    partners: &[Partner::Defect(Defect::RmwStock)],
    needs: &[Need::Fence],
    finds: "a holder that pauses for longer than its lease, and then writes",
};

pub fn bound() -> Option<i64> {
    None
}
