//! A steady load: so many requests a second, whatever the target does.
//!
//! It is an open loop. Every attempt has a planned start, given by its number alone, and latency
//! counts from there: a target that stops for two seconds is charged for every request that should
//! have been sent meanwhile (no coordinated omission). Requests that find no free place wait, and
//! their waiting counts; the queue is the difference of two numbers, so that it costs no memory. An
//! attempt that waited for longer than the client's time-out isn't sent, and is told as such.
//! Clients don't ask again: what has no definite outcome is left to the resolver.

mod form;
mod pool;
mod schedule;
mod stream;
mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::history::{AttemptId, Intent, PhaseId};
use crate::profile::Rate;

use super::burst::sleep_until;
use super::desk::Desk;
use super::error::LoadError;
use super::files;
use super::herald::{herald, ready};
use super::phase::PhaseSummary;
use super::run::{Kept, Load};
use super::tasks::joined;
use pool::Pool;
use worker::Worker;

pub(super) use schedule::Schedule;
pub(super) use stream::{Draft, Stream};

/// Intents that are told of together.
const HERALDED_AT_ONCE: usize = 4_096;

impl Load {
    /// Runs a steady load to the end of its last reply.
    pub(super) async fn run_steady(
        &mut self,
        phase: PhaseId,
        rate: &Rate,
        stop: &CancellationToken,
    ) -> Result<PhaseSummary, LoadError> {
        let schedule = Schedule::new(rate);
        let planned = u64::from(schedule.attempts());
        let first_attempt = self.next_attempt.load(Ordering::Relaxed);
        let limit = u64::from(u32::MAX - first_attempt.max(self.next_intent)) / 2;
        if planned > limit {
            return Err(LoadError::TooMany { planned, limit });
        }
        let in_flight = self.settings.most_in_flight.clamp(1, schedule.attempts().max(1) as usize);
        let room = files::make_room(in_flight as u64, in_flight as u64, self.files_of_others)?;
        if self.settings.actor.login.is_some() {
            let (desk, scribe) = self.desk(room, stop, None).await;
            let users = (0..schedule.intents()).map(|place| self.next_intent + place);
            let users: Vec<_> = users.map(|number| self.cast.user(number)).collect();
            self.log_in(&desk, phase, users).await?;
            drop(desk);
            self.book(&scribe.finish().await);
        }
        let stream = Arc::new(Stream::new(self, phase, rate)?);
        self.herald_stream(&stream).await?;
        ready(self.herald.as_deref()).await?;
        self.next_attempt.fetch_add(schedule.attempts(), Ordering::Relaxed);
        self.settings.progress.add_planned(planned);
        let (desk, scribe) = self.desk(room, stop, Some(Arc::clone(&stream))).await;
        let run = Run {
            first_attempt: AttemptId(first_attempt),
            pool: Pool::of(desk.peers.len()),
            due: Semaphore::new(0),
            next: AtomicU32::new(0),
            stream: Arc::clone(&stream),
            desk,
        };
        run.drive(in_flight).await;
        let account = scribe.finish().await;
        let undecided = (0..account.streamed)
            .filter(|&place| !account.decided.contains(stream.id(place)))
            .map(|place| (stream.intent(place), Kept::Stream(Arc::clone(&stream))));
        let undecided: Vec<_> = undecided.collect();
        self.next_intent += account.streamed;
        self.remember(undecided);
        let tally = self.book(&account);
        Ok(PhaseSummary { planned, release: None, tally, interrupted: stop.is_cancelled() })
    }
}

impl Load {
    /// Tells of all intents to come, some at a time: nobody keeps a million of them for this.
    async fn herald_stream(&self, stream: &Stream) -> Result<(), LoadError> {
        let Some(who) = self.herald.as_deref() else { return Ok(()) };
        let count = stream.schedule().intents();
        for first in (0..count).step_by(HERALDED_AT_ONCE) {
            let places = first..count.min(first + HERALDED_AT_ONCE as u32);
            let intents: Vec<Intent> =
                places.map(|place| stream.without_fingerprint(place)).collect();
            herald(Some(who), &intents).await?;
        }
        Ok(())
    }
}

/// What the workers of a steady load share.
struct Run {
    first_attempt: AttemptId,
    pool: Pool,
    /// Attempts whose moment has come and that nobody has taken yet.
    due: Semaphore,
    /// The next attempt to be taken.
    next: AtomicU32,
    stream: Arc<Stream>,
    desk: Arc<Desk>,
}

impl Run {
    /// Starts the workers and the pacing thread, and awaits them all.
    async fn drive(self, workers: usize) {
        let run = Arc::new(self);
        let begin = Instant::now() + schedule::HEAD_START;
        let mut at_work = JoinSet::new();
        for _ in 0..workers {
            at_work.spawn(Worker::new(Arc::clone(&run), run.desk.clock.at(begin)).work());
        }
        let pacing = {
            let run = Arc::clone(&run);
            tokio::task::spawn_blocking(move || run.pace(begin, workers))
        };
        joined(pacing.await);
        while let Some(worker) = at_work.join_next().await {
            joined(worker);
        }
    }

    /// Says of each attempt when its moment has come, and at the end that no more will come.
    fn pace(&self, begin: Instant, workers: usize) {
        let (schedule, mut released) = (self.stream.schedule(), 0);
        while released < schedule.attempts() {
            if !sleep_until(begin + schedule.start(released), &self.desk.stop) {
                self.due.close();
                return;
            }
            let come = schedule.come(begin.elapsed()).max(released + 1);
            self.due.add_permits((come - released) as usize);
            self.desk.progress.add_released(u64::from(come - released));
            released = come;
        }
        // One for each worker, which finds nothing left to take.
        self.due.add_permits(workers);
    }
}
