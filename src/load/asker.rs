//! A client that asks for one intent again: the same bytes, another instance each time, over a
//! connection it already has where that is possible.
//!
//! A connection that the server closed while it was idle is noticed before anything is written. One
//! that dies under the request makes the attempt unknown (or not sent); nothing is sent twice.

use std::sync::Arc;
use std::time::Duration;

use crate::history::{Cause, IntentId, Outcome, RunTime, Sent};

use super::desk::{Desk, Ending, INTERRUPTED};
use super::files::Room;
use super::http::{Connection, Reply};
use super::render::Rendered;

/// One simulated client.
pub(super) struct Asker {
    pub desk: Arc<Desk>,
    pub intent: IntentId,
    /// Place of the request among the profile's.
    pub request: usize,
    pub rendered: Rendered,
    /// By the place of the instance.
    idle: Vec<Option<Connection>>,
}

impl Asker {
    pub fn new(desk: Arc<Desk>, intent: IntentId, request: usize, rendered: Rendered) -> Self {
        let idle = desk.peers.iter().map(|_| None).collect();
        Self { desk, intent, request, rendered, idle }
    }

    /// Puts a connection by for another request.
    pub fn keep(&mut self, target: usize, connection: Connection) {
        self.make_way();
        self.idle[target] = Some(connection);
    }

    /// Makes one attempt and writes it down. It is given up at `until`, if not earlier.
    pub async fn ask(&mut self, cause: Cause, target: usize, until: Option<RunTime>) -> Outcome {
        let desk = Arc::clone(&self.desk);
        desk.progress.add_retry();
        let ending = self.attempt(cause, target, until).await;
        desk.finish(ending, self.request).await
    }

    async fn attempt(&mut self, cause: Cause, target: usize, until: Option<RunTime>) -> Ending {
        let desk = Arc::clone(&self.desk);
        let (clock, id) = (desk.clock, desk.next_attempt());
        let mut ending = Ending {
            id,
            intent: self.intent,
            cause,
            target,
            sent: Sent::Nothing,
            first_byte: None,
            last_byte: None,
            released: None,
            completed: clock.now(),
            end: Err(INTERRUPTED.to_owned()),
        };
        let opened = tokio::select! {
            biased;
            () = desk.stop.cancelled() => return ending,
            opened = self.connection(target) => opened,
        };
        let prepared = opened.and_then(|mut connection| {
            connection.prepare(&self.rendered[target]).map(|()| connection)
        });
        let mut connection = match prepared {
            Ok(connection) => connection,
            Err(what) => return Ending { completed: clock.now(), end: Err(what), ..ending },
        };
        ending.end = self.exchange(&mut connection, until).await;
        ending.completed = clock.now();
        ending.sent = connection.sent();
        ending.first_byte = connection.first_byte();
        ending.last_byte = connection.last_byte();
        ending.released = connection.last_byte();
        let reusable = ending.end.as_ref().is_ok_and(|reply| reply.keeps_alive);
        if reusable && ending.sent == Sent::Whole {
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

    async fn exchange(
        &self,
        connection: &mut Connection,
        until: Option<RunTime>,
    ) -> Result<Reply, String> {
        let desk = &self.desk;
        let mut reader = desk.reader();
        let left = until.map_or(desk.client.timeout, |until| until.since(desk.clock.now()));
        let patience = desk.client.timeout.min(left);
        let end = tokio::select! {
            biased;
            end = connection.receive(desk.clock, &mut reader) => Some(end),
            () = desk.stop.cancelled() => Some(Err(INTERRUPTED.to_owned())),
            () = tokio::time::sleep(patience) => None,
        };
        end.unwrap_or_else(|| Err(too_late(patience, &reader.progress())))
    }
}

/// The words for an attempt that ran out of time.
pub(super) fn too_late(patience: Duration, progress: &str) -> String {
    format!("no complete reply within {patience:?} ({progress})")
}
