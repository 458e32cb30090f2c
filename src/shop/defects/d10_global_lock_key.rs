//! D10: there is one lock for all orders.
//!
//! Looks safe, and is. But whoever buys one product waits for whoever buys another, and a holder that
//! is slow or dead stops the whole shop.

use super::{Defect, DefectInfo, Need};
use crate::shop::settings::LockPer;

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::GlobalLockKey,
    id: "D10",
    switch: "global-lock-key",
    does: "All orders take the same lock, whatever their product.",
    partners: &[],
    needs: &[Need::ProductLock],
    finds: "an order of another product while a COMMIT is held: it waits",
};

pub fn lock_per() -> LockPer {
    LockPer::Global
}
