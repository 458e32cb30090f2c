//! D40: the fingerprint includes what changes with every attempt.
//!
//! A retry has a trace id and a time of its own, so it is taken for another intent.

use super::{Defect, DefectInfo};
use crate::shop::{
    fingerprint::{self, Fingerprint},
    wish::Written,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::FingerprintIncludesVolatile,
    id: "D40",
    switch: "fingerprint-includes-volatile",
    does: "The fingerprint includes traceId and clientTime, so a retry is a mismatch.",
    partners: &[],
    needs: &[],
    finds: "burst.same-fingerprint",
};

pub fn fingerprint(written: &Written) -> Fingerprint {
    let mut meaning = fingerprint::canonical(&written.wish);
    for volatile in [&written.trace_id, &written.client_time].into_iter().flatten() {
        meaning.push_str(&format!("{volatile}\n"));
    }
    Fingerprint::over(meaning)
}
