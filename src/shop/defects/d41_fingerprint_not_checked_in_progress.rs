//! D41: the fingerprint is compared only once the record has an answer.
//!
//! While the first attempt is under way, a changed intent is told to come back later, as if it
//! were the same. It does, and is refused then, or never asks again and believes it will be done.

use super::{Defect, DefectInfo, Need};
use crate::shop::{
    fingerprint::Fingerprint,
    record::{Found, State},
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::FingerprintNotCheckedInProgress,
    id: "D41",
    switch: "fingerprint-not-checked-in-progress",
    does: "While the record is in progress, a changed intent gets 202 and not a mismatch.",
    partners: &[],
    needs: &[Need::Record],
    finds: "burst.mutated",
};

pub fn is_same(found: &Found, given: &Fingerprint) -> bool {
    match found.state {
        State::InProgress(_) => true,
        State::Success(_) | State::Unknown(_) => found.fingerprint == *given,
    }
}
