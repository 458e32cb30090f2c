//! One of the places for a request in flight.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::history::{AttemptId, Cause, RunTime};
use crate::load::asker::{Limits, exchange};
use crate::load::desk::{Addressed, Ending, INTERRUPTED};
use crate::load::http::Connection;

use super::Run;
use super::stream::Page;

/// Takes attempts as they come due, one at a time.
pub(super) struct Worker {
    run: Arc<Run>,
    begin: RunTime,
    limits: Limits,
    page: Page,
}

impl Worker {
    pub fn new(run: Arc<Run>, begin: RunTime) -> Self {
        let limits = Limits::of(&run.desk);
        Self { run, begin, limits, page: Page::default() }
    }

    pub async fn work(mut self) {
        let run = Arc::clone(&self.run);
        while let Ok(turn) = run.due.acquire().await {
            turn.forget();
            let attempt = run.next.fetch_add(1, Ordering::Relaxed);
            if attempt >= run.stream.schedule().attempts() || run.desk.stop.is_cancelled() {
                return;
            }
            self.make(attempt).await;
        }
    }

    async fn make(&mut self, attempt: u32) {
        let run = Arc::clone(&self.run);
        let (desk, stream) = (&run.desk, &run.stream);
        let place = stream.carried_by(attempt);
        let target = attempt as usize % desk.peers.len();
        let planned = self.begin.plus(stream.schedule().start(attempt));
        let id = AttemptId(run.first_attempt.0 + attempt);
        let now = desk.clock.now();
        let unsent = Ending::unsent(id, Cause::Steady, target, now, String::new());
        let unsent = Ending { planned: Some(planned), ..unsent };
        let ending = if now.since(planned) > desk.client.timeout {
            let waited = now.since(planned);
            Ending { end: Err(format!("no connection was free within {waited:.1?}")), ..unsent }
        } else {
            self.send(unsent, place, target).await
        };
        let letter = Addressed {
            intent: stream.id(place),
            request: stream.request(),
            variant: None,
            token_at: None,
            secrets: stream.secrets(place),
        };
        desk.finish(ending, letter).await;
    }

    async fn send(&mut self, mut ending: Ending, place: u32, target: usize) -> Ending {
        let run = Arc::clone(&self.run);
        let desk = &run.desk;
        let rendered = run.stream.render(place, target, &mut self.page);
        // The clock was read a moment ago, unless there was a connection to wait for.
        let mut begun = ending.completed;
        let opened = match rendered {
            Ok(()) => match run.pool.take(target, begun) {
                Some(connection) => Ok(connection),
                None => {
                    let opened = self.open(target).await;
                    begun = desk.clock.now();
                    opened
                }
            },
            Err(error) => Err(error.to_string()),
        };
        let prepared = opened
            .and_then(|mut connection| connection.prepare(&self.page.request).map(|()| connection));
        let mut connection = match prepared {
            Ok(connection) => connection,
            Err(what) => return Ending { completed: desk.clock.now(), end: Err(what), ..ending },
        };
        let patience = desk.client.timeout;
        desk.leaving(ending.id, run.stream.id(place), target);
        ending.end = exchange(desk, &mut connection, &mut self.limits, begun, patience).await;
        ending.completed = desk.clock.now();
        if ending.over(&connection) {
            run.pool.keep(target, connection, ending.completed);
        }
        ending
    }

    async fn open(&self, target: usize) -> Result<Connection, String> {
        let desk = &self.run.desk;
        tokio::select! {
            biased;
            () = desk.stop.cancelled() => Err(INTERRUPTED.to_owned()),
            opened = desk.open(target) => opened,
        }
    }
}
