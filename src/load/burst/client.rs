//! One simulated client of a burst: it connects, sends all but the last byte, waits for its reply
//! from before the release, and then asks again while it has no definite answer.
//!
//! It is a single task from beginning to end. It says that it is ready only after its reading has
//! begun to wait, so that no reply is stamped late.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::history::{Cause, Outcome, PhaseId, Sent};
use crate::load::asker::Asker;
use crate::load::desk::{Desk, Ending};
use crate::load::http::{Connection, Held, Reply, ReplyReader};
use crate::load::plan::PlannedAttempt;

use super::board::Board;

/// A client says that all it could prepare is prepared.
#[derive(Debug)]
pub(super) struct Ready {
    /// Place of its attempt in the plan.
    pub place: usize,
    /// The byte to be sent; `None` when there is no connection, or nothing left to be sent on it.
    pub held: Option<Held>,
}

/// A client of a burst.
pub(super) struct Client {
    pub asker: Asker,
    pub board: Arc<Board>,
    pub phase: PhaseId,
    pub planned: PlannedAttempt,
    pub place: usize,
    pub ready: mpsc::Sender<Ready>,
}

/// What the burst attempt came to before the release was known.
struct First {
    connection: Option<Connection>,
    end: Result<Reply, String>,
}

impl Client {
    pub async fn run(mut self) {
        let outcome = self.take_part().await;
        self.ask_until_definite(outcome).await;
    }

    /// The attempt that leaves with all the others.
    async fn take_part(&mut self) -> Outcome {
        let desk = Arc::clone(&self.asker.desk);
        let First { connection, end } = self.first(&desk).await;
        let completed = desk.clock.now();
        let departure = self.board.departure(self.place).await;
        let sent = match (departure.last_byte, &connection) {
            (Some(_), _) => Sent::Whole,
            (None, Some(connection)) => connection.sent(),
            (None, None) => Sent::Nothing,
        };
        let first_byte = connection.as_ref().and_then(Connection::first_byte);
        if let Some(connection) = connection
            && sent == Sent::Whole
            && end.as_ref().is_ok_and(|reply| reply.keeps_alive)
        {
            self.asker.keep(self.planned.target, connection);
        }
        let ending = Ending {
            id: self.planned.id,
            intent: self.asker.intent,
            cause: Cause::Burst,
            target: self.planned.target,
            sent,
            first_byte,
            last_byte: departure.last_byte,
            released: departure.released,
            completed,
            end,
        };
        desk.finish(ending, self.asker.request).await
    }

    async fn first(&self, desk: &Desk) -> First {
        let target = self.planned.target;
        let opened = tokio::select! {
            biased;
            () = self.board.given_up() => Err(self.board.reason("")),
            opened = desk.open(target) => opened,
        };
        let held = opened.and_then(|mut connection| {
            let held = connection.prepare_held(&self.asker.rendered[target])?;
            Ok((connection, held))
        });
        let (mut connection, held) = match held {
            Ok(opened) => opened,
            Err(what) => {
                self.say_ready(None).await;
                return First { connection: None, end: Err(what) };
            }
        };
        desk.progress.add_connected();
        let end = self.wait_for_reply(desk, &mut connection, held).await;
        First { connection: Some(connection), end }
    }

    /// Sends all but the held byte, says ready, and reads until there is a reply or none.
    async fn wait_for_reply(
        &self,
        desk: &Desk,
        connection: &mut Connection,
        held: Held,
    ) -> Result<Reply, String> {
        let mut reader = desk.reader();
        let patience = desk.client.connect_timeout;
        let sending = tokio::select! {
            biased;
            () = self.board.given_up() => Some(Err(self.board.reason(&reader.progress()))),
            end = connection.send(desk.clock, &mut reader) => end,
            () = tokio::time::sleep(patience) => {
                Some(Err(format!("the request could not be sent within {patience:?}")))
            }
        };
        if let Some(end) = sending {
            self.say_ready(None).await;
            return end;
        }
        let mut held = connection.is_written().then_some(held);
        let mut said = false;
        let end = {
            let announce = async {
                self.say_ready(held.take()).await;
                said = true;
                self.board.given_up().await;
            };
            self.read(desk, connection, &mut reader, announce).await
        };
        if !said {
            self.say_ready(held).await;
        }
        end.unwrap_or_else(|| Err(self.board.reason(&reader.progress())))
    }

    /// Reads the reply. `announce` is polled only once the reading waits; its end gives up.
    async fn read(
        &self,
        desk: &Desk,
        connection: &mut Connection,
        reader: &mut ReplyReader,
        announce: impl Future<Output = ()>,
    ) -> Option<Result<Reply, String>> {
        tokio::select! {
            biased;
            end = connection.receive(desk.clock, reader) => Some(end),
            () = announce => None,
        }
    }

    async fn say_ready(&self, held: Option<Held>) {
        // Nobody listens any more when the burst was stopped.
        let _ = self.ready.send(Ready { place: self.place, held }).await;
    }

    async fn ask_until_definite(&mut self, mut outcome: Outcome) {
        let desk = Arc::clone(&self.asker.desk);
        let retries = desk.client.retries;
        for retry in 0..retries.at_most {
            if outcome.is_definite() {
                return;
            }
            let (first, longest) = (retries.first_wait, retries.longest_wait);
            let wait = desk.dice.wait(self.phase, self.planned.id, retry, first, longest);
            tokio::select! {
                biased;
                () = desk.stop.cancelled() => return,
                () = tokio::time::sleep(wait) => {}
            }
            let target = (self.planned.target + 1 + retry as usize) % desk.peers.len();
            outcome = self.asker.ask(Cause::Retry, target, None).await;
        }
    }
}
