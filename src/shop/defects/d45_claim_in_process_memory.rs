//! D45: claims are remembered in the memory of the process.
//!
//! Right for one instance, until it restarts. A second instance knows of nothing, and a retry
//! goes where the load balancer sends it.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
};

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::{
    answer::Answer,
    chain::{Outcome, under_lease},
    error::ShopError,
    fingerprint::{self, Fingerprint},
    intent::Intent,
    state::Shop,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::ClaimInProcessMemory,
    id: "D45",
    switch: "claim-in-process-memory",
    does: "Records are kept in the instance's memory, so another instance knows of none.",
    partners: &[Partner::Defect(Defect::NoUniqueConstraint)],
    needs: &[Need::Record],
    finds: "burst.same-key at two instances",
};

type Claims = HashMap<String, (Fingerprint, Option<Answer>)>;

static CLAIMS: LazyLock<Mutex<Claims>> = LazyLock::new(Mutex::default);

pub async fn place(shop: &Shop, intent: &Intent, key: &str) -> Result<Outcome, ShopError> {
    let key = shop.scope.record_key(&intent.user, key);
    if let Some(known) = claim(shop, intent, &key) {
        return Ok(known);
    }
    let placed = under_lease::place(shop, intent).await;
    match &placed {
        Ok(Outcome::Created(order) | Outcome::Replayed(order)) => {
            let record = (order.fingerprint.clone(), Some(Answer::created(order)));
            claims().insert(key, record);
        }
        _ => {
            claims().remove(&key);
        }
    }
    placed
}

/// `None` if the claim is ours now.
fn claim(shop: &Shop, intent: &Intent, key: &str) -> Option<Outcome> {
    let mut claims = claims();
    let Some((stored, answer)) = claims.get(key) else {
        claims.insert(key.to_owned(), (intent.fingerprint.clone(), None));
        return None;
    };
    Some(match answer {
        _ if !fingerprint::is_same(shop.defects, stored, &intent.fingerprint) => {
            Outcome::Mismatch { winner: None }
        }
        Some(answer) => Outcome::Stored(answer.clone()),
        None => Outcome::InProgress,
    })
}

fn claims() -> MutexGuard<'static, Claims> {
    CLAIMS.lock().unwrap_or_else(PoisonError::into_inner)
}
