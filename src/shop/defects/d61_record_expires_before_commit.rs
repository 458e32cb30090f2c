//! D61: a record in progress lives for one term of the lease.
//!
//! Nobody is at work for longer than a lease, so it seems. But a lease is renewed, and a record isn't:
//! the work goes on, its claim is gone, and the next duplicate makes a claim of its own.

use std::time::Duration;

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::settings::Settings;

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::RecordExpiresBeforeCommit,
    id: "D61",
    switch: "record-expires-before-commit",
    does: "A claimed record expires after one --lease, however long the work goes on.",
    partners: &[Partner::Defect(Defect::NoUniqueConstraint)],
    needs: &[Need::Record],
    finds: "COMMIT held past the record's life, then a duplicate",
};

pub fn life(settings: &Settings) -> Duration {
    settings.lease
}
