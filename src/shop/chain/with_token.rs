//! The chain with a submit token in place of a key: consumed first, and the order's key from then
//! on.
//!
//! A token that isn't there was used, or ran out, or never was; only the order table knows more.
//! An order under it is replayed. None means that the first click is still under way, or came to
//! nothing for good: a buyer who is told "used" looks into the list of orders.

use super::{Claims, Outcome, under_lease};
use crate::shop::{
    defects::{Defect, d62_token_check_then_delete, d63_token_reissued_is_new_order},
    error::ShopError,
    intent::Intent,
    order, speak,
    state::Shop,
    strategy::Going,
    submit_token,
    transaction::OrderConnection,
};

pub struct WithToken;

impl Claims for WithToken {
    fn place<'a>(&'a self, shop: &'a Shop, intent: &'a Intent, key: &'a str) -> Going<'a, Outcome> {
        Box::pin(place(shop, intent, key))
    }
}

async fn place(shop: &Shop, intent: &Intent, token: &str) -> Result<Outcome, ShopError> {
    let is_ours = if shop.has(Defect::TokenCheckThenDelete) {
        d62_token_check_then_delete::consume(shop, &intent.user, token).await?
    } else {
        submit_token::consume(shop, &intent.user, token).await?
    };
    if !is_ours {
        return if shop.has(Defect::TokenReissuedIsNewOrder) {
            d63_token_reissued_is_new_order::place(shop, intent).await
        } else {
            used(shop, intent).await
        };
    }
    let placed = under_lease::place(shop, intent).await;
    let is_free_again = match &placed {
        Ok(outcome) => outcome.came_to_nothing(),
        Err(error) => error.certainly_had_no_effect(),
    };
    if is_free_again && let Err(error) = submit_token::give_back(shop, &intent.user, token).await {
        speak::problem(shop.settings.instance, "a submit token is lost", &error);
    }
    placed
}

async fn used(shop: &Shop, intent: &Intent) -> Result<Outcome, ShopError> {
    let mut connection = OrderConnection::acquire(shop).await?;
    let found = order::find(shop, &mut connection, intent).await?;
    Ok(match found {
        Some(winner) => Outcome::of_winner(shop, intent, winner),
        None => Outcome::TokenUsed,
    })
}
