//! D58: a request without a key is carried out.
//!
//! Its row has NULL for a key, and to a unique index no NULL equals another: each retry is a new
//! order.

use super::{Defect, DefectInfo};
use crate::shop::intent::Name;

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::MissingKeyAccepted,
    id: "D58",
    switch: "missing-key-accepted",
    does: "A request without a key is carried out, unprotected, with NULL for its key.",
    partners: &[],
    needs: &[],
    finds: "burst.bad-keys",
};

pub fn name() -> Option<Name> {
    Some(Name::Nothing)
}
