//! Where the clients of a burst learn what became of their last bytes, and when to give up; and
//! where those wait that leave when another one has been answered.
//!
//! A reply can be read before the thread that sent the last byte has said so. Clients therefore
//! build their attempts only once their departure is on the board.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::SetOnce;
use tokio_util::sync::CancellationToken;

use crate::history::{Clock, RunTime};
use crate::load::asker::too_late;
use crate::load::desk::INTERRUPTED;
use crate::load::witness::Witness;

use super::volley::{self, Trigger};

/// What became of one attempt's last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Departure {
    /// When it was handed to the kernel; `None` when it wasn't.
    pub last_byte: Option<RunTime>,
    /// When the target could begin.
    pub released: Option<RunTime>,
}

/// Why attempts without a reply are given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GivenUp {
    TimedOut(Duration),
    Interrupted,
    /// The burst never left, or the target couldn't be resumed.
    NotReleased(String),
}

/// Shared by a burst's conductor and its clients.
#[derive(Debug)]
pub(super) struct Board {
    departures: Vec<SetOnce<Departure>>,
    answers: Vec<SetOnce<RunTime>>,
    queue: Mutex<Queue>,
    witness: Option<Arc<dyn Witness>>,
    giving_up: CancellationToken,
    why: OnceLock<GivenUp>,
}

/// Who waits for whose answer.
#[derive(Debug, Default)]
struct Queue {
    /// By the place of the attempt that they wait for.
    followers: HashMap<usize, Vec<Trigger>>,
    /// Attempts that were answered before anybody waited for them.
    early: HashSet<usize>,
}

impl Board {
    /// A board for so many attempts.
    pub fn of(attempts: usize, witness: Option<Arc<dyn Witness>>) -> Self {
        Self {
            witness,
            departures: (0..attempts).map(|_| SetOnce::new()).collect(),
            answers: (0..attempts).map(|_| SetOnce::new()).collect(),
            queue: Mutex::default(),
            giving_up: CancellationToken::new(),
            why: OnceLock::new(),
        }
    }

    /// Says what became of one last byte; only the first word counts.
    pub fn depart(&self, place: usize, departure: Departure) {
        let _ = self.departures[place].set(departure);
    }

    /// Nothing more will leave: whoever has no departure yet has none.
    pub fn close(&self) {
        self.lock().followers.clear();
        for departure in &self.departures {
            let _ = departure.set(Departure::default());
        }
    }

    /// Ends all burst attempts that still wait for their replies; only the first reason counts.
    pub fn give_up(&self, why: GivenUp) {
        let _ = self.why.set(why);
        self.giving_up.cancel();
    }

    /// Waits until burst attempts are to be given up.
    pub async fn given_up(&self) {
        self.giving_up.cancelled().await;
    }

    /// The words for an attempt that was given up, with how far its reply had come.
    pub fn reason(&self, progress: &str) -> String {
        match self.why.get() {
            Some(GivenUp::TimedOut(patience)) => too_late(*patience, progress),
            Some(GivenUp::NotReleased(reason)) => format!("given up because {reason}"),
            Some(GivenUp::Interrupted) | None => INTERRUPTED.to_owned(),
        }
    }

    /// Waits for what became of the last byte of the attempt at `place`.
    pub async fn departure(&self, place: usize) -> Departure {
        *self.departures[place].wait().await
    }

    /// What became of it, if that is known yet.
    pub fn departed(&self, place: usize) -> Departure {
        self.departures[place].get().copied().unwrap_or_default()
    }

    /// The attempt at `place` has come to its end: whoever waited for that leaves.
    pub fn answered(&self, place: usize, at: RunTime, clock: Clock) {
        let _ = self.answers[place].set(at);
        let followers = {
            let mut queue = self.lock();
            queue.early.insert(place);
            queue.followers.remove(&place)
        };
        self.send(&followers.unwrap_or_default(), clock);
    }

    /// Waits for the end of the attempt at `place`.
    pub async fn answer(&self, place: usize) -> RunTime {
        *self.answers[place].wait().await
    }

    /// Lets these leave when the attempt at `place` has been answered, which may be at once.
    pub fn follow(&self, place: usize, followers: Vec<Trigger>, clock: Clock) {
        let at_once = {
            let mut queue = self.lock();
            if queue.early.contains(&place) {
                followers
            } else {
                queue.followers.insert(place, followers);
                Vec::new()
            }
        };
        self.send(&at_once, clock);
    }

    fn send(&self, triggers: &[Trigger], clock: Clock) {
        if let Some(witness) = self.witness.as_ref().filter(|_| !triggers.is_empty()) {
            let now = clock.now();
            witness.leaving(&mut triggers.iter().map(|trigger| trigger.who), now, now);
        }
        for (trigger, left) in triggers.iter().zip(volley::let_go(triggers)) {
            let left = left.map(|left| clock.at(left));
            self.depart(trigger.place, Departure { last_byte: left, released: left });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
