//! Writes down attempts as they end.
//!
//! One task does it, because a body must stand in the journal before the first attempt that names
//! it, whichever of 4,000 clients saw it first. The intents of a steady load are written down by it
//! too, in the order of their numbers and before the first attempt that names one of them: so no
//! client has to wait for its turn to say who it is.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;

use crate::history::{Attempt, Cause, Fact, IntentId, Lines, Outcome, Recorder};

use super::bodies::{Bodies, Digested};
use super::decided::Decided;
use super::steady::{Draft, Stream};
use super::tasks::joined;

/// Attempts that may wait for the scribe.
const WAITING: usize = 1_024;

/// Attempts that it writes down in one go.
const BATCH: usize = 128;

/// An attempt that has ended, its body not numbered yet.
#[derive(Debug)]
pub(super) struct Ended {
    pub attempt: Attempt,
    pub body: Option<Digested>,
}

/// How many attempts had which outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub acknowledged: u64,
    pub pending: u64,
    pub parked: u64,
    pub refused: u64,
    pub unknown: u64,
    pub not_sent: u64,
    /// Of all of these, how many asked again.
    pub retries: u64,
}

impl Tally {
    /// Attempts of which at least one byte left.
    pub const fn sent(&self) -> u64 {
        self.acknowledged + self.pending + self.parked + self.refused + self.unknown
    }

    fn count(&mut self, attempt: &Attempt) {
        self.retries += u64::from(matches!(attempt.cause, Cause::Retry | Cause::Resolve));
        *match attempt.outcome {
            Outcome::Acknowledged => &mut self.acknowledged,
            Outcome::Pending => &mut self.pending,
            Outcome::Parked => &mut self.parked,
            Outcome::Refused => &mut self.refused,
            Outcome::Unknown => &mut self.unknown,
            Outcome::NotSent => &mut self.not_sent,
        } += 1;
    }
}

/// What a scribe remembers of the attempts that it wrote down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Account {
    pub tally: Tally,
    /// Intents with a definite outcome.
    pub decided: Decided,
    /// Order ids of successes, a steady load's apart: there may be a million of them.
    pub acknowledged: Vec<Arc<str>>,
    /// The longest time from an attempt's release to its end.
    pub longest: Duration,
    /// Intents of a steady load that stand in the journal.
    pub streamed: u32,
}

impl Account {
    fn count(&mut self, attempt: &Attempt, is_steady: bool) {
        self.tally.count(attempt);
        if let (Some(released), Some(completed)) = (attempt.released, attempt.completed) {
            self.longest = self.longest.max(completed.since(released));
        }
        if attempt.outcome.is_definite() {
            self.decided.insert(attempt.intent);
        }
        if !is_steady {
            self.acknowledged.extend(attempt.order.clone());
        }
    }
}

/// A scribe at work; it ends when the last sender has gone.
pub(super) struct Scribe {
    task: tokio::task::JoinHandle<Account>,
}

impl Scribe {
    /// Starts one; `stream` is the steady load that it also writes the intents of.
    pub fn start(
        recorder: Recorder,
        bodies: Arc<Mutex<Bodies>>,
        stream: Option<Arc<Stream>>,
    ) -> (Self, mpsc::Sender<Ended>) {
        let (sender, ended) = mpsc::channel(WAITING);
        (Self { task: tokio::spawn(write_down(ended, recorder, bodies, stream)) }, sender)
    }

    /// Waits until everything is written down.
    pub async fn finish(self) -> Account {
        joined(self.task.await).unwrap_or_default()
    }
}

async fn write_down(
    mut ended: mpsc::Receiver<Ended>,
    recorder: Recorder,
    bodies: Arc<Mutex<Bodies>>,
    stream: Option<Arc<Stream>>,
) -> Account {
    let (mut account, mut batch, mut lines) = (Account::default(), Vec::new(), recorder.lines());
    let mut introduced = stream.map(|stream| Introduced { draft: stream.draft(), stream });
    while ended.recv_many(&mut batch, BATCH).await > 0 {
        for Ended { attempt, body } in &mut batch {
            if let Some(introduced) = &mut introduced {
                introduced.up_to(attempt.intent, &mut account.streamed, &mut lines);
            }
            if let Some(body) = body {
                let (id, fact) = bodies.lock().unwrap_or_else(PoisonError::into_inner).number(body);
                attempt.body = Some(id);
                fact.into_iter().for_each(|body| lines.add(Fact::Body(body)));
            }
            account.count(attempt, introduced.is_some());
            lines.add_attempt(attempt);
            if lines.are_many() {
                recorder.record_all(&mut lines).await;
            }
        }
        batch.clear();
        recorder.record_all(&mut lines).await;
        // Others go first, so that more than one is there the next time.
        tokio::task::yield_now().await;
    }
    account
}

/// The intents of a steady load, written down before the first attempt that names them.
struct Introduced {
    stream: Arc<Stream>,
    draft: Draft,
}

impl Introduced {
    /// Writes down those that haven't been, this one included; `count` of them have.
    fn up_to(&mut self, last: IntentId, count: &mut u32, lines: &mut Lines) {
        while self.stream.id(*count) <= last {
            lines.add_intent(self.stream.write_intent(*count, &mut self.draft));
            *count += 1;
        }
    }
}
