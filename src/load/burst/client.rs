//! One simulated client of a burst: it connects, sends all but the last byte, waits for its reply
//! from before the release, and then asks again while it has no definite answer.
//!
//! It is a single task from beginning to end. It says that it is ready only after its reading has
//! begun to wait, so that no reply is stamped late.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::history::{PhaseId, Sent};
use crate::load::asker::{Asker, too_late};
use crate::load::compose::PlannedAttempt;
use crate::load::desk::{Answered, Desk, Ending, INTERRUPTED};
use crate::load::http::{Connection, Held, Reply, ReplyReader};

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
    /// How long it waits after its own departure; `None` where all depart together.
    pub patience: Option<Duration>,
    pub ready: mpsc::Sender<Ready>,
}

/// What the burst attempt came to before the release was known.
struct First {
    connection: Option<Connection>,
    end: Result<Reply, String>,
}

impl Client {
    pub async fn run(mut self) {
        let answered = self.take_part().await;
        self.asker.ask_until_definite(answered, &self.planned, self.phase).await;
    }

    /// The attempt that leaves with all the others.
    async fn take_part(&mut self) -> Answered {
        let desk = Arc::clone(&self.asker.desk);
        let First { connection, end } = self.first(&desk).await;
        let completed = desk.clock.now();
        self.board.answered(self.place, completed, desk.clock);
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
            cause: self.planned.cause,
            target: self.planned.target,
            planned: None,
            sent,
            first_byte,
            last_byte: departure.last_byte,
            released: departure.released,
            completed,
            end,
        };
        let letter = Arc::clone(&self.asker.letter);
        desk.finish(ending, letter.as_ref().into()).await
    }

    async fn first(&self, desk: &Desk) -> First {
        let target = self.planned.target;
        let rendered = match &self.planned.letter.rendered {
            Ok(rendered) if !desk.stop.is_cancelled() => rendered,
            Ok(_) => return self.nothing(INTERRUPTED.to_owned()).await,
            Err(why) => return self.nothing(why.clone()).await,
        };
        let opened = tokio::select! {
            biased;
            () = self.board.given_up() => Err(self.board.reason("")),
            opened = desk.open(target) => opened,
        };
        let held = opened.and_then(|mut connection| {
            let held = connection.prepare_held(&rendered[target])?;
            Ok((connection, held))
        });
        let (mut connection, held) = match held {
            Ok(opened) => opened,
            Err(what) => return self.nothing(what).await,
        };
        desk.progress.add_connected();
        let end = self.wait_for_reply(desk, &mut connection, held).await;
        First { connection: Some(connection), end }
    }

    async fn nothing(&self, why: String) -> First {
        self.say_ready(None).await;
        First { connection: None, end: Err(why) }
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
                self.patience_ends().await
            };
            self.read(desk, connection, &mut reader, announce).await
        };
        if !said {
            self.say_ready(held).await;
        }
        end.unwrap_or_else(|patience| {
            let progress = reader.progress();
            Err(patience.map_or_else(
                || self.board.reason(&progress),
                |patience| too_late(patience, &progress),
            ))
        })
    }

    /// Waits until this attempt is to be given up; for its own patience, if it was that.
    async fn patience_ends(&self) -> Option<Duration> {
        let Some(patience) = self.patience else {
            self.board.given_up().await;
            return None;
        };
        let own = async {
            self.board.departure(self.place).await;
            tokio::time::sleep(patience).await;
        };
        tokio::select! {
            biased;
            () = self.board.given_up() => None,
            () = own => Some(patience),
        }
    }

    /// Reads the reply. `announce` is polled only once the reading waits; its end gives up.
    async fn read(
        &self,
        desk: &Desk,
        connection: &mut Connection,
        reader: &mut ReplyReader,
        announce: impl Future<Output = Option<Duration>>,
    ) -> Result<Result<Reply, String>, Option<Duration>> {
        tokio::select! {
            biased;
            end = connection.receive(desk.clock, reader) => Ok(end),
            patience = announce => Err(patience),
        }
    }

    async fn say_ready(&self, held: Option<Held>) {
        // Nobody listens any more when the burst was stopped.
        let _ = self.ready.send(Ready { place: self.place, held }).await;
    }
}
