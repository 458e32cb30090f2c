//! The chain of `POST /orders`: what happens to one intent from the claim to the stored answer.
//!
//! ```text
//! claim the record -> lease -> BEGIN, stock, order, COMMIT -> unlock -> record SUCCESS -> answer
//! ```
//! What a reader would question is the way back. A claim is given back only if there certainly
//! was no effect; after an unclear COMMIT it stays, and once it is overdue the next duplicate
//! looks into the order table, which knows. After COMMIT nothing may turn the answer into a
//! failure: an unlock or a SUCCESS that didn't get through is told in the log, and repaired by
//! time or by the next duplicate.

mod in_transaction;
mod outcome;
mod overdue;
mod under_lease;

pub use outcome::Outcome;

use std::sync::Arc;

use axum::http::StatusCode;

use super::{
    answer::Answer,
    error::ShopError,
    intent::Intent,
    record::{Claim, Record},
    settings::Idempotency,
    speak,
    state::Shop,
};

/// Places the order of this intent, or finds it placed. Never fails: a failure is an answer too.
pub async fn place(shop: Arc<Shop>, intent: Intent) -> Answer {
    let placed = match shop.settings.idempotency {
        Idempotency::RedisAndPostgres => place_with_record(&shop, &intent).await,
        Idempotency::None => under_lease::place(&shop, &intent)
            .await
            .map(|outcome| outcome.answer()),
    };
    placed.unwrap_or_else(|error| {
        let what = format!("order of user {} key {}", intent.user, intent.key);
        speak::problem(shop.settings.instance, &what, &error);
        Answer::failure(&error)
    })
}

async fn place_with_record(shop: &Shop, intent: &Intent) -> Result<Answer, ShopError> {
    let record = Record::of(intent);
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
        Claim::Success(answer) => return Ok(answer),
        Claim::FingerprintMismatch => return Ok(mismatch()),
        Claim::InProgress => return Ok(in_progress()),
        Claim::Overdue(previous) => {
            if let Some(answer) = overdue::resolve(shop, intent, &record, previous).await? {
                return Ok(answer);
            }
        }
    }
    let placed = under_lease::place(shop, intent).await;
    settle(shop, intent, &record, &placed).await;
    placed.map(|outcome| outcome.answer())
}

/// Brings the record to what the attempt came to.
async fn settle(
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
        Ok(Outcome::Mismatch { winner }) => {
            let answer = Answer::created(winner);
            let repaired = record.succeed(shop, &winner.fingerprint, &answer).await;
            tell_failure(shop, intent, repaired);
        }
        Ok(Outcome::SoldOut | Outcome::UnknownProduct | Outcome::Busy) => {
            give_back(shop, record).await;
        }
        Err(error) if error.certainly_had_no_effect() => give_back(shop, record).await,
        Err(_) => {}
    }
}

async fn give_back(shop: &Shop, record: &Record) {
    if let Err(error) = record.give_back(shop).await {
        speak::problem(
            shop.settings.instance,
            "a claim stays until it is overdue",
            &error,
        );
    }
}

fn tell_failure(shop: &Shop, intent: &Intent, stored: Result<(), ShopError>) {
    if let Err(error) = stored {
        let what = format!("record of user {} key {}", intent.user, intent.key);
        speak::problem(shop.settings.instance, &what, &error);
    }
}

fn in_progress() -> Answer {
    Answer::code(StatusCode::ACCEPTED, "IN_PROGRESS")
}

fn mismatch() -> Answer {
    Answer::code(StatusCode::CONFLICT, "FINGERPRINT_MISMATCH")
}
