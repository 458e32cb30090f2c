//! D63: a token that was used is replaced by a new one in silence.
//!
//! Meant to spare the buyer an error. But the token was all that said "the same click", so the
//! second click becomes a second order.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::{
    chain::{Outcome, under_lease},
    error::ShopError,
    intent::{Intent, Name},
    state::Shop,
    token::Token,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::TokenReissuedIsNewOrder,
    id: "D63",
    switch: "token-reissued-is-new-order",
    does: "A used submit token is replaced by a new one, and another order placed with that.",
    partners: &[Partner::Flag { name: "idempotency", value: "token" }],
    needs: &[Need::Token],
    finds: "burst.submit-token",
};

pub async fn place(shop: &Shop, intent: &Intent) -> Result<Outcome, ShopError> {
    let reissued = Intent { name: Name::Key(Token::fresh().to_string()), ..intent.clone() };
    under_lease::place(shop, &reissued).await
}
