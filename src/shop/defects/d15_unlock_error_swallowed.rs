//! D15: an unlock that fails is neither tried again nor told.
//!
//! Looks reasonable, since the order is placed and the lease ends by itself. Until it does nobody
//! can buy the product, and the log has no word of it.

use super::{Defect, DefectInfo, Need};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::UnlockErrorSwallowed,
    id: "D15",
    switch: "unlock-error-swallowed",
    does: "An unlock that fails isn't tried again, so the product stays locked for the whole term.",
    partners: &[],
    needs: &[Need::Lease],
    finds: "an unlock that is lost on its way",
};
