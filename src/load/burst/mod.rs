//! A burst: everything is prepared, then all last bytes leave in one instant.
//!
//! [`Load::run_burst`] reads as the story of it. It owns every client task and awaits them all; a
//! burst that is stopped or can't be released still writes down what became of each attempt.

mod board;
mod client;
mod frozen;
mod gauge;
mod release;
mod volley;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::history::{BurstFacts, Fact, PhaseId};
use crate::profile::SameKey;

pub use frozen::{Freezer, Freezing};

use super::asker::Asker;
use super::desk::Desk;
use super::error::LoadError;
use super::files;
use super::plan::Plan;
use super::run::Load;
use super::scribe::Tally;
use super::tasks::joined;
use board::{Board, GivenUp};
use client::{Client, Ready};
use release::Means;
use volley::Trigger;

/// Clients whose word "ready" may wait to be heard.
const WAITING: usize = 256;

/// What a burst came to; the facts are in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BurstSummary {
    /// Attempts of the burst itself.
    pub planned: u64,
    /// How it was released; `None` when it was interrupted before that.
    pub release: Option<BurstFacts>,
    /// All attempts, retries included.
    pub tally: Tally,
    /// Whether `stop` ended it early.
    pub interrupted: bool,
}

impl Load {
    /// Runs one burst to its end: the replies, and the retries of its clients. `freezer` is needed
    /// for a frozen release only. `stop` ends it early and cleanly: what was sent is written down.
    pub async fn run_burst(
        &mut self,
        phase: PhaseId,
        burst: &SameKey,
        freezer: Option<Arc<dyn Freezer>>,
        stop: &CancellationToken,
    ) -> Result<BurstSummary, LoadError> {
        let means = Means::of(burst.release, freezer)?;
        let room = self.make_room(burst)?;
        let plan = self.plan(phase, burst)?;
        let planned = plan.attempts.len() as u64;
        self.settings.progress.add_planned(planned);
        for intent in &plan.intents {
            self.settings.recorder.record(Fact::Intent(intent.clone())).await;
        }
        let halt = stop.child_token();
        let (desk, scribe) = self.desk(room, &halt).await;
        let board = Arc::new(Board::default());
        let begun = Instant::now();
        let (mut clients, ready) = start_clients(&plan, burst.request, &desk, &board);
        drop(desk);
        let release = match gather(&plan, ready, stop).await {
            None => {
                board.release(Vec::new());
                board.give_up(GivenUp::Interrupted);
                Ok(None)
            }
            Some(triggers) => {
                let connecting = begun.elapsed();
                let released = self.release(phase, &means, triggers, planned, &board).await;
                released
                    .map(|facts| Some(BurstFacts { connecting_us: micros(connecting), ..facts }))
            }
        };
        match &release {
            Ok(Some(facts)) => self.settings.recorder.record(Fact::Burst(facts.clone())).await,
            Ok(None) => {}
            Err(error) => {
                halt.cancel(); // First, or a client that is given up could still ask again.
                board.give_up(GivenUp::NotReleased(error.to_string()));
            }
        }
        see_off(&mut clients, &board, self.settings.client.timeout, stop).await;
        let tally = self.book(&plan.intents, &scribe.finish().await);
        Ok(BurstSummary { planned, release: release?, tally, interrupted: stop.is_cancelled() })
    }

    fn make_room(&self, burst: &SameKey) -> Result<files::Room, LoadError> {
        let clients = u64::from(burst.users) * u64::from(burst.threads);
        let asked = 1 + u64::from(self.settings.client.retries.at_most);
        let instances = asked.min(self.targets().len() as u64);
        files::make_room(clients, clients.saturating_mul(instances))
    }
}

fn start_clients(
    plan: &Plan,
    request: usize,
    desk: &Arc<Desk>,
    board: &Arc<Board>,
) -> (JoinSet<()>, mpsc::Receiver<Ready>) {
    let (sender, ready) = mpsc::channel(WAITING);
    let mut clients = JoinSet::new();
    for (place, &planned) in plan.attempts.iter().enumerate() {
        let intent = &plan.intents[planned.intent];
        let rendered = Arc::clone(&plan.rendered[planned.intent]);
        let client = Client {
            asker: Asker::new(Arc::clone(desk), intent.id, request, rendered),
            board: Arc::clone(board),
            phase: intent.phase,
            planned,
            place,
            ready: sender.clone(),
        };
        clients.spawn(client.run());
    }
    (clients, ready)
}

/// Waits until every client is ready, or has nothing to be released; `None` when stopped meanwhile.
/// The triggers stand in the order of the plan, which is key order.
async fn gather(
    plan: &Plan,
    mut ready: mpsc::Receiver<Ready>,
    stop: &CancellationToken,
) -> Option<Vec<Trigger>> {
    let mut triggers = Vec::with_capacity(plan.attempts.len());
    for _ in 0..plan.attempts.len() {
        let Ready { place, held } = tokio::select! {
            biased;
            () = stop.cancelled() => return None,
            ready = ready.recv() => ready?,
        };
        let planned = plan.attempts[place];
        let (key, target) = (planned.intent, planned.target);
        triggers.extend(held.map(|held| Trigger { place, key, target, held }));
    }
    triggers.sort_unstable_by_key(|trigger| trigger.place);
    Some(triggers)
}

/// Awaits all clients; ends the wait for replies after `patience`, and everything on `stop`.
async fn see_off(
    clients: &mut JoinSet<()>,
    board: &Board,
    patience: Duration,
    stop: &CancellationToken,
) {
    let mut deadline = std::pin::pin!(tokio::time::sleep(patience));
    let (mut is_late, mut is_stopped) = (false, false);
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled(), if !is_stopped => {
                is_stopped = true;
                board.give_up(GivenUp::Interrupted);
            }
            () = &mut deadline, if !is_late => {
                is_late = true;
                board.give_up(GivenUp::TimedOut(patience));
            }
            client = clients.join_next() => match client {
                Some(client) => joined(client).unwrap_or_default(),
                None => return,
            },
        }
    }
}

fn micros(span: Duration) -> u64 {
    span.as_micros() as u64
}
