//! One transaction: look, take stock, insert the order and its movement, COMMIT; or ROLLBACK, and
//! nothing happened.
//!
//! Stock is taken before the order is inserted, so that the row that buyers contend for says
//! "sold out" before anything is written. Any refusal, by the stock too, is followed by a look
//! for the winner: whoever bought the last unit and asks again, after the record is gone, is
//! owed that order and not "sold out". The look comes after ROLLBACK, which puts the stock back,
//! because inside a failed INSERT lets nothing be read, and an old snapshot shows no winner. Before
//! each write, and before COMMIT, the holder asks whether its lease still holds.

use super::Outcome;
use crate::shop::{
    defects::{
        Defect, d01_unlock_before_commit, d22_fence_refusal_says_sold_out, d26_duplicate_key_500,
        d27_duplicate_then_select_in_same_tx, d31_upsert_overwrites_order,
        d37_success_before_commit, d54_expired_key_is_new_order, d59_merges_equal_bodies,
        d74_fixed_window_straddled,
    },
    error::ShopError,
    intent::{Intent, Name},
    lock::Lease,
    order::{self, Insert, Order},
    settings::{Idempotency, Settings},
    state::Shop,
    stock::{self, Sale, Taking},
    transaction::OrderConnection,
    window,
};

/// What keeps the second order out, before the unique index has the last word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// `ON CONFLICT DO NOTHING`: nobody else is thought to be at work, or the index is to decide.
    OnConflict,
    /// No record: a look under the lease, then a plain INSERT.
    Look,
    /// The look was before the lease, and is trusted.
    LookedBefore,
    /// Without Redis: a look, so that a duplicate needn't touch the shelf, then
    /// `ON CONFLICT DO NOTHING`.
    LookThenOnConflict,
}

/// How the statements went, before the transaction is ended.
pub enum Written {
    Order(Order),
    Found(Order),
    Refused(Refusal),
}

pub enum Refusal {
    ByStock(Outcome),
    ByIndex,
}

impl Guard {
    pub fn of(settings: &Settings) -> Self {
        match settings.idempotency {
            Idempotency::RedisAndPostgres | Idempotency::Postgres | Idempotency::Token => {
                Self::OnConflict
            }
            Idempotency::None => Self::Look,
        }
    }

    fn looks(self) -> bool {
        matches!(self, Self::Look | Self::LookThenOnConflict)
    }

    fn insert(self) -> Insert {
        match self {
            Self::OnConflict | Self::LookThenOnConflict => Insert::UnlessThere,
            Self::Look | Self::LookedBefore => Insert::Plain,
        }
    }
}

/// Takes a connection with a transaction begun, and leaves it with none.
pub async fn place(
    shop: &Shop,
    intent: &Intent,
    guard: Guard,
    connection: &mut OrderConnection,
    lease: &mut Lease,
) -> Result<Outcome, ShopError> {
    let written = write(shop, intent, guard, connection, lease).await;
    end(shop, intent, connection, lease, written).await
}

/// COMMIT, or ROLLBACK and a look for the winner.
pub async fn end(
    shop: &Shop,
    intent: &Intent,
    connection: &mut OrderConnection,
    lease: &mut Lease,
    written: Result<Written, ShopError>,
) -> Result<Outcome, ShopError> {
    let written = match written {
        Ok(written) => written,
        Err(error) => {
            // If ROLLBACK fails too, the connection is closed, and the first error says why.
            let _ = connection.rollback().await;
            return Err(error);
        }
    };
    match written {
        Written::Order(order) => {
            shop.work().await;
            if let Err(lost) = lease.must_hold() {
                connection.rollback().await?;
                return Err(lost);
            }
            if shop.has(Defect::UnlockBeforeCommit) {
                d01_unlock_before_commit::commit(shop, connection, lease).await?;
            } else if shop.has(Defect::SuccessBeforeCommit) {
                d37_success_before_commit::commit(shop, intent, connection, &order).await?;
            } else {
                connection.commit().await?;
            }
            Ok(Outcome::Created(order))
        }
        Written::Found(winner) => {
            connection.rollback().await?;
            Ok(Outcome::of_winner(shop, intent, winner))
        }
        Written::Refused(refusal) => {
            connection.rollback().await?;
            if matches!(refusal, Refusal::ByIndex) {
                shop.metrics.unique_conflicts.inc();
            }
            let winner = if shop.has(Defect::ExpiredKeyIsNewOrder) {
                d54_expired_key_is_new_order::winner()
            } else {
                order::find(shop, connection, intent).await?
            };
            match (winner, refusal) {
                (Some(winner), _) => Ok(Outcome::of_winner(shop, intent, winner)),
                (None, Refusal::ByStock(outcome)) => Ok(outcome),
                (None, Refusal::ByIndex) => Err(ShopError::WinnerGone),
            }
        }
    }
}

