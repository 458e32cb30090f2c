//! D09: what a renewal is answered isn't looked at.
//!
//! Looks harmless, since the next one comes soon. But a renewal that is refused says that the lease is
//! another's, and its holder goes on writing beside that one.

use tokio::time::Instant;

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::lock::{Bid, Validity};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::RenewFailureIgnored,
    id: "D09",
    switch: "renew-failure-ignored",
    does: "A renewal counts as made, whether it was refused, failed or was never answered.",
    partners: &[Partner::Defect(Defect::RmwStock)],
    needs: &[Need::Lease],
    finds: "a lease that changes hands between two renewals; renewals that are dropped",
};

pub fn go_on(validity: &Validity, sent: Instant, bid: &Bid) {
    validity.extend(sent, bid.life);
}
