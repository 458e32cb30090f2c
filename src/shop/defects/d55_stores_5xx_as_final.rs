//! D55: a failure is stored as the answer.
//!
//! "The same answer to the same request", taken at its word. The cause is gone in a second, and the
//! retry that would have succeeded gets the old failure for as long as the record lives.

use super::{Defect, DefectInfo, Need};
use crate::shop::{answer::Answer, chain::Settling, error::ShopError, intent::Intent};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::Stores5xxAsFinal,
    id: "D55",
    switch: "stores-5xx-as-final",
    does: "An error is stored in the record like an order, and replayed to every retry.",
    partners: &[],
    needs: &[Need::Record],
    finds: "an error of PostgreSQL, then a retry",
};

pub fn settling(intent: &Intent, error: &ShopError) -> Settling {
    Settling::Success { fingerprint: intent.fingerprint.clone(), answer: Answer::failure(error) }
}
