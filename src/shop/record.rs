//! The idempotency record: was this intent handled before, and what was the answer?
//!
//! A hash at `idem:orders:{user}:{key}` with fingerprint, status, owner, started_at_ms, attempts
//! and, once known, the answer. Every step on it is one script, so that it is atomic, and names
//! the owner, so that an owner that was taken over can't overwrite its successor. The fingerprint is
//! compared first, also while the record is in progress: a changed intent under an old key must
//! not be told to come back later.

use std::sync::LazyLock;

use axum::http::StatusCode;
use redis::{Script, aio::ConnectionManager};

use super::{
    answer::Answer, duration::as_millis, error::ShopError, fingerprint::Fingerprint,
    intent::Intent, state::Shop, token::Token,
};

macro_rules! script {
    ($file:literal) => {
        LazyLock::new(|| Script::new(include_str!($file)))
    };
}
static CLAIM: LazyLock<Script> = script!("lua/claim.lua");
static TAKE_OVER: LazyLock<Script> = script!("lua/take_over.lua");
static SUCCEED: LazyLock<Script> = script!("lua/succeed.lua");
static GIVE_BACK: LazyLock<Script> = script!("lua/give_back.lua");

/// What the claim found. The first four are the outcomes that the contract knows.
#[derive(Debug, PartialEq, Eq)]
pub enum Claim {
    Created,
    InProgress,
    Success(Answer),
    FingerprintMismatch,
    /// In progress for longer than the processing lease, by the owner told.
    Overdue(Token),
}

/// The record of one intent, with the token of whoever works on it.
pub struct Record {
    key: String,
    owner: Token,
}

pub async fn load_scripts(redis: &mut ConnectionManager) -> Result<(), ShopError> {
    for script in [&CLAIM, &TAKE_OVER, &SUCCEED, &GIVE_BACK] {
        script
            .load_async(redis)
            .await
            .map_err(failed("loading the scripts of the record"))?;
    }
    Ok(())
}

impl Record {
    pub fn of(intent: &Intent) -> Self {
        Self {
            key: format!("idem:orders:{}:{}", intent.user, intent.key),
            owner: Token::fresh(),
        }
    }

    pub async fn claim(&self, shop: &Shop, intent: &Intent) -> Result<Claim, ShopError> {
        let reply: Vec<String> = CLAIM
            .key(&self.key)
            .arg(intent.fingerprint.as_str())
            .arg(self.owner.as_str())
            .arg(as_millis(shop.settings.record_ttl))
            .arg(as_millis(shop.settings.processing_lease()))
            .invoke_async(&mut shop.redis.clone())
            .await
            .map_err(failed("claiming the record"))?;
        decode(reply)
    }

    /// False if another duplicate was faster.
    pub async fn take_over(&self, shop: &Shop, previous: &Token) -> Result<bool, ShopError> {
        TAKE_OVER
            .key(&self.key)
            .arg(previous.as_str())
            .arg(self.owner.as_str())
            .invoke_async(&mut shop.redis.clone())
            .await
            .map_err(failed("taking the record over"))
    }

    /// The same record in the name of another owner.
    pub fn owned_by(&self, owner: Token) -> Self {
        let key = self.key.clone();
        Self { key, owner }
    }

    /// The fingerprint is given anew, because the record may have been claimed by a changed
    /// intent after the first one's record was lost: then it is repaired to the first one's.
    pub async fn succeed(
        &self,
        shop: &Shop,
        fingerprint: &Fingerprint,
        answer: &Answer,
    ) -> Result<(), ShopError> {
        SUCCEED
            .key(&self.key)
            .arg(self.owner.as_str())
            .arg(fingerprint.as_str())
            .arg(answer.status.as_u16())
            .arg(&answer.location)
            .arg(&answer.body)
            .arg(as_millis(shop.settings.record_ttl))
            .invoke_async(&mut shop.redis.clone())
            .await
            .map_err(failed("storing the answer in the record"))
    }

    /// Only for a claim that certainly had no effect.
    pub async fn give_back(&self, shop: &Shop) -> Result<(), ShopError> {
        GIVE_BACK
            .key(&self.key)
            .arg(self.owner.as_str())
            .invoke_async(&mut shop.redis.clone())
            .await
            .map_err(failed("giving the claim back"))
    }
}

fn failed(doing: &'static str) -> impl Fn(redis::RedisError) -> ShopError {
    move |source| ShopError::Redis { doing, source }
}

/// The reply of `claim.lua`.
fn decode(reply: Vec<String>) -> Result<Claim, ShopError> {
    let mut fields = reply.into_iter();
    let outcome = fields.next().unwrap_or_default();
    match (
        outcome.as_str(),
        fields.next(),
        fields.next(),
        fields.next(),
    ) {
        ("CREATED", None, ..) => Ok(Claim::Created),
        ("FINGERPRINT_MISMATCH", None, ..) => Ok(Claim::FingerprintMismatch),
        ("IN_PROGRESS", None, ..) => Ok(Claim::InProgress),
        ("IN_PROGRESS", Some(owner), None, _) => Ok(Claim::Overdue(Token::read(owner))),
        ("SUCCESS", Some(status), Some(location), Some(body)) => {
            let status = status
                .parse::<u16>()
                .ok()
                .and_then(|code| StatusCode::from_u16(code).ok())
                .ok_or(ShopError::RecordUnreadable {
                    what: "its status code",
                })?;
            Ok(Claim::Success(Answer {
                status,
                location,
                body,
            }))
        }
        _ => Err(ShopError::RecordUnreadable { what: "its status" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode_words(words: &[&str]) -> Result<Claim, ShopError> {
        decode(words.iter().map(|&word| word.to_owned()).collect())
    }

    #[test]
    fn each_outcome_of_a_claim_is_told_apart() {
        for (words, claim) in [
            (vec!["CREATED"], Claim::Created),
            (vec!["IN_PROGRESS"], Claim::InProgress),
            (vec!["FINGERPRINT_MISMATCH"], Claim::FingerprintMismatch),
            (
                vec!["IN_PROGRESS", "t1"],
                Claim::Overdue(Token::read("t1".to_owned())),
            ),
        ] {
            assert_eq!(decode_words(&words).expect("a known outcome"), claim);
        }
    }

    #[test]
    fn a_stored_answer_comes_back_as_it_was() {
        let body = r#"{"orderId":1417,"status":"CREATED","productId":42,"quantity":1}"#;
        let claim = decode_words(&["SUCCESS", "201", "/orders/1417", body]).expect("an answer");
        let answer = Answer {
            status: StatusCode::CREATED,
            location: "/orders/1417".to_owned(),
            body: body.to_owned(),
        };
        assert_eq!(claim, Claim::Success(answer));
    }

    #[test]
    fn a_reply_that_no_script_of_ours_gives_is_an_error() {
        for words in [
            &[][..],
            &["CREATED", "x"],
            &["SUCCESS"],
            &["SUCCESS", "abc", "", ""],
            &["DONE"],
        ] {
            assert!(decode_words(words).is_err(), "{words:?}");
        }
    }
}
