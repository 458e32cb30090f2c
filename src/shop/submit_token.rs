//! One-time tokens, handed out with the order form: they stop a double click, and nothing else.
//!
//! What `DEL` returns is the whole check: of any number of requests one is told 1. The token is
//! the order's key as well, so the unique index stands behind it. Used up is used up, except
//! where the attempt certainly came to nothing: then the token is put back for the retry.

use axum::http::StatusCode;

use super::{answer::Answer, duration::as_millis, error::ShopError, state::Shop, token::Token};

/// The answer of `POST /tokens`.
pub async fn issue(shop: &Shop, user: &str) -> Result<Answer, ShopError> {
    let token = Token::fresh();
    put(shop, user, token.as_str(), "issuing a submit token").await?;
    Ok(Answer::token(StatusCode::CREATED, &token))
}

/// True for one caller, and for it alone.
pub async fn consume(shop: &Shop, user: &str, token: &str) -> Result<bool, ShopError> {
    let deleted: i64 = redis::cmd("DEL")
        .arg(key(user, token))
        .query_async(&mut shop.redis.clone())
        .await
        .map_err(failed("consuming a submit token"))?;
    Ok(deleted == 1)
}

pub async fn give_back(shop: &Shop, user: &str, token: &str) -> Result<(), ShopError> {
    put(shop, user, token, "giving a submit token back").await
}

pub fn key(user: &str, token: &str) -> String {
    format!("submit:{user}:{token}")
}

pub fn failed(doing: &'static str) -> impl Fn(redis::RedisError) -> ShopError {
    move |source| ShopError::Redis { doing, source }
}

async fn put(shop: &Shop, user: &str, token: &str, doing: &'static str) -> Result<(), ShopError> {
    redis::cmd("SET")
        .arg(key(user, token))
        .arg(1)
        .arg("PX")
        .arg(as_millis(shop.settings.token_ttl))
        .query_async::<()>(&mut shop.redis.clone())
        .await
        .map_err(failed(doing))
}
