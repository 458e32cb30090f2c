//! The idempotency record: was this intent handled before, and what was the answer?
//!
//! A hash with fingerprint, status, owner, started_at_ms, processing_until_ms, attempts and, once
//! known, the answer. The record lives for a day, its owner's right to be let alone for seconds.
//! Every step on it is one script, so that it is atomic, and names the owner, so that an owner
//! that was taken over can't overwrite its successor. The fingerprint is compared first, also
//! while the record is in progress: a changed intent under an old key must not be told to come
//! back later.

mod found;

pub use found::{Fields, Found, Ownership, State};

use std::{sync::LazyLock, time::Duration};

use redis::{Script, aio::ConnectionManager};

use crate::shop::{
    answer::Answer,
    defects::{
        Defect, d41_fingerprint_not_checked_in_progress, d46_claim_get_then_set,
        d49_in_progress_lives_as_long_as_the_record, d60_mismatch_changes_record,
        d61_record_expires_before_commit,
    },
    duration::as_millis,
    error::ShopError,
    fingerprint::{self, Fingerprint},
    intent::Intent,
    state::Shop,
    token::Token,
};

macro_rules! script {
    ($file:literal) => {
        LazyLock::new(|| Script::new(include_str!($file)))
    };
}
static CLAIM: LazyLock<Script> = script!("../lua/claim.lua");
static TAKE_OVER: LazyLock<Script> = script!("../lua/take_over.lua");
static PARK: LazyLock<Script> = script!("../lua/park.lua");
static SUCCEED: LazyLock<Script> = script!("../lua/succeed.lua");
static GIVE_BACK: LazyLock<Script> = script!("../lua/give_back.lua");

/// What the claim came to. The first four are the outcomes that the contract knows.
#[derive(Debug, PartialEq, Eq)]
pub enum Claim {
    Created,
    InProgress(Ownership),
    Success(Answer),
    FingerprintMismatch,
    /// In progress for longer than the processing lease.
    Overdue(Ownership),
    /// Left to a person, by the owner told.
    Unknown(Token),
}

/// The record of one intent, with the token of whoever works on it.
pub struct Record {
    pub key: String,
    pub owner: Token,
}

pub async fn load_scripts(redis: &mut ConnectionManager) -> Result<(), ShopError> {
    for script in [&CLAIM, &TAKE_OVER, &PARK, &SUCCEED, &GIVE_BACK] {
        script.load_async(redis).await.map_err(failed("loading the scripts of the record"))?;
    }
    Ok(())
}

/// Whether anybody has claimed this key, and it wasn't forgotten yet.
pub async fn is_there(shop: &Shop, user: &str, key: &str) -> Result<bool, ShopError> {
    redis::cmd("EXISTS")
        .arg(shop.scope.record_key(user, key))
        .query_async(&mut shop.redis.clone())
        .await
        .map_err(failed("looking for the record"))
}

impl Record {
    pub fn of(shop: &Shop, intent: &Intent, key: &str) -> Self {
        Self { key: shop.scope.record_key(&intent.user, key), owner: Token::fresh() }
    }

    pub async fn claim(&self, shop: &Shop, intent: &Intent) -> Result<Claim, ShopError> {
        let fields = if shop.has(Defect::ClaimGetThenSet) {
            d46_claim_get_then_set::claim(shop, self, intent).await?
        } else {
            self.claim_in_one_step(shop, intent).await?
        };
        let Some(fields) = fields else {
            return Ok(Claim::Created);
        };
        let found = Found::read(fields)?;
        let given = &intent.fingerprint;
        let is_same = if shop.has(Defect::FingerprintNotCheckedInProgress) {
            d41_fingerprint_not_checked_in_progress::is_same(&found, given)
        } else {
            fingerprint::is_same(shop.defects, &found.fingerprint, given)
        };
        if is_same {
            return Ok(known(found.state));
        }
        if shop.has(Defect::MismatchChangesRecord) {
            d60_mismatch_changes_record::keep(shop, self, given).await?;
        }
        Ok(Claim::FingerprintMismatch)
    }

    /// `None` if the claim was made.
    async fn claim_in_one_step(
        &self,
        shop: &Shop,
        intent: &Intent,
    ) -> Result<Option<Fields>, ShopError> {
        CLAIM
            .key(&self.key)
            .arg(intent.fingerprint.as_str())
            .arg(self.owner.as_str())
            .arg(as_millis(life_in_progress(shop)))
            .arg(as_millis(processing_lease(shop)))
            .invoke_async(&mut shop.redis.clone())
            .await
            .map_err(failed("claiming the record"))
    }

    /// False if another duplicate was faster.
    pub async fn take_over(&self, shop: &Shop, previous: &Token) -> Result<bool, ShopError> {
        TAKE_OVER
            .key(&self.key)
            .arg(previous.as_str())
            .arg(self.owner.as_str())
            .arg(as_millis(processing_lease(shop)))
            .invoke_async(&mut shop.redis.clone())
            .await
            .map_err(failed("taking the record over"))
    }

    /// Leaves the intent to a person. False if somebody else was faster.
    pub async fn park(&self, shop: &Shop) -> Result<bool, ShopError> {
        PARK.key(&self.key)
            .arg(self.owner.as_str())
            .invoke_async(&mut shop.redis.clone())
            .await
            .map_err(failed("parking the record"))
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

/// How long a record lives if nobody brings it to its end.
pub fn life_in_progress(shop: &Shop) -> Duration {
    if shop.has(Defect::RecordExpiresBeforeCommit) {
        d61_record_expires_before_commit::life(&shop.settings)
    } else {
        shop.settings.record_ttl
    }
}

/// How long an owner is let alone.
pub fn processing_lease(shop: &Shop) -> Duration {
    if shop.has(Defect::InProgressLivesAsLongAsTheRecord) {
        d49_in_progress_lives_as_long_as_the_record::processing_lease(&shop.settings)
    } else {
        shop.settings.processing_lease()
    }
}

pub fn failed(doing: &'static str) -> impl Fn(redis::RedisError) -> ShopError {
    move |source| ShopError::Redis { doing, source }
}

fn known(state: State) -> Claim {
    match state {
        State::Success(answer) => Claim::Success(answer),
        State::InProgress(ownership) if ownership.is_overdue => Claim::Overdue(ownership),
        State::InProgress(ownership) => Claim::InProgress(ownership),
        State::Unknown(owner) => Claim::Unknown(owner),
    }
}
