//! D07: the lease is renewed by its name alone.
//!
//! Looks harmless, since only a holder renews. But a holder whose lease ran out renews that of the
//! next one, for its own term, and goes on in the belief that it is the only one.

use redis::{RedisResult, aio::ConnectionManager};

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::{duration::as_millis, lock::Bid};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::RenewWithoutToken,
    id: "D07",
    switch: "renew-without-token",
    does: "The lease is renewed by PEXPIRE, whoever holds it by now.",
    partners: &[Partner::Defect(Defect::RmwStock)],
    needs: &[Need::Lease],
    finds: "a lease that changes hands between two renewals",
};

/// True if there was anything to renew.
pub async fn renew(redis: &mut ConnectionManager, bid: &Bid) -> RedisResult<bool> {
    redis::cmd("PEXPIRE").arg(&bid.key).arg(as_millis(bid.life)).query_async(redis).await
}
