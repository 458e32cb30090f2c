//! The resolver: asks for intents without a definite outcome until there is one.
//!
//! It sends the original bytes, which the load has kept for every intent that is undecided (those of
//! a steady load are written again from the seed, and are the same). A few intents are asked for at
//! once and each of them one request at a time, since this is repair and not load.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::history::{AttemptId, Cause, Intent, IntentId, Outcome, RunTime};

use super::asker::Asker;
use super::desk::Desk;
use super::error::LoadError;
use super::files;
use super::run::{Kept, Load};
use super::scripts::AT_ONCE;
use super::tasks::joined;

/// What asking again came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    pub intent: IntentId,
    /// Of the last attempt; `None` when the time was over before the first one.
    pub outcome: Option<Outcome>,
    pub attempts: u32,
}

impl Load {
    /// Sends the original request of each intent again until its outcome is definite, `until` has
    /// come, or `stop` is cancelled. The answers stand in the order of the intents, which must be
    /// undecided ones; others aren't asked for.
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
        let room =
            files::make_room(at_once, at_once * self.targets().len() as u64, self.files_of_others)?;
        let (desk, scribe) = self.desk(room, stop, None).await;
        let waiting: VecDeque<_> = intents
            .iter()
            .filter_map(|intent| Some((intent.clone(), self.kept(intent.id)?)))
            .collect();
        let resolved = resolve_all(&desk, waiting, until).await;
        drop(desk);
        self.book(&scribe.finish().await);
        let place: HashMap<_, _> =
            intents.iter().enumerate().map(|(place, intent)| (intent.id, place)).collect();
        let mut resolved = resolved?;
        resolved.sort_by_key(|answer| place[&answer.intent]);
        Ok(resolved)
    }
}

async fn resolve_all(
    desk: &Arc<Desk>,
    mut waiting: VecDeque<(Intent, Kept)>,
    until: RunTime,
) -> Result<Vec<Resolved>, LoadError> {
    let mut at_work = JoinSet::new();
    let mut resolved = Vec::with_capacity(waiting.len());
    loop {
        while at_work.len() < AT_ONCE
            && let Some((intent, kept)) = waiting.pop_front()
        {
            let asker = Asker::new(Arc::clone(desk), kept.letter(&intent)?);
            at_work.spawn(resolve(intent, asker, until));
        }
        match at_work.join_next().await {
            Some(answer) => resolved.extend(joined(answer)),
            None => return Ok(resolved),
        }
    }
}

async fn resolve(intent: Intent, mut asker: Asker, until: RunTime) -> Resolved {
    let desk: Arc<Desk> = Arc::clone(&asker.desk);
    let retries = desk.client.retries;
    let mut answer = Resolved { intent: intent.id, outcome: None, attempts: 0 };
    while desk.clock.now() < until && !desk.stop.is_cancelled() {
        let target = (intent.id.0 as usize + answer.attempts as usize) % desk.peers.len();
        let outcome = asker.ask(Cause::Resolve, target, Some(until)).await.outcome;
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
