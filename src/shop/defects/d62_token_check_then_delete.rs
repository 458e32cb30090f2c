//! D62: a submit token is looked for, then deleted.
//!
//! A double click is two requests at one moment: both find the token, and both go on. What `DEL`
//! answers would tell them apart, and nobody reads it.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::{error::ShopError, state::Shop, submit_token};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::TokenCheckThenDelete,
    id: "D62",
    switch: "token-check-then-delete",
    does: "A submit token is consumed by GET and then DEL, so two requests can both have it.",
    partners: &[
        Partner::Defect(Defect::NoUniqueConstraint),
        Partner::Flag { name: "idempotency", value: "token" },
    ],
    needs: &[Need::Token],
    finds: "burst.submit-token",
};

pub async fn consume(shop: &Shop, user: &str, token: &str) -> Result<bool, ShopError> {
    let key = submit_token::key(user, token);
    let failed = submit_token::failed("consuming a submit token");
    let mut redis = shop.redis.clone();
    let found: Option<String> =
        redis::cmd("GET").arg(&key).query_async(&mut redis).await.map_err(&failed)?;
    if found.is_some() {
        redis::cmd("DEL").arg(&key).query_async::<()>(&mut redis).await.map_err(&failed)?;
    }
    Ok(found.is_some())
}
