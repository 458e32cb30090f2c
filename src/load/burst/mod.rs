//! A burst: everything is prepared, then the last bytes leave as its arrival says.
//!
//! [`Load::crowd`] reads as the story of it. It owns every client task and awaits them all; a burst
//! that is stopped or can't be released still writes down what became of each attempt.

mod arrival;
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
use crate::profile::Arrival;

pub use frozen::{Freezer, Freezing};

pub(super) use release::Crowding;
pub(super) use volley::sleep_until;

use super::asker::Asker;
use super::compose::PlannedAttempt;
use super::desk::Desk;
use super::error::LoadError;
use super::run::Load;
use super::tasks::joined;
use super::witness::Leaving;
use board::{Board, GivenUp};
use client::{Client, Ready};
use volley::Trigger;

/// Clients whose word "ready" may wait to be heard.
const WAITING: usize = 256;

impl Load {
    /// Sends a crowd's attempts together and waits for all of its clients, retries included. How
    /// it was released; nothing when it was stopped before that. `halt` is the crowd's own: a
    /// release that fails cancels it.
    pub(super) async fn crowd(
        &self,
        phase: PhaseId,
        crowding: &Crowding,
        planned: Vec<PlannedAttempt>,
        desk: &Arc<Desk>,
        halt: &CancellationToken,
    ) -> Result<Option<BurstFacts>, LoadError> {
        let seats: Vec<_> = planned.iter().map(|one| self.seat(one)).collect();
        let board = Arc::new(Board::of(planned.len(), self.witness.clone()));
        let begun = Instant::now();
        let patience = self.settings.client.timeout;
        let own = (crowding.arrival != Arrival::AtOnce).then_some(patience);
        let (mut clients, ready) = start_clients(planned, phase, own, desk, &board);
        let release = match gather(&seats, ready, halt).await {
            None => {
                board.close();
                board.give_up(GivenUp::Interrupted);
                Ok(None)
            }
            Some(triggers) => {
                let connecting = begun.elapsed();
                let released = self.release(phase, crowding, triggers, &board, halt).await;
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
        see_off(&mut clients, &board, patience, halt).await;
        release
    }

    fn seat(&self, planned: &PlannedAttempt) -> Seat {
        let who = Leaving {
            attempt: planned.id,
            intent: planned.letter.intent,
            instance: self.targets()[planned.target].id,
        };
        Seat { key: planned.group, target: planned.target, who }
    }

    /// Tells whoever wants to know that these leave.
    fn tell_leaving<'a>(&self, mut triggers: impl Iterator<Item = &'a Trigger>) {
        if let Some(witness) = &self.witness {
            let now = self.settings.clock.now();
            witness.leaving(&mut triggers.by_ref().map(|trigger| trigger.who), now, now);
        }
    }

    /// Tells whoever wants to know that these leave, each so long from now.
    fn tell_schedule(&self, schedule: &[(Duration, Trigger)]) {
        if let Some(witness) = &self.witness {
            let now = self.settings.clock.now();
            for (due, trigger) in schedule {
                witness.leaving(&mut std::iter::once(trigger.who), now, now.plus(*due));
            }
        }
    }
}

/// What is known of an attempt before it is connected.
#[derive(Clone, Copy, Debug)]
struct Seat {
    key: u32,
    target: usize,
    who: Leaving,
}

fn start_clients(
    planned: Vec<PlannedAttempt>,
    phase: PhaseId,
    patience: Option<Duration>,
    desk: &Arc<Desk>,
    board: &Arc<Board>,
) -> (JoinSet<()>, mpsc::Receiver<Ready>) {
    let (sender, ready) = mpsc::channel(WAITING);
    let mut clients = JoinSet::new();
    for (place, planned) in planned.into_iter().enumerate() {
        let client = Client {
            asker: Asker::new(Arc::clone(desk), Arc::clone(&planned.letter)),
            board: Arc::clone(board),
            phase,
            planned,
            place,
            patience,
            ready: sender.clone(),
        };
        clients.spawn(client.run());
    }
    (clients, ready)
}

/// Waits until every client is ready, or has nothing to be released; `None` when stopped meanwhile.
/// The triggers stand in the order of the plan, as the seats do.
async fn gather(
    seats: &[Seat],
    mut ready: mpsc::Receiver<Ready>,
    stop: &CancellationToken,
) -> Option<Vec<Trigger>> {
    let mut triggers = Vec::with_capacity(seats.len());
    for _ in 0..seats.len() {
        let Ready { place, held } = tokio::select! {
            biased;
            () = stop.cancelled() => return None,
            ready = ready.recv() => ready?,
        };
        let Seat { key, target, who } = seats[place];
        triggers.extend(held.map(|held| Trigger { place, key, target, who, held }));
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
