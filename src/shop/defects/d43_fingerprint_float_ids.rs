//! D43: the product goes into the fingerprint as a floating-point number.
//!
//! As in every language whose JSON numbers are doubles: from 2^53 upwards two neighbours are one
//! number, and so two products one intent.

use super::{Defect, DefectInfo};
use crate::shop::{
    fingerprint::Fingerprint,
    wish::{Wish, Written},
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::FingerprintFloatIds,
    id: "D43",
    switch: "fingerprint-float-ids",
    does: "The fingerprint takes the product as a float, so ids above 2^53 merge with neighbours.",
    partners: &[],
    needs: &[],
    finds: "burst.mutated (product above 2^53)",
};

pub fn fingerprint(written: &Written) -> Fingerprint {
    let product_id = written.wish.product_id as f64 as i64;
    Fingerprint::of(&Wish { product_id, ..written.wish.clone() })
}
