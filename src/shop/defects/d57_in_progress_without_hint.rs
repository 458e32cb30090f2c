//! D57: whoever is told to come back later isn't told when.
//!
//! Each client makes up a pause of its own; the impatient ones ask in a loop.

use axum::http::StatusCode;

use super::{Defect, DefectInfo, Need};
use crate::shop::answer::Answer;

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::InProgressWithoutHint,
    id: "D57",
    switch: "in-progress-without-hint",
    does: "A 202 has neither Retry-After nor Location.",
    partners: &[],
    needs: &[Need::Record],
    finds: "burst.same-key",
};

pub fn come_back(code: &str) -> Answer {
    Answer::code(StatusCode::ACCEPTED, code)
}
