//! A client that asks: for one intent or several, one request at a time, over a connection that it
//! already has where that is possible.
//!
//! A connection that the server closed while it was idle is noticed before anything is written. One
//! that dies under the request makes the attempt unknown (or not sent); nothing is sent twice.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, Sleep};
use tokio_util::sync::WaitForCancellationFutureOwned;

use crate::history::{AttemptId, Cause, PhaseId, RunTime, Sent};
use crate::profile::write_duration;

use super::compose::PlannedAttempt;
use super::desk::{Answered, Desk, Ending, INTERRUPTED};
use super::files::Room;
use super::http::{Connection, Reply};
use super::letter::Letter;

/// One simulated client.
pub(super) struct Asker {
    pub desk: Arc<Desk>,
    pub letter: Arc<Letter>,
    /// By the place of the instance.
    idle: Vec<Option<Connection>>,
}

impl Asker {
    pub fn new(desk: Arc<Desk>, letter: Arc<Letter>) -> Self {
        let idle = desk.peers.iter().map(|_| None).collect();
        Self { desk, letter, idle }
    }

    /// Puts a connection by for another request.
    pub fn keep(&mut self, target: usize, connection: Connection) {
        self.make_way();
        self.idle[target] = Some(connection);
    }

    /// Makes one more attempt with its letter and writes it down. It is given up at `until`, if not
    /// earlier.
    pub async fn ask(&mut self, cause: Cause, target: usize, until: Option<RunTime>) -> Answered {
        self.desk.progress.add_retry();
        let id = self.desk.next_attempt();
        self.attempt(id, cause, target, until).await
    }

    /// Makes a planned attempt, and further ones while there is no definite answer.
    pub async fn play(&mut self, planned: &PlannedAttempt, phase: PhaseId) -> Answered {
        self.letter = Arc::clone(&planned.letter);
        let answered = self.attempt(planned.id, planned.cause, planned.target, None).await;
        self.ask_until_definite(answered, planned, phase).await
    }

    /// Asks again as the profile's client does.
    pub async fn ask_until_definite(
        &mut self,
        mut answered: Answered,
        planned: &PlannedAttempt,
        phase: PhaseId,
    ) -> Answered {
        let desk = Arc::clone(&self.desk);
        let retries = desk.client.retries;
        if self.letter.rendered.is_err() || !self.letter.may_be_repeated() {
            return answered;
        }
        for retry in 0..retries.at_most {
            if answered.outcome.is_definite() {
                break;
            }
            let (first, longest) = (retries.first_wait, retries.longest_wait);
            let wait = desk.dice.wait(phase, planned.id, retry, first, longest);
            tokio::select! {
                biased;
                () = desk.stop.cancelled() => break,
                () = tokio::time::sleep(wait) => {}
            }
            let target = (planned.target + 1 + retry as usize) % desk.peers.len();
            answered = self.ask(Cause::Retry, target, None).await;
        }
        answered
    }

    async fn attempt(
        &mut self,
        id: AttemptId,
        cause: Cause,
        target: usize,
        until: Option<RunTime>,
    ) -> Answered {
        let (desk, letter) = (Arc::clone(&self.desk), Arc::clone(&self.letter));
        let unsent = Ending::unsent(id, cause, target, desk.clock.now(), INTERRUPTED.to_owned());
        let ending = self.exchange_on(unsent, target, until).await;
        desk.finish(ending, letter.as_ref().into()).await
    }

    async fn exchange_on(
        &mut self,
        mut ending: Ending,
        target: usize,
        until: Option<RunTime>,
    ) -> Ending {
        let desk = Arc::clone(&self.desk);
        let letter = Arc::clone(&self.letter);
        let clock = desk.clock;
        let rendered = match &letter.rendered {
            Ok(rendered) => rendered,
            Err(why) => return Ending { end: Err(why.clone()), ..ending },
        };
        let opened = tokio::select! {
            biased;
            () = desk.stop.cancelled() => return ending,
            opened = self.connection(target) => opened,
        };
        let prepared = opened
            .and_then(|mut connection| connection.prepare(&rendered[target]).map(|()| connection));
        let mut connection = match prepared {
            Ok(connection) => connection,
            Err(what) => return Ending { completed: clock.now(), end: Err(what), ..ending },
        };
        let left = until.map_or(desk.client.timeout, |until| until.since(clock.now()));
        let (mut limits, patience) = (Limits::of(&desk), desk.client.timeout.min(left));
        let begun = clock.now();
        desk.leaving(ending.id, letter.intent, target);
        ending.end = exchange(&desk, &mut connection, &mut limits, begun, patience).await;
        ending.completed = clock.now();
        if ending.over(&connection) {
            self.keep(target, connection);
        }
        ending
    }

    async fn connection(&mut self, target: usize) -> Result<Connection, String> {
        match self.idle[target].take().filter(Connection::is_idle) {
            Some(connection) => Ok(connection),
            None => {
                self.make_way();
                self.desk.open(target).await
            }
        }
    }

    /// Where files are scarce a client has one connection at a time.
    fn make_way(&mut self) {
        if self.desk.room == Room::Tight {
            self.idle.fill_with(|| None);
        }
    }
}

impl Ending {
    /// Takes over what a connection knows after an exchange; whether it may serve another one.
    pub fn over(&mut self, connection: &Connection) -> bool {
        self.sent = connection.sent();
        self.first_byte = connection.first_byte();
        self.last_byte = connection.last_byte();
        self.released = connection.last_byte();
        self.sent == Sent::Whole && self.end.as_ref().is_ok_and(|reply| reply.keeps_alive)
    }
}

/// What ends an exchange that has no reply. It is used again for every exchange of a client: to put
/// a timer off costs next to nothing, and to set it up anew costs as much as a system call.
pub(super) struct Limits {
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
    time: Pin<Box<Sleep>>,
}

impl Limits {
    pub fn of(desk: &Desk) -> Self {
        let stop = Box::pin(desk.stop.clone().cancelled_owned());
        Self { stop, time: Box::pin(tokio::time::sleep(desk.client.timeout)) }
    }
}

/// Sends what a connection has prepared and reads the reply, within `patience` of its beginning.
pub(super) async fn exchange(
    desk: &Desk,
    connection: &mut Connection,
    limits: &mut Limits,
    begun: RunTime,
    patience: Duration,
) -> Result<Reply, String> {
    let mut reader = desk.reader();
    limits.time.as_mut().reset(Instant::from_std(desk.clock.instant(begun) + patience));
    let end = tokio::select! {
        biased;
        end = connection.receive(desk.clock, &mut reader) => Some(end),
        () = limits.stop.as_mut() => Some(Err(INTERRUPTED.to_owned())),
        () = limits.time.as_mut() => None,
    };
    end.unwrap_or_else(|| Err(too_late(patience, &reader.progress())))
}

/// The words for an attempt that ran out of time. What is left of a limit is any number of
/// nanoseconds, and is told in whole microseconds.
pub(super) fn too_late(patience: Duration, progress: &str) -> String {
    let whole = Duration::from_micros(u64::try_from(patience.as_micros()).unwrap_or(u64::MAX));
    format!("no complete reply within {} ({progress})", write_duration(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_limit_is_told_in_ascii() {
        let told = too_late(Duration::from_nanos(137_251), "nothing so far");
        assert_eq!(told, "no complete reply within 137us (nothing so far)");
    }
}
