//! D53: a replay has another status than the first answer.
//!
//! It looks polite, since nothing was created this time. But a client whose first answer was lost
//! must not be able to tell, and one that waits for 201 takes its order for a failure.

use axum::http::StatusCode;

use super::{Defect, DefectInfo};
use crate::shop::answer::Answer;

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::Replay200,
    id: "D53",
    switch: "replay-200",
    does: "A replay is answered with 200 where the first answer was 201.",
    partners: &[],
    needs: &[],
    finds: "burst.sequential, burst.same-key",
};

pub fn replay(first: Answer) -> Answer {
    Answer { status: StatusCode::OK, ..first }
}
