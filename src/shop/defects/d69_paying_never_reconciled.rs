//! D69: a payment that was left unclear stays so.
//!
//! Nobody asks the provider again, neither in the background nor when the buyer comes back: the
//! order is PAYING for ever, whether the money was taken or not.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::answer::Answer;

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::PayingNeverReconciled,
    id: "D69",
    switch: "paying-never-reconciled",
    does: "An order that is PAYING is never settled: the provider isn't asked again.",
    partners: &[Partner::Flag { name: "payments-url", value: "URL" }],
    needs: &[Need::Provider],
    finds: "[lab.payments] drop-share, past the contract's recovery-limit",
};

pub fn answer() -> Answer {
    Answer::come_back("PAYMENT_UNCLEAR")
}
