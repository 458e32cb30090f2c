//! A record that is in progress for longer than its processing lease: its owner died, or is slow.
//!
//! Neither can be told from the record, so the order table is asked first. Found: the record is
//! repaired and the answer replayed. Not found: the claim changes hands in one step, and if the
//! old owner wakes up after all, the unique index lets one of the two through.

use super::{Outcome, with_record::settle};
use crate::shop::{
    error::ShopError, intent::Intent, order, record::Record, state::Shop, token::Token,
    transaction::OrderConnection,
};

/// `None` if the record is ours now and the chain goes on.
pub async fn resolve(
    shop: &Shop,
    intent: &Intent,
    record: &Record,
    previous: Token,
) -> Result<Option<Outcome>, ShopError> {
    let mut connection = OrderConnection::acquire(shop).await?;
    let found = order::find(shop, &mut connection, intent).await?;
    drop(connection);
    if let Some(winner) = found {
        let placed = Ok(Outcome::of_winner(shop, intent, winner));
        settle(shop, intent, &record.owned_by(previous), &placed).await;
        return placed.map(Some);
    }
    if record.take_over(shop, &previous).await? { Ok(None) } else { Ok(Some(Outcome::InProgress)) }
}
