//! D75: two releases of the service are up, and take fingerprints by different rules.
//!
//! The new release writes the default of each field out, which seems more exact. For the minutes of a
//! rolling deploy, and for the life of each record, the same request has two fingerprints, and a
//! retry that the load balancer sends to the other release is a mismatch.

use super::{Defect, DefectInfo};
use crate::shop::{
    fingerprint::{self, Fingerprint, Rule},
    wish::Written,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::FingerprintRulesDifferBetweenInstances,
    id: "D75",
    switch: "fingerprint-rules-differ-between-instances",
    does: "Instances with an odd --instance write defaults into the fingerprint, others don't.",
    partners: &[],
    needs: &[],
    finds: "burst.same-fingerprint at two instances",
};

pub fn rule(instance: u32) -> Rule {
    if instance.is_multiple_of(2) {
        |written| Fingerprint::of(&written.wish)
    } else {
        with_defaults
    }
}

fn with_defaults(written: &Written) -> Fingerprint {
    let wish = &written.wish;
    let meaning = fingerprint::canonical(wish);
    let (address, coupon) = (wish.address_version, wish.coupon.as_deref().unwrap_or_default());
    Fingerprint::over(format!("{meaning}address={address}\ncoupon={coupon:?}\n"))
}
