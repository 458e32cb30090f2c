//! D70: where the order is rejected, the units stay taken.
//!
//! With one transaction ROLLBACK puts them back. With two somebody has to, on every way out, and one
//! that was forgotten is never noticed: the books are short of a few units, each time an order comes
//! to nothing.

use super::{Defect, DefectInfo, Need, Partner};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::RejectionKeepsStock,
    id: "D70",
    switch: "rejection-keeps-stock",
    does: "An order that comes to nothing after its stock was taken doesn't put it back.",
    partners: &[Partner::Defect(Defect::TwoTransactions)],
    needs: &[Need::TwoTransactions],
    finds: "an error after the stock update",
};

/// In the place of the units' return.
pub fn keep() {}
