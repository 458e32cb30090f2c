//! D38: the fingerprint is taken over the bytes of the body.
//!
//! A client library that orders its fields anew, or writes `1.0` for `1`, is refused its own
//! retry.

use super::{Defect, DefectInfo};
use crate::shop::{fingerprint::Fingerprint, wish::Written};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::FingerprintRawJson,
    id: "D38",
    switch: "fingerprint-raw-json",
    does: "The fingerprint is a hash of the body's bytes, so another way to write it is a mismatch.",
    partners: &[],
    needs: &[],
    finds: "burst.same-fingerprint",
};

pub fn fingerprint(written: &Written) -> Fingerprint {
    Fingerprint::over(written.bytes)
}
