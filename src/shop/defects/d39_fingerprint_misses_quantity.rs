//! D39: the quantity isn't part of the fingerprint.
//!
//! Whoever asks for three under the key of an order for one is told that it worked.

use super::{Defect, DefectInfo};
use crate::shop::{
    fingerprint::Fingerprint,
    wish::{Wish, Written},
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::FingerprintMissesQuantity,
    id: "D39",
    switch: "fingerprint-misses-quantity",
    does: "The fingerprint leaves the quantity out, so a changed quantity gets the old answer.",
    partners: &[],
    needs: &[],
    finds: "burst.mutated (quantity)",
};

pub fn fingerprint(written: &Written) -> Fingerprint {
    Fingerprint::of(&Wish { quantity: 1, ..written.wish.clone() })
}
