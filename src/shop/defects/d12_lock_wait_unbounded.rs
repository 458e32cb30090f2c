//! D12: a lock that another has is waited for, however long it takes.
//!
//! Looks polite, since nobody is turned away. But a buyer's connection hangs for as long as the holder
//! does, and those of all who come after.

use std::time::Duration;

use super::{Defect, DefectInfo, Need};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::LockWaitUnbounded,
    id: "D12",
    switch: "lock-wait-unbounded",
    does: "The lock is asked for until it is had, without an end.",
    partners: &[],
    needs: &[Need::Lock],
    finds: "a lock that is held from outside for longer than the longest wait",
};

/// Longer than anybody lives.
pub const PATIENCE: Duration = Duration::from_secs(u32::MAX as u64);
