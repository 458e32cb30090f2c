//! D33: there is no transaction.
//!
//! Each statement is right by itself, and takes effect at once. Nothing holds the two together: the
//! units are gone before there is an order, and no error brings them back.

use super::{Defect, DefectInfo};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::Autocommit,
    id: "D33",
    switch: "autocommit",
    does: "Neither BEGIN nor COMMIT nor ROLLBACK is ever sent: each statement commits by itself.",
    partners: &[],
    needs: &[],
    finds: "a kill after the stock update",
};

/// In the place of BEGIN, COMMIT and ROLLBACK.
pub fn send() -> Result<(), sqlx::Error> {
    Ok(())
}
