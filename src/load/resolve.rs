//! The resolver: asks for intents without a definite outcome until there is one.
//!
//! It keeps nothing of the burst but each phase's request: the bytes are rendered again from the
//! intent and the seed, and are the same. A few intents are asked for at once and each of them one
//! request at a time, since this is repair and not load.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::history::{AttemptId, Cause, Intent, IntentId, Outcome, RunTime};

use super::asker::Asker;
use super::desk::Desk;
use super::error::LoadError;
use super::run::Load;
use super::tasks::joined;
use super::{files, render};

/// Intents that are asked for at once.
const AT_ONCE: usize = 64;

/// What asking again came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    pub intent: IntentId,
    /// Of the last attempt; `None` when the time was over before the first one.
    pub outcome: Option<Outcome>,
    pub attempts: u32,
}

impl Load {
    /// Sends the identical request of each intent again until its outcome is definite, `until` has
    /// come, or `stop` is cancelled. The answers stand in the order of the intents.
    pub async fn ask_again(
        &mut self,
        intents: &[Intent],
        until: RunTime,
        stop: &CancellationToken,
    ) -> Result<Vec<Resolved>, LoadError> {
        if self.targets().is_empty() {
            return Err(LoadError::NoInstance);
        }
        let at_once = AT_ONCE.min(intents.len()) as u64;
        let room = files::make_room(at_once, at_once * self.targets().len() as u64)?;
        let (desk, scribe) = self.desk(room, stop).await;
        let mut askers = VecDeque::with_capacity(intents.len());
        for intent in intents {
            let request = self.request_of(intent.phase);
            let rendered =
                render::render(self.request(request)?, intent, &desk.dice, self.targets())?;
            askers.push_back((
                intent.clone(),
                Asker::new(Arc::clone(&desk), intent.id, request, rendered),
            ));
        }
        drop(desk);
        let mut resolved = resolve_all(askers, until).await;
        self.book(&[], &scribe.finish().await);
        let place: HashMap<_, _> =
            intents.iter().enumerate().map(|(place, intent)| (intent.id, place)).collect();
        resolved.sort_by_key(|answer| place[&answer.intent]);
        Ok(resolved)
    }
}

async fn resolve_all(mut askers: VecDeque<(Intent, Asker)>, until: RunTime) -> Vec<Resolved> {
    let mut at_work = JoinSet::new();
    let mut resolved = Vec::with_capacity(askers.len());
    loop {
        while at_work.len() < AT_ONCE
            && let Some((intent, asker)) = askers.pop_front()
        {
            at_work.spawn(resolve(intent, asker, until));
        }
        match at_work.join_next().await {
            Some(answer) => resolved.extend(joined(answer)),
            None => return resolved,
        }
    }
}

async fn resolve(intent: Intent, mut asker: Asker, until: RunTime) -> Resolved {
    let desk: Arc<Desk> = Arc::clone(&asker.desk);
    let retries = desk.client.retries;
    let mut answer = Resolved { intent: intent.id, outcome: None, attempts: 0 };
    while desk.clock.now() < until && !desk.stop.is_cancelled() {
        let target = (intent.id.0 as usize + answer.attempts as usize) % desk.peers.len();
        let outcome = asker.ask(Cause::Resolve, target, Some(until)).await;
        answer.outcome = Some(outcome);
        answer.attempts += 1;
        if outcome.is_definite() {
            break;
        }
        let client = AttemptId(u32::MAX - intent.id.0);
        let (first, longest) = (retries.first_wait, retries.longest_wait);
        let wait = desk.dice.wait(intent.phase, client, answer.attempts - 1, first, longest);
        tokio::select! {
            () = desk.stop.cancelled() => {}
            () = tokio::time::sleep(wait.min(until.since(desk.clock.now()))) => {}
        }
    }
    answer
}
