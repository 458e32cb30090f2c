//! What must be there for a defect to be reached at all.
//!
//! Apart from its partners, which bring it to light: a defect of a step that is never taken would
//! prove nothing, so the shop refuses to start with one.

use super::Defect;
use crate::shop::{
    schema::UniqueIndex,
    settings::{Idempotency, Isolation, LeaseKind, LockBy, LockPer, RedisDown, Settings, Stock},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A lock that others can be kept waiting by.
    Lock,
    /// A lock on the product.
    ProductLock,
    /// The plain lease in Redis.
    Lease,
    /// A lease whose grants are numbered.
    Fence,
    /// The idempotency record in Redis.
    Record,
    /// One-time tokens.
    Token,
    /// Orders without a key.
    Window,
    /// Stock that is taken.
    Stock,
    /// A payment provider.
    Provider,
    /// A lease in Redis of either kind.
    LeaseOfRedis,
    /// Transactions that see one moment.
    Snapshot,
    /// The database decides while Redis is away.
    Arbitration,
    /// The whole unique index over user and key.
    IndexPerKey,
    /// The partial one in its place.
    IndexPerLivingKey,
    /// Stock in a transaction of its own.
    TwoTransactions,
}

impl Need {
    pub fn is_met_by(self, settings: &Settings) -> bool {
        let has_lease = settings.lock == LockBy::Redis && settings.lease_kind == LeaseKind::Plain;
        match self {
            Self::Lock => settings.lock != LockBy::None,
            Self::ProductLock => {
                settings.lock != LockBy::None && settings.lock_per == LockPer::Product
            }
            Self::Lease => has_lease,
            Self::Fence => {
                has_lease
                    && settings.lock_per != LockPer::User
                    && settings.stock != Stock::None
                    && !settings.defects.contains(&Defect::LockOnUserNotStock)
            }
            Self::Record => settings.idempotency == Idempotency::RedisAndPostgres,
            Self::Token => settings.idempotency == Idempotency::Token,
            Self::Window => settings.order_window.is_some(),
            Self::Stock => settings.stock != Stock::None,
            Self::Provider => settings.paying.payments_url.is_some(),
            Self::LeaseOfRedis => settings.lock == LockBy::Redis,
            Self::Snapshot => settings.isolation != Isolation::ReadCommitted,
            Self::Arbitration => settings.redis_down == RedisDown::Arbitrate,
            Self::IndexPerKey => UniqueIndex::wanted(settings) == UniqueIndex::PerKey,
            Self::IndexPerLivingKey => UniqueIndex::wanted(settings) == UniqueIndex::PerLivingKey,
            Self::TwoTransactions => settings.defects.contains(&Defect::TwoTransactions),
        }
    }

    pub fn text(self) -> &'static str {
        match self {
            Self::Lock => "a lock (--lock redis or postgres-advisory)",
            Self::ProductLock => {
                "a lock on the product (--lock redis or postgres-advisory, --lock-per product)"
            }
            Self::Lease => "the plain lease in Redis (--lock redis --lease-kind plain)",
            Self::Fence => {
                "a fence (--lock redis --lease-kind plain, --lock-per product or global, \
                 --stock other than none, and not D11)"
            }
            Self::Record => "the record in Redis (--idempotency redis+postgres)",
            Self::Token => "submit tokens (--idempotency token)",
            Self::Window => "orders without a key (--order-window)",
            Self::Stock => "stock that is taken (--stock other than none)",
            Self::Provider => "a payment provider (--payments-url, or [lab.payments] in a profile)",
            Self::LeaseOfRedis => "a lease in Redis (--lock redis)",
            Self::Snapshot => {
                "transactions that see one moment (--isolation repeatable-read or serializable)"
            }
            Self::Arbitration => "orders that are placed without Redis (--redis-down arbitrate)",
            Self::IndexPerKey => {
                "the unique index over user and key (--one-order-per key, and no defect that \
                 changes the index)"
            }
            Self::IndexPerLivingKey => {
                "a unique index over user and key to cut down (--one-order-per key, and no \
                 no-unique-constraint)"
            }
            Self::TwoTransactions => "stock in its own transaction (--defects two-transactions)",
        }
    }
}
