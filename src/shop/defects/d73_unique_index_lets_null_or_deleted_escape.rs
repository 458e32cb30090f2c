//! D73: the unique index covers only some of the orders.
//!
//! A closed order shouldn't bar the buyer's next one, so the index leaves it out; and NULL, which the
//! column allows, equals nothing. The retry of a request whose order was closed meanwhile, and any
//! number of orders without a key, get past it.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::schema::UniqueIndex;

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::UniqueIndexLetsNullOrDeletedEscape,
    id: "D73",
    switch: "unique-index-lets-null-or-deleted-escape",
    does: "The unique index has `WHERE status <> 'CLOSED'`, and the key's column may be NULL.",
    partners: &[Partner::Flag { name: "idempotency", value: "postgres" }],
    needs: &[Need::IndexPerLivingKey],
    finds: "the schema; burst.sequential once the order is closed",
};

pub fn index() -> UniqueIndex {
    UniqueIndex::PerLivingKey
}
