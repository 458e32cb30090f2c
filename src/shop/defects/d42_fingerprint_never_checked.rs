//! D42: a key that was seen before is enough, whatever the body says.
//!
//! The buyer who changed the order is answered with the old one, and learns of it when it comes.

use super::{Defect, DefectInfo};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::FingerprintNeverChecked,
    id: "D42",
    switch: "fingerprint-never-checked",
    does: "Fingerprints are stored and never compared, so any changed intent gets the old answer.",
    partners: &[],
    needs: &[],
    finds: "burst.mutated",
};

pub fn is_same() -> bool {
    true
}