async fn write(
    shop: &Shop,
    intent: &Intent,
    guard: Guard,
    connection: &mut OrderConnection,
    lease: &Lease,
) -> Result<Written, ShopError> {
    match look_and_take(shop, intent, guard, connection, lease).await? {
        Some(written) => Ok(written),
        None => insert(shop, intent, guard, connection, lease).await,
    }
}

/// `None` if the units are taken, and the order is to be inserted.
pub async fn look_and_take(
    shop: &Shop,
    intent: &Intent,
    guard: Guard,
    connection: &mut OrderConnection,
    lease: &Lease,
) -> Result<Option<Written>, ShopError> {
    if let Some(winner) = look(shop, intent, guard, connection).await? {
        return Ok(Some(Written::Found(winner)));
    }
    lease.must_hold()?;
    let sale = Sale::of(shop, intent, lease.fence);
    let refused = match stock::take(shop, connection, sale, lease).await? {
        Taking::Done => None,
        Taking::SoldOut => Some(Outcome::SoldOut),
        Taking::UnknownProduct => Some(Outcome::UnknownProduct),
        Taking::FenceRefused(_) if shop.has(Defect::FenceRefusalSaysSoldOut) => {
            Some(d22_fence_refusal_says_sold_out::outcome())
        }
        Taking::FenceRefused(highest) => Some(Outcome::FencedOff { highest }),
    };
    Ok(refused.map(|outcome| Written::Refused(Refusal::ByStock(outcome))))
}

pub async fn insert(
    shop: &Shop,
    intent: &Intent,
    guard: Guard,
    connection: &mut OrderConnection,
    lease: &Lease,
) -> Result<Written, ShopError> {
    lease.must_hold()?;
    let inserted = if shop.has(Defect::DuplicateKey500) {
        d26_duplicate_key_500::insert(connection, intent).await?
    } else if shop.has(Defect::DuplicateThenSelectInSameTx) {
        d27_duplicate_then_select_in_same_tx::insert(shop, connection, intent).await?
    } else if shop.has(Defect::UpsertOverwritesOrder) {
        d31_upsert_overwrites_order::insert(connection, intent).await?
    } else {
        order::insert(connection, intent, guard.insert()).await?
    };
    let Some(order) = inserted else {
        return Ok(Written::Refused(Refusal::ByIndex));
    };
    lease.must_hold()?;
    stock::note_sale(shop, connection, &order).await?;
    Ok(Written::Order(order))
}

/// The order that is there already, as far as it has to be looked for.
async fn look(
    shop: &Shop,
    intent: &Intent,
    guard: Guard,
    connection: &mut OrderConnection,
) -> Result<Option<Order>, ShopError> {
    if shop.has(Defect::MergesEqualBodies)
        && let Some(equal) = d59_merges_equal_bodies::look(connection, intent).await?
    {
        return Ok(Some(equal));
    }
    match intent.name {
        Name::Window(window) if shop.has(Defect::FixedWindowStraddled) => {
            d74_fixed_window_straddled::look(connection, intent, window).await
        }
        Name::Window(window) => window::look(connection, intent, window).await,
        _ if guard.looks() => order::find(shop, connection, intent).await,
        _ => Ok(None),
    }
}
