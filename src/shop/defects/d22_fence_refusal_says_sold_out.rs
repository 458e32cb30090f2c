//! D22: a refused fence is told as "sold out".
//!
//! Looks harmless, since the UPDATE changed no row, and that is what "sold out" looks like. The buyer
//! turns away from a full shelf, and nobody asks again with a new lease.

use super::{Defect, DefectInfo, Need};
use crate::shop::chain::Outcome;

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::FenceRefusalSaysSoldOut,
    id: "D22",
    switch: "fence-refusal-says-sold-out",
    does: "A holder whose fence is refused is told SOLD_OUT, whatever is left.",
    partners: &[],
    needs: &[Need::Fence],
    finds: "a holder that pauses for longer than its lease, and then writes",
};

pub fn outcome() -> Outcome {
    Outcome::SoldOut
}
