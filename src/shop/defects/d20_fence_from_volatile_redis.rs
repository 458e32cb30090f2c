//! D20: the counter of the fences is in Redis, and nowhere else.
//!
//! Looks harmless, since Redis counts well. But when it has lost its memory it counts from 1 again,
//! and the shelf, which remembers, refuses every honest order until the count has caught up.

use super::{Defect, DefectInfo, Need};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::FenceFromVolatileRedis,
    id: "D20",
    switch: "fence-from-volatile-redis",
    does: "A lost counter starts at 1 again, below what the shelf has accepted.",
    partners: &[],
    needs: &[Need::Fence],
    finds: "an order after Redis was restarted empty",
};

/// As if the shelf had never accepted anything.
pub fn seed() -> Option<i64> {
    Some(0)
}
