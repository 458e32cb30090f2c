//! The chain with a record in Redis: claimed first, brought to what came of it last.
//!
//! What a reader would question is the way back. A claim is given back only if there certainly
//! was no effect; after an unclear COMMIT it stays, and once it is overdue the next duplicate
//! looks into the order table, which knows. After COMMIT nothing may turn the answer into a
//! failure: an unlock or a SUCCESS that didn't get through is told in the log, and repaired by
//! time or by the next duplicate.

use super::{Outcome, overdue, under_lease};
use crate::shop::{
    answer::Answer,
    error::ShopError,
    intent::Intent,
    record::{Claim, Record},
    speak,
    state::Shop,
};

pub async fn place(shop: &Shop, intent: &Intent, key: &str) -> Result<Outcome, ShopError> {
    let record = Record::of(shop, intent, key);
    let claim = match record.claim(shop, intent).await {
        Ok(claim) => claim,
        Err(error) => {
            // The claim may have been made although its reply was lost.
            give_back(shop, &record).await;
            return Err(error);
        }
    };
    match claim {
        Claim::Created => {}
        Claim::Success(answer) => return Ok(Outcome::Stored(answer)),
        Claim::FingerprintMismatch => return Ok(Outcome::Mismatch { winner: None }),
        Claim::InProgress => return Ok(Outcome::InProgress),
        Claim::Overdue(previous) => {
            if let Some(known) = overdue::resolve(shop, intent, &record, previous).await? {
                return Ok(known);
            }
        }
    }
    let placed = under_lease::place(shop, intent).await;
    settle(shop, intent, &record, &placed).await;
    placed
}

/// Brings the record to what the attempt came to.
pub async fn settle(
    shop: &Shop,
    intent: &Intent,
    record: &Record,
    placed: &Result<Outcome, ShopError>,
) {
    match placed {
        Ok(Outcome::Created(order) | Outcome::Replayed(order)) => {
            let answer = Answer::created(order);
            let stored = record.succeed(shop, &intent.fingerprint, &answer).await;
            tell_failure(shop, intent, stored);
        }
        Ok(Outcome::Mismatch { winner: Some(winner) }) => {
            let answer = Answer::created(winner);
            let repaired = record.succeed(shop, &winner.fingerprint, &answer).await;
            tell_failure(shop, intent, repaired);
        }
        Ok(outcome) if outcome.came_to_nothing() => give_back(shop, record).await,
        Err(error) if error.certainly_had_no_effect() => give_back(shop, record).await,
        Ok(_) | Err(_) => {}
    }
}

async fn give_back(shop: &Shop, record: &Record) {
    if let Err(error) = record.give_back(shop).await {
        speak::problem(shop.settings.instance, "a claim stays until it is overdue", &error);
    }
}

fn tell_failure(shop: &Shop, intent: &Intent, stored: Result<(), ShopError>) {
    if let Err(error) = stored {
        let what = format!("record of user {} {}", intent.user, intent.name);
        speak::problem(shop.settings.instance, &what, &error);
    }
}
