//! A record that is in progress for longer than its processing lease: its owner died, or is slow.
//!
//! Neither can be told from the record, so the order table is asked first. Found: the record is
//! repaired and the answer replayed. Not found: the claim changes hands in one step, and if the
//! old owner wakes up after all, the unique index lets one of the two through. But an intent whose
//! owners keep going missing isn't tried for ever: it is left to a person, in a table of its own,
//! and its buyer told so.

use super::{Outcome, settling::Settling};
use crate::shop::{
    defects::{Defect, d50_blind_takeover, d51_no_repair_after_commit},
    error::ShopError,
    intent::Intent,
    order, reconciliation,
    record::{Ownership, Record},
    state::Shop,
    token::Token,
    transaction::OrderConnection,
};

/// `None` if the record is ours now and the chain goes on.
pub async fn resolve(
    shop: &Shop,
    intent: &Intent,
    record: &Record,
    previous: Ownership,
) -> Result<Option<Outcome>, ShopError> {
    if shop.has(Defect::BlindTakeover) {
        return d50_blind_takeover::take_over(shop, record).await.map(|()| None);
    }
    let known = if shop.has(Defect::NoRepairAfterCommit) {
        d51_no_repair_after_commit::look(shop, intent).await?
    } else {
        repaired(shop, intent, record, &previous.owner).await?
    };
    if known.is_some() {
        return Ok(known);
    }
    if previous.owners >= shop.settings.owners_at_most {
        return park(shop, intent, &record.owned_by(previous.owner)).await.map(Some);
    }
    if record.take_over(shop, &previous.owner).await? {
        shop.metrics.takeovers.inc();
        Ok(None)
    } else {
        Ok(Some(Outcome::InProgress))
    }
}

/// For an intent that is left to a person: its order may have turned up.
pub async fn look_again(
    shop: &Shop,
    intent: &Intent,
    record: &Record,
    owner: Token,
) -> Result<Outcome, ShopError> {
    match repaired(shop, intent, record, &owner).await? {
        Some(known) => {
            reconciliation::resolve(shop, intent).await?;
            Ok(known)
        }
        None => Ok(Outcome::Parked),
    }
}

/// The table first: a case that is listed and not yet marked is merely listed again.
async fn park(shop: &Shop, intent: &Intent, record: &Record) -> Result<Outcome, ShopError> {
    reconciliation::note(shop, intent, "every owner of its record went missing").await?;
    if record.park(shop).await? {
        shop.metrics.parked.inc();
        Ok(Outcome::Parked)
    } else {
        Ok(Outcome::InProgress)
    }
}

async fn repaired(
    shop: &Shop,
    intent: &Intent,
    record: &Record,
    owner: &Token,
) -> Result<Option<Outcome>, ShopError> {
    let mut connection = OrderConnection::acquire(shop).await?;
    let found = order::find(shop, &mut connection, intent).await?;
    drop(connection);
    let Some(winner) = found else {
        return Ok(None);
    };
    let placed = Ok(Outcome::of_winner(shop, intent, winner));
    Settling::of(shop, intent, &placed).carry_out(shop, &record.owned_by(owner.clone())).await;
    placed.map(Some)
}
