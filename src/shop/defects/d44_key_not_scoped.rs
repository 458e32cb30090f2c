//! D44: record and unique index are by the key alone.
//!
//! Two users who send the same string meet: the second one is shown the first one's order, or is
//! refused for it.

use super::{Defect, DefectInfo};
use crate::shop::scope::Scope;

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::KeyNotScoped,
    id: "D44",
    switch: "key-not-scoped",
    does: "Record and unique index leave the user out, so two users share what one key names.",
    partners: &[],
    needs: &[],
    finds: "burst.shared-key",
};

pub fn scope() -> Scope {
    Scope::Everybody
}
