//! The chain of `POST /orders`: what happens to one intent from the claim to the stored answer.
//!
//! ```text
//! claim the record -> lease -> BEGIN, stock, order, COMMIT -> unlock -> record SUCCESS -> answer
//! ```
//! A record in Redis is one way to claim, a submit token another; without either, and for an
//! intent that no key names, the chain begins at the lease and the database alone decides.

mod in_transaction;
mod outcome;
mod overdue;
pub mod under_lease;
mod with_record;
mod with_token;

pub use outcome::Outcome;

use std::sync::Arc;

use super::{
    answer::Answer,
    defects::{Defect, d45_claim_in_process_memory},
    error::ShopError,
    intent::{Intent, Name},
    settings::Idempotency,
    speak,
    state::Shop,
};

/// Places the order of this intent, or finds it placed. Never fails: a failure is an answer too.
pub async fn place(shop: Arc<Shop>, intent: Intent) -> Answer {
    try_to_place(&shop, &intent).await.unwrap_or_else(|error| {
        let what = format!("order of user {} {}", intent.user, intent.name);
        speak::problem(shop.settings.instance, &what, &error);
        Answer::failure(&error)
    })
}

async fn try_to_place(shop: &Shop, intent: &Intent) -> Result<Answer, ShopError> {
    let outcome = match (&intent.name, shop.settings.idempotency) {
        (Name::Key(key), Idempotency::RedisAndPostgres) => {
            if shop.has(Defect::ClaimInProcessMemory) {
                d45_claim_in_process_memory::place(shop, intent, key).await?
            } else {
                with_record::place(shop, intent, key).await?
            }
        }
        (Name::Key(token), Idempotency::Token) => with_token::place(shop, intent, token).await?,
        (Name::Key(_), Idempotency::Postgres | Idempotency::None)
        | (Name::Window(_) | Name::Nothing, _) => under_lease::place(shop, intent).await?,
    };
    outcome.answer(shop, intent).await
}
