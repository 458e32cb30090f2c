//! D66: an UPDATE that changed no row is taken for one that did.
//!
//! The condition in the UPDATE protects the order, and its row count is the only one who says
//! so. The buyer reads `PAID`, the row says `CLOSED`.

use super::{Defect, DefectInfo};
use crate::shop::{answer::Answer, life::Step, order::Order};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::ZeroRowsIsSuccess,
    id: "D66",
    switch: "zero-rows-is-success",
    does: "A step that changed no row is answered as if it had been made.",
    partners: &[],
    needs: &[],
    finds: "burst.race",
};

pub fn answer(order: Order, step: Step) -> Answer {
    Answer::current(&Order { status: step.leads_to().to_owned(), ..order })
}
