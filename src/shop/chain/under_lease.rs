//! Takes the lock around the whole transaction, and gives it back when the transaction is over.
//!
//! The release has one place, behind COMMIT and ROLLBACK alike: a lock that is free before its
//! holder's row can be seen lets the next holder insert it again. A holder whose lease was over, or
//! whose fence was old, did nothing and is told to come back; the second grant brings the fence
//! that the shelf has, in case the counter had fallen behind. Where the transaction begins before
//! the lock (`--begin`), a waiter holds a connection of the pool while it waits.

use super::{
    Outcome,
    in_transaction::{self, Guard},
};
use crate::shop::{
    defects::{
        Defect, d13_redis_down_skips_guards, d25_check_then_insert, d28_on_conflict_under_rr,
        d32_two_transactions, d34_snapshot_before_lock,
    },
    error::ShopError,
    intent::Intent,
    lock::{self, Lease},
    retry,
    settings::{Begin, RedisDown},
    state::Shop,
    stock,
    transaction::OrderConnection,
};

/// A refused fence may mean that the counter was behind; a second refusal that somebody is ahead.
const GRANTS: u32 = 2;

pub async fn place(shop: &Shop, intent: &Intent) -> Result<Outcome, ShopError> {
    let begin_at = if shop.has(Defect::SnapshotBeforeLock) {
        d34_snapshot_before_lock::begin()
    } else {
        shop.settings.begin
    };
    let mut early = match begin_at {
        Begin::AfterLock => None,
        Begin::BeforeLock => Some(begin(shop).await?),
        Begin::BeforeLockWithRead => {
            let mut connection = begin(shop).await?;
            // Read for its snapshot alone: what it says may be old once the lease is held.
            stock::shelf(&mut connection, intent.wish.product_id).await?;
            Some(connection)
        }
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
    let guard = if shop.has(Defect::CheckThenInsert) {
        if let Some(winner) = d25_check_then_insert::look(shop, intent, early.as_mut()).await? {
            return Ok(Outcome::of_winner(shop, intent, winner));
        }
        Guard::LookedBefore
    } else {
        Guard::of(&shop.settings)
    };
    let mut known_fence = None;
    for _ in 0..GRANTS {
        let Some(mut lease) = enter(shop, intent, known_fence, early).await? else {
            return Ok(Outcome::Busy);
        };
        let placed = transact(shop, intent, guard, early, &mut lease).await;
        lease.release(shop, early).await;
        match placed {
            Ok(Outcome::FencedOff { highest }) => {
                shop.metrics.fence_refusals.inc();
                known_fence = Some(highest);
            }
            Err(ShopError::LeaseLost) => {
                shop.metrics.leases_lost.inc();
                return Ok(Outcome::Busy);
            }
            Err(error) if error.is_lock_timeout() => return Ok(Outcome::Busy),
            placed => return placed,
        }
    }
    Ok(Outcome::Busy)
}

/// Where Redis can't be asked: the unique index decides, and the row count of the shelf.
pub async fn place_without_lock(shop: &Shop, intent: &Intent) -> Result<Outcome, ShopError> {
    shop.metrics.without_redis.inc();
    let mut lease = Lease::without_lock(shop, intent);
    let guard = if shop.has(Defect::RedisDownSkipsGuards) {
        d13_redis_down_skips_guards::guard()
    } else {
        Guard::LookThenOnConflict
    };
    transact(shop, intent, guard, &mut None, &mut lease).await
}

/// `None` if the lock couldn't be had.
async fn enter(
    shop: &Shop,
    intent: &Intent,
    known_fence: Option<i64>,
    place: &mut Option<OrderConnection>,
) -> Result<Option<Lease>, ShopError> {
    match lock::acquire(shop, intent, known_fence, place).await {
        Err(error) if error.is_of_redis() && shop.settings.redis_down == RedisDown::Arbitrate => {
            shop.metrics.without_redis.inc();
            Ok(Some(Lease::without_lock(shop, intent)))
        }
        acquired => acquired,
    }
}

/// Runs the transaction, again where PostgreSQL asks for it; a new one sees what beat the last. A
/// connection that holds the lock stays in its place.
async fn transact(
    shop: &Shop,
    intent: &Intent,
    guard: Guard,
    place: &mut Option<OrderConnection>,
    lease: &mut Lease,
) -> Result<Outcome, ShopError> {
    let mut connection = match place.take() {
        Some(connection) => connection,
        None => OrderConnection::acquire(shop).await?,
    };
    let placed = repeat(shop, intent, guard, &mut connection, lease).await;
    if shop.strategies.lock.lives_in_connection() {
        *place = Some(connection);
    }
    placed
}

async fn repeat(
    shop: &Shop,
    intent: &Intent,
    guard: Guard,
    connection: &mut OrderConnection,
    lease: &mut Lease,
) -> Result<Outcome, ShopError> {
    let tries_at_most = if shop.has(Defect::OnConflictUnderRr) {
        d28_on_conflict_under_rr::TRANSACTION_TRIES
    } else {
        retry::TRANSACTION_TRIES
    };
    let mut tries = 1;
    loop {
        if !connection.has_begun() {
            connection.begin().await?;
        }
        let placed = if shop.has(Defect::TwoTransactions) {
            d32_two_transactions::place(shop, intent, guard, connection, lease).await
        } else {
            in_transaction::place(shop, intent, guard, connection, lease).await
        };
        match placed {
            Err(error) if error.is_worth_another_transaction() && tries < tries_at_most => {
                shop.metrics.transaction_retries.inc();
                retry::back_off(tries).await;
                tries += 1;
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
