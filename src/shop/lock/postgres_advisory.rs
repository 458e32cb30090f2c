//! The lock as an advisory lock of PostgreSQL, held by the connection that the order goes through.
//!
//! Session level, and taken before BEGIN: a lock taken by a statement of the transaction would come
//! after its snapshot from repeatable read upwards, and its holder would be blind for what the
//! last holder committed. It ends with its connection, so a holder that died never blocks; and a
//! holder that is merely slow keeps it, so there is no lease to renew and no fence to check.
//! <https://www.postgresql.org/docs/15/explicit-locking.html#ADVISORY-LOCKS>

use redis::Script;

use super::{Bid, Lock, Taken};
use crate::shop::{state::Shop, strategy::Going, transaction::OrderConnection};

pub struct PostgresAdvisory;

impl Lock for PostgresAdvisory {
    fn take<'a>(
        &'a self,
        shop: &'a Shop,
        bid: &'a Bid,
        place: &'a mut Option<OrderConnection>,
    ) -> Going<'a, Taken> {
        Box::pin(async move {
            let connection = match place {
                Some(connection) => connection,
                None => place.insert(OrderConnection::acquire(shop).await?),
            };
            let is_ours = connection.try_advisory_lock(&bid.key).await?;
            Ok(if is_ours { Taken::Granted(None) } else { Taken::Busy })
        })
    }

    fn release<'a>(
        &'a self,
        _: &'a Shop,
        _: &'a Bid,
        place: &'a mut Option<OrderConnection>,
    ) -> Going<'a, bool> {
        Box::pin(async move {
            match place {
                Some(connection) => connection.advisory_unlock().await,
                None => Ok(false),
            }
        })
    }

    fn renewal(&self) -> Option<&'static Script> {
        None
    }

    fn lives_in_connection(&self) -> bool {
        true
    }
}
