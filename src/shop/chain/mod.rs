//! The chain of `POST /orders`: what happens to one intent from the claim to the stored answer.
//!
//! ```text
//! claim the record -> lease and fence -> BEGIN, stock, order, movement, COMMIT -> unlock
//!    -> record SUCCESS -> answer
//! ```
//! A record in Redis is one way to claim, a submit token another; without either, and for an
//! intent that no key names, the chain begins at the lock and the database alone decides.

pub mod in_transaction;
mod outcome;
mod overdue;
mod settling;
pub mod under_lease;
mod with_record;
mod with_token;
mod without_redis;

pub use outcome::Outcome;
pub use settling::Settling;

use std::sync::Arc;

use super::{
    answer::Answer,
    error::ShopError,
    intent::{Intent, Name},
    metrics::Came,
    settings::Idempotency,
    speak,
    state::Shop,
    strategy::Going,
};

/// One way to know an intent again by the key that names it.
pub trait Claims: Send + Sync {
    fn place<'a>(&'a self, shop: &'a Shop, intent: &'a Intent, key: &'a str) -> Going<'a, Outcome>;
}

/// The database alone: the unique index, or a look under the lock.
struct ByOrder;

impl Claims for ByOrder {
    fn place<'a>(&'a self, shop: &'a Shop, intent: &'a Intent, _: &'a str) -> Going<'a, Outcome> {
        Box::pin(under_lease::place(shop, intent))
    }
}

pub fn strategy(idempotency: Idempotency) -> &'static dyn Claims {
    match idempotency {
        Idempotency::RedisAndPostgres => &with_record::WithRecord,
        Idempotency::Token => &with_token::WithToken,
        Idempotency::Postgres | Idempotency::None => &ByOrder,
    }
}

/// Places the order of this intent, or finds it placed. Never fails: a failure is an answer too.
pub async fn place(shop: Arc<Shop>, intent: Intent) -> Answer {
    try_to_place(&shop, &intent).await.unwrap_or_else(|error| {
        shop.metrics.note_attempt(Came::Failed);
        let what = format!("order of user {} {}", intent.user, intent.name);
        speak::problem(shop.settings.instance, &what, &error);
        Answer::failure(&error)
    })
}

async fn try_to_place(shop: &Shop, intent: &Intent) -> Result<Answer, ShopError> {
    let outcome = match &intent.name {
        Name::Key(key) => shop.strategies.claims.place(shop, intent, key).await?,
        Name::Window(_) | Name::Nothing => under_lease::place(shop, intent).await?,
    };
    shop.metrics.note_attempt(outcome.kind());
    outcome.answer(shop, intent).await
}
