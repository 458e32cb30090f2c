//! What all clients of a burst share: settings, connections in the making, and the way to the
//! journal.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use crate::history::{
    Attempt, AttemptId, Cause, Clock, IntentId, Outcome, RunTime, Sent, VariantId,
};
use crate::profile::{ClientSettings, Contract, Request};

use super::bodies::Digested;
use super::dice::Dice;
use super::files::Room;
use super::http::{Connection, Reply, ReplyBudget, ReplyReader};
use super::letter::Letter;
use super::meanings::Meanings;
use super::outcome::{Seen, as_mismatch, classify, may_be_mismatch, token};
use super::progress::Progress;
use super::scribe::Ended;
use super::session::Session;
use super::target::Peer;
use super::witness::{Leaving, Witness};

/// Connections that may be in the making at once.
pub(super) const CONNECTS_IN_FLIGHT: usize = 256;

/// Bytes that all replies in flight may take together.
pub(super) const REPLY_BYTES: usize = 32 * 1024 * 1024;

/// What an attempt says when the drill ended before it did.
pub(super) const INTERRUPTED: &str = "given up because the drill was interrupted";

/// The shared things of one burst, or of one round of resolving.
pub(super) struct Desk {
    pub clock: Clock,
    pub client: ClientSettings,
    pub contract: Contract,
    pub requests: Vec<Request>,
    pub peers: Vec<Peer>,
    pub dice: Dice,
    pub budget: ReplyBudget,
    pub connects: Semaphore,
    pub next_attempt: Arc<AtomicU32>,
    pub meanings: Arc<Meanings>,
    pub progress: Arc<Progress>,
    pub stop: CancellationToken,
    pub room: Room,
    pub ended: mpsc::Sender<Ended>,
    pub witness: Option<Arc<dyn Witness>>,
}

/// An attempt at its end, before its outcome is known.
pub(super) struct Ending {
    pub id: AttemptId,
    pub cause: Cause,
    /// Place of the instance among the peers.
    pub target: usize,
    /// When a steady load had planned it.
    pub planned: Option<RunTime>,
    pub sent: Sent,
    pub first_byte: Option<RunTime>,
    pub last_byte: Option<RunTime>,
    pub released: Option<RunTime>,
    pub completed: RunTime,
    pub end: Result<Reply, String>,
}

impl Ending {
    /// An attempt of which nothing has left yet, given up for this reason unless more is said.
    pub const fn unsent(
        id: AttemptId,
        cause: Cause,
        target: usize,
        completed: RunTime,
        reason: String,
    ) -> Self {
        Self {
            id,
            cause,
            target,
            planned: None,
            sent: Sent::Nothing,
            first_byte: None,
            last_byte: None,
            released: None,
            completed,
            end: Err(reason),
        }
    }
}

/// What is known of an attempt's letter once it has been answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addressed<'a> {
    pub intent: IntentId,
    /// Place of the request among the profile's.
    pub request: usize,
    pub variant: Option<VariantId>,
    pub token_at: Option<&'a str>,
    /// Texts that must not be written down.
    pub secrets: &'a [String],
}

impl<'a> From<&'a Letter> for Addressed<'a> {
    fn from(letter: &'a Letter) -> Self {
        Self {
            intent: letter.intent,
            request: letter.request,
            variant: letter.variant,
            token_at: letter.token_at.as_deref(),
            secrets: letter.session.as_deref().map_or(&[], Session::secrets),
        }
    }
}

/// What an attempt came to.
#[derive(Clone, Debug)]
pub(super) struct Answered {
    pub outcome: Outcome,
    /// The order id or the token of a success.
    pub given: Option<Arc<str>>,
}

impl Desk {
    /// Opens a connection, when it's this client's turn.
    pub async fn open(&self, target: usize) -> Result<Connection, String> {
        let _turn = self.connects.acquire().await.expect("the semaphore is never closed");
        Connection::open(&self.peers[target], self.client.connect_timeout).await
    }

    pub fn reader(&self) -> ReplyReader {
        ReplyReader::new(self.client.longest_reply, &self.budget)
    }

    /// The number of an attempt that nobody planned.
    pub fn next_attempt(&self) -> AttemptId {
        AttemptId(self.next_attempt.fetch_add(1, Ordering::Relaxed))
    }

    /// Says that an attempt leaves now.
    pub fn leaving(&self, attempt: AttemptId, intent: IntentId, target: usize) {
        if let Some(witness) = &self.witness {
            let leaving = Leaving { attempt, intent, instance: self.peers[target].id };
            let now = self.clock.now();
            witness.leaving(&mut std::iter::once(leaving), now, now);
        }
    }

    /// Reads an attempt's outcome and writes the attempt down.
    pub async fn finish(&self, ending: Ending, letter: Addressed<'_>) -> Answered {
        if let Some(witness) = &self.witness {
            witness.ended(ending.id);
        }
        let seen = match &ending.end {
            Ok(reply) => Seen::Reply(reply),
            Err(what) => Seen::Failure { sent: ending.sent, what },
        };
        let mut reading = classify(&self.contract, &self.requests[letter.request], seen);
        if reading.outcome == Outcome::Pending
            && self.meanings.is_changed(letter.intent, ending.first_byte)
            && ending.end.as_ref().is_ok_and(|reply| may_be_mismatch(&self.contract, reply))
        {
            reading = as_mismatch(reading);
        }
        if reading.outcome == Outcome::Acknowledged {
            self.meanings.acknowledged(letter.intent, ending.completed);
        }
        let mut order: Option<Arc<str>> = reading.order.take().map(Into::into);
        let mut given = order.clone();
        if let (Some(pointer), Ok(reply)) = (letter.token_at, &ending.end) {
            given = token(reply, pointer).map(Into::into);
            order = None;
            if given.is_some() {
                (reading.outcome, reading.failure) = (Outcome::Acknowledged, None);
            }
        }
        let outcome = reading.outcome;
        let (status, body) = match ending.end {
            Ok(reply) => (Some(reply.status), Some(Digested::of(reply.body, letter.secrets))),
            Err(_) => (None, None),
        };
        // The scribe ends after the last sender, and this is one.
        let place = self.ended.reserve().await;
        let attempt = Attempt {
            id: ending.id,
            intent: letter.intent,
            cause: ending.cause,
            instance: self.peers[ending.target].id,
            variant: letter.variant,
            sent: ending.sent,
            planned: ending.planned,
            first_byte: ending.first_byte,
            last_byte: ending.last_byte,
            released: ending.released,
            completed: Some(ending.completed),
            outcome,
            status,
            body: None,
            order,
            replay_marker: reading.replay_marker,
            waiting: reading.waiting,
            refusal: reading.refusal.map(Into::into),
            failure: reading.failure.map(Into::into),
        };
        self.progress.add_answered();
        if let Ok(place) = place {
            place.send(Ended { attempt, body });
        }
        Answered { outcome, given }
    }
}
