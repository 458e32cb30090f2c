//! Takes the lease around the whole transaction, and gives it back when the transaction is over.
//!
//! The release has one place, behind COMMIT and ROLLBACK alike: a lock that is free before its
//! holder's row can be seen lets the next holder insert it again. Where the transaction begins
//! before the lease (`--begin`), a waiter holds a connection of the pool while it waits.

use super::{
    Outcome,
    in_transaction::{self, Guard},
};
use crate::shop::{
    defects::{Defect, d25_check_then_insert},
    error::ShopError,
    intent::Intent,
    lease::{self, Lease},
    retry,
    settings::Begin,
    state::Shop,
    stock,
    transaction::OrderConnection,
};

pub async fn place(shop: &Shop, intent: &Intent) -> Result<Outcome, ShopError> {
    let mut early = match shop.settings.begin {
        Begin::AfterLock => None,
        Begin::BeforeLock | Begin::BeforeLockWithRead => Some(begin(shop).await?),
    };
    let placed = place_with(shop, intent, &mut early).await;
    if let Some(mut connection) = early {
        // If it fails, the connection is closed instead; the outcome stands either way.
        let _ = connection.rollback().await;
    }
    placed
}

/// Takes the connection out of `early` when it comes to the transaction, and leaves it there if
/// it never does.
async fn place_with(
    shop: &Shop,
    intent: &Intent,
    early: &mut Option<OrderConnection>,
) -> Result<Outcome, ShopError> {
    if shop.settings.begin == Begin::BeforeLockWithRead
        && let Some(connection) = early
    {
        // Read for its snapshot alone: what it says may be old once the lease is held.
        stock::available(connection, intent.wish.product_id).await?;
    }
    let guard = if shop.has(Defect::CheckThenInsert) {
        if let Some(winner) = d25_check_then_insert::look(shop, intent, early.as_mut()).await? {
            return Ok(Outcome::of_winner(shop, intent, winner));
        }
        Guard::LookedBefore
    } else {
        Guard::of(&shop.settings)
    };
    let Some(mut lease) = lease::acquire(shop, intent).await? else {
        return Ok(Outcome::Busy);
    };
    let placed = transact(shop, intent, guard, early.take(), &mut lease).await;
    lease.release().await;
    placed
}

/// Runs the transaction, again where PostgreSQL asks for it; a new one sees what beat the last.
async fn transact(
    shop: &Shop,
    intent: &Intent,
    guard: Guard,
    early: Option<OrderConnection>,
    lease: &mut Lease,
) -> Result<Outcome, ShopError> {
    let mut connection = match early {
        Some(connection) => connection,
        None => begin(shop).await?,
    };
    let mut tries = 1;
    loop {
        match in_transaction::place(shop, intent, guard, &mut connection, lease).await {
            Err(error)
                if error.is_worth_another_transaction() && tries < retry::TRANSACTION_TRIES =>
            {
                retry::back_off(tries).await;
                tries += 1;
                connection.begin().await?;
            }
            placed => return placed,
        }
    }
}

async fn begin(shop: &Shop) -> Result<OrderConnection, ShopError> {
    let mut connection = OrderConnection::acquire(shop).await?;
    connection.begin().await?;
    Ok(connection)
}
