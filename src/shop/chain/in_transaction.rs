//! One transaction: look, take stock, insert the order, COMMIT; or ROLLBACK, and nothing happened.
//!
//! Stock is taken before the order is inserted, so that the row that buyers contend for says
//! "sold out" before anything is written. Any refusal, by the stock too, is followed by a look
//! for the winner: whoever bought the last unit and asks again, after the record is gone, is
//! owed that order and not "sold out". The look comes after ROLLBACK, which puts the stock back,
//! because inside a failed INSERT lets nothing be read, and an old snapshot shows no winner.

use super::Outcome;
use crate::shop::{
    defects::{Defect, d01_unlock_before_commit, d29_rmw_stock},
    error::ShopError,
    intent::Intent,
    lease::Lease,
    order::{self, Insert, Order},
    settings::{Idempotency, Settings},
    state::Shop,
    stock::{self, Taking},
    transaction::OrderConnection,
};

/// What keeps the second order out, before the unique index has the last word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// `ON CONFLICT DO NOTHING`: the record said that nobody else is at work.
    OnConflict,
    /// No record: a look under the lease, then a plain INSERT.
    Look,
    /// The look was before the lease, and is trusted.
    LookedBefore,
}

/// How the statements went, before the transaction is ended.
enum Written {
    Order(Order),
    Found(Order),
    Refused(Refusal),
}

enum Refusal {
    ByStock(Outcome),
    ByIndex,
}

impl Guard {
    pub fn of(settings: &Settings) -> Self {
        match settings.idempotency {
            Idempotency::RedisAndPostgres => Self::OnConflict,
            Idempotency::None => Self::Look,
        }
    }

    fn insert(self) -> Insert {
        match self {
            Self::OnConflict => Insert::UnlessThere,
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
    let written = match write(shop, intent, guard, connection).await {
        Ok(written) => written,
        Err(error) => {
            // If ROLLBACK fails too, the connection is closed, and the first error says why.
            let _ = connection.rollback().await;
            return Err(error);
        }
    };
    match written {
        Written::Order(order) => {
            if shop.has(Defect::UnlockBeforeCommit) {
                d01_unlock_before_commit::commit(connection, lease).await?;
            } else {
                connection.commit().await?;
            }
            Ok(Outcome::Created(order))
        }
        Written::Found(winner) => {
            connection.rollback().await?;
            Ok(Outcome::of_winner(&shop.settings, intent, winner))
        }
        Written::Refused(refusal) => {
            connection.rollback().await?;
            let winner = order::find(connection, &shop.settings, intent).await?;
            match (winner, refusal) {
                (Some(winner), _) => Ok(Outcome::of_winner(&shop.settings, intent, winner)),
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
) -> Result<Written, ShopError> {
    if guard == Guard::Look
        && let Some(winner) = order::find(connection, &shop.settings, intent).await?
    {
        return Ok(Written::Found(winner));
    }
    let taken = if shop.has(Defect::RmwStock) {
        d29_rmw_stock::take(connection, intent).await?
    } else {
        stock::take(connection, intent).await?
    };
    match taken {
        Taking::Done => {}
        Taking::SoldOut => return Ok(Written::Refused(Refusal::ByStock(Outcome::SoldOut))),
        Taking::UnknownProduct => {
            return Ok(Written::Refused(Refusal::ByStock(Outcome::UnknownProduct)));
        }
    }
    match order::insert(connection, intent, guard.insert()).await? {
        Some(order) => Ok(Written::Order(order)),
        None => Ok(Written::Refused(Refusal::ByIndex)),
    }
}
