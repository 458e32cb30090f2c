//! D21: a fence that was accepted already is accepted again.
//!
//! Looks like a matter of taste: `<=`, so that a holder may write twice. But a write that is repeated
//! because its reply was lost takes the stock a second time.

use super::{Defect, DefectInfo, Need};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::FenceNotStrict,
    id: "D21",
    switch: "fence-not-strict",
    does: "A sale is accepted with the fence that the shelf has already (<= in place of <).",
    partners: &[],
    needs: &[Need::Fence],
    finds: "the reply to the stock update dropped, and the update repeated with its fence",
};

pub fn bound(fence: Option<i64>) -> Option<i64> {
    fence.map(|fence| fence + 1)
}
