//! The chain with a record in Redis: claimed first, brought to what came of it last.
//!
//! A duplicate that finds a record in progress comes back later; one that finds it overdue, or left
//! to a person, asks the order table first. Where Redis can't be asked at all, the database
//! decides alone, or nobody does (`--redis-down`): never is an order placed past both.

use super::{Claims, Outcome, overdue, settling::Settling, under_lease, without_redis};
use crate::shop::{
    defects::{
        Defect, d45_claim_in_process_memory, d48_in_progress_never_expires, d56_waits_for_first,
    },
    error::ShopError,
    intent::Intent,
    record::{Claim, Record},
    speak,
    state::Shop,
    strategy::Going,
};

pub struct WithRecord;

impl Claims for WithRecord {
    fn place<'a>(&'a self, shop: &'a Shop, intent: &'a Intent, key: &'a str) -> Going<'a, Outcome> {
        if shop.has(Defect::ClaimInProcessMemory) {
            return Box::pin(d45_claim_in_process_memory::place(shop, intent, key));
        }
        Box::pin(place(shop, intent, key))
    }
}

async fn place(shop: &Shop, intent: &Intent, key: &str) -> Result<Outcome, ShopError> {
    let record = Record::of(shop, intent, key);
    let claim = if shop.has(Defect::WaitsForFirst) {
        d56_waits_for_first::claim(shop, &record, intent).await
    } else {
        record.claim(shop, intent).await
    };
    let claim = match claim {
        Ok(claim) => claim,
        Err(error) if error.is_of_the_record() => {
            speak::problem(shop.settings.instance, &record.key, &error);
            return without_redis::arbitrate(shop, intent, &record).await;
        }
        Err(error) if error.is_of_redis() => {
            return without_redis::place(shop, intent, &record).await;
        }
        Err(error) => return Err(error),
    };
    match claim {
        Claim::Created => {}
        Claim::Success(answer) => return Ok(Outcome::Stored(answer)),
        Claim::FingerprintMismatch => return Ok(Outcome::Mismatch { winner: None }),
        Claim::InProgress(ownership) => {
            shop.metrics.note_in_progress(ownership.age);
            return Ok(Outcome::InProgress);
        }
        Claim::Overdue(_) if shop.has(Defect::InProgressNeverExpires) => {
            return Ok(d48_in_progress_never_expires::outcome());
        }
        Claim::Overdue(ownership) => {
            shop.metrics.note_in_progress(ownership.age);
            if let Some(known) = overdue::resolve(shop, intent, &record, ownership).await? {
                return Ok(known);
            }
        }
        Claim::Unknown(owner) => return overdue::look_again(shop, intent, &record, owner).await,
    }
    let placed = under_lease::place(shop, intent).await;
    Settling::of(shop, intent, &placed).carry_out(shop, &record).await;
    placed
}
