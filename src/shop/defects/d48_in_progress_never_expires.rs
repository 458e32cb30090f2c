//! D48: a record in progress stays in progress.
//!
//! Right as long as somebody is at work on it. Whoever died in the middle never is again, and the
//! buyer is told to come back later until the record itself is gone.

use super::{Defect, DefectInfo, Need};
use crate::shop::chain::Outcome;

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::InProgressNeverExpires,
    id: "D48",
    switch: "in-progress-never-expires",
    does: "A record whose processing lease is over is answered as if its owner were at work.",
    partners: &[],
    needs: &[Need::Record],
    finds: "a kill after the claim",
};

pub fn outcome() -> Outcome {
    Outcome::InProgress
}
