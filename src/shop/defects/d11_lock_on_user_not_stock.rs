//! D11: the lock is on the buyer, and the shelf is what they contend for.
//!
//! Looks right from the double click's side: one buyer's requests come one by one. Two buyers of one
//! product don't, and a lock that they don't share can't number their writes either.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::settings::LockPer;

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::LockOnUserNotStock,
    id: "D11",
    switch: "lock-on-user-not-stock",
    does: "The lock is taken on the user, so two users enter one product's shelf at once, unfenced.",
    partners: &[Partner::Defect(Defect::RmwStock)],
    needs: &[Need::ProductLock],
    finds: "burst.same-key of one product; burst.last-unit",
};

pub fn lock_per() -> LockPer {
    LockPer::User
}
