//! What happens to the servers while the lab is up.
//!
//! One task a server waits for its end, so that no zombie stays and whoever drives the lab hears
//! of it. A killed instance is an event too: the one who killed it knows that it was meant.

use std::path::PathBuf;
use std::time::Duration;

use tokio::process::Child;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::guard::{Journal, Line, ProcessId};

use super::logs;
use super::server::{Server, Started};

/// Every server ends once, so this many are only reached by restarts that nobody listens to.
const CAPACITY: usize = 64;
const REAP_LIMIT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabEvent {
    /// A server has ended although the lab isn't being stopped.
    Exited {
        what: Server,
        /// Such as `exit status: 1` or `signal: 9 (SIGKILL)`.
        status: String,
        /// The last lines of its log.
        log_tail: String,
    },
}

/// The tasks that wait for the servers.
#[derive(Debug)]
pub(super) struct Watchers {
    tasks: JoinSet<()>,
    stopping: CancellationToken,
    sender: mpsc::Sender<LabEvent>,
    journal: Journal,
}

impl Watchers {
    pub(super) fn new(journal: Journal) -> (Self, mpsc::Receiver<LabEvent>) {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        let (tasks, stopping) = (JoinSet::new(), CancellationToken::new());
        (Self { tasks, stopping, sender, journal }, receiver)
    }

    pub(super) fn watch(&mut self, started: Started) {
        let Started { server, guarded, log } = started;
        let watch = Watch {
            server,
            process: guarded.process,
            log,
            sender: self.sender.clone(),
            stopping: self.stopping.clone(),
            journal: self.journal.clone(),
        };
        self.tasks.spawn(watch.run(guarded.child));
    }

    /// From now on an end is no event.
    pub(super) fn begin_stop(&self) {
        self.stopping.cancel();
    }

    /// Waits until all servers, which have ended, are reaped.
    pub(super) async fn join(mut self) {
        // A server that can't be ended was reported by the one who tried.
        let _ =
            timeout(REAP_LIMIT, async { while self.tasks.join_next().await.is_some() {} }).await;
    }
}

struct Watch {
    server: Server,
    process: ProcessId,
    log: PathBuf,
    sender: mpsc::Sender<LabEvent>,
    stopping: CancellationToken,
    journal: Journal,
}

impl Watch {
    async fn run(self, mut child: Child) {
        let status = match child.wait().await {
            Ok(status) => status.to_string(),
            Err(error) => format!("unknown: {error}"),
        };
        // What came of a launched command may live on, and the guard finds it by the command. For
        // the others: it tells processes apart by their start time, a line too many does no harm.
        if !matches!(self.server, Server::Launched(_)) {
            let _ = self.journal.write(&Line::Gone(self.process));
        }
        if self.stopping.is_cancelled() {
            return;
        }
        let event = LabEvent::Exited { what: self.server, status, log_tail: logs::tail(&self.log) };
        tokio::select! {
            () = self.stopping.cancelled() => {}
            // Nobody listens when this fails.
            _ = self.sender.send(event) => {}
        }
    }
}
