//! D24: the schema has no unique index over user and key.
//!
//! Every line of defence above the database lives for seconds or hours. Without the index, the
//! end of a lease or of a record is enough for a second order.

use super::{Defect, DefectInfo};
use crate::shop::schema::UniqueIndex;

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::NoUniqueConstraint,
    id: "D24",
    switch: "no-unique-constraint",
    does: "The orders table has no unique index, so the database accepts a second order.",
    partners: &[],
    needs: &[],
    finds: "burst.same-key, beside a defect of the lock or the claim",
};

pub fn index() -> UniqueIndex {
    UniqueIndex::None
}
