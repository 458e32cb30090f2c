//! D49: the processing lease is as long as the life of the record.
//!
//! One setting less, and it is never too short for the work. But it is the time for which a buyer is
//! sent away after a crash, and a day is not what "come back later" means.

use std::time::Duration;

use super::{Defect, DefectInfo, Need};
use crate::shop::settings::Settings;

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::InProgressLivesAsLongAsTheRecord,
    id: "D49",
    switch: "in-progress-lives-as-long-as-the-record",
    does: "The owner of a record is let alone for as long as the record lives (--record-ttl).",
    partners: &[],
    needs: &[Need::Record],
    finds: "a kill after the claim",
};

pub fn processing_lease(settings: &Settings) -> Duration {
    settings.record_ttl
}
