//! A burst, planned: its intents, the bytes of each, and who asks what where.
//!
//! Attempts stand in key order, because that is the order in which their last bytes leave. Numbers
//! run over the whole run, so that no two phases share a user or a key.

use crate::history::{AttemptId, Intent, IntentId, KeyForm, PhaseId, RunId};
use crate::profile::{Crowd, Products, Request};

use super::dice::Dice;
use super::error::LoadError;
use super::fingerprint::fingerprint;
use super::render::{self, Rendered};
use super::target::TargetInstance;

/// What a phase will send.
#[derive(Debug)]
pub(super) struct Plan {
    pub intents: Vec<Intent>,
    /// By the place of the intent in `intents`.
    pub rendered: Vec<Rendered>,
    /// In key order, instances in turn; ids without a gap.
    pub attempts: Vec<PlannedAttempt>,
}

/// One attempt of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlannedAttempt {
    pub id: AttemptId,
    /// Place of its intent in [`Plan::intents`].
    pub intent: usize,
    /// Place of its instance among the targets.
    pub target: usize,
}

/// What a plan is made from.
pub(super) struct Ground<'a> {
    pub run: RunId,
    pub phase: PhaseId,
    pub products: Products,
    pub dice: &'a Dice,
    pub targets: &'a [TargetInstance],
    pub first_intent: u32,
    pub first_attempt: u32,
}

/// Plans `burst.same-key`: identical bytes for every attempt of an intent.
pub(super) fn same_key(
    ground: &Ground<'_>,
    burst: &Crowd,
    request: &Request,
) -> Result<Plan, LoadError> {
    if ground.targets.is_empty() {
        return Err(LoadError::NoInstance);
    }
    let planned = u64::from(burst.users) * u64::from(burst.threads);
    let limit = u64::from(u32::MAX - ground.first_attempt.max(ground.first_intent)) / 2;
    if planned > limit || u64::from(burst.users) > limit {
        return Err(LoadError::TooMany { planned, limit });
    }
    let intents: Vec<_> =
        (0..burst.users).map(|index| intent(ground, burst, request, index)).collect();
    let rendered = intents
        .iter()
        .map(|intent| render::render(request, intent, ground.dice, ground.targets))
        .collect::<Result<_, _>>()?;
    let attempts = (0..planned as u32)
        .map(|index| PlannedAttempt {
            id: AttemptId(ground.first_attempt + index),
            intent: (index / burst.threads) as usize,
            target: index as usize % ground.targets.len(),
        })
        .collect();
    Ok(Plan { intents, rendered, attempts })
}

/// The user of the run's intent with this number.
pub fn user_name(run: RunId, intent: u32) -> String {
    format!("u-{run}-{intent:03}")
}

/// The key of the run's intent with this number.
pub fn key_name(run: RunId, intent: u32) -> String {
    format!("k-{run}-{intent:03}")
}

fn intent(ground: &Ground<'_>, burst: &Crowd, request: &Request, index: u32) -> Intent {
    let id = ground.first_intent + index;
    let run = ground.run;
    let mut intent = Intent {
        id: IntentId(id),
        phase: ground.phase,
        user: user_name(run, id),
        key: key_name(run, id),
        product: run.first_product() + i64::from(index % ground.products.count.max(1)),
        quantity: burst.quantity,
        fingerprint: String::new(),
        request: request.name.clone(),
        entity: None,
        key_form: KeyForm::Good,
    };
    let uuid = ground.dice.uuid(&intent);
    let body = request.body.as_ref().map(|body| body.render(&render::filling(&intent, &uuid)));
    intent.fingerprint = fingerprint(body.unwrap_or_default(), &request.ignored);
    intent
}
