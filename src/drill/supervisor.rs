//! Watches what may go wrong beside the load: servers that end, a disk that refuses, Ctrl-C.
//!
//! An instance that ends is a fact for the audit (I27). A server that ends takes the ground away from
//! the drill, so the load is stopped and the drill ends as a trouble of the environment.

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::{DrillError, Event, Stage, Watcher};
use crate::history::{Clock, Exit, Fact, InstanceId, Recorder};
use crate::lab::{LabEvent, Server};

/// Between two looks at the journal's health.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long an error may wait for the news of a server's end that explains it.
const NEWS_LIMIT: Duration = Duration::from_secs(1);

/// A server's end.
#[derive(Clone, Debug)]
struct Death {
    server: String,
    status: String,
    last_words: String,
}

/// A task that watches until the drill is over.
#[derive(Debug)]
pub(super) struct Supervisor {
    /// Cancelled by Ctrl-C, by a server's end and by a disk that refuses.
    stop_load: CancellationToken,
    dead: CancellationToken,
    death: Arc<OnceLock<Death>>,
    over: CancellationToken,
    task: AbortOnDropHandle<()>,
}

struct Watch {
    events: Option<mpsc::Receiver<LabEvent>>,
    recorder: Recorder,
    watcher: Arc<dyn Watcher>,
    clock: Clock,
    interrupted: CancellationToken,
    stop_load: CancellationToken,
    dead: CancellationToken,
    death: Arc<OnceLock<Death>>,
    over: CancellationToken,
}

impl Supervisor {
    /// `events` tells of processes; there are none beside an attached target.
    pub(super) fn start(stage: &Stage<'_>, events: Option<mpsc::Receiver<LabEvent>>) -> Self {
        let stop_load = stage.order.stop.child_token();
        let (dead, over) = (CancellationToken::new(), CancellationToken::new());
        let death = Arc::new(OnceLock::new());
        let watch = Watch {
            events,
            recorder: stage.recorder.clone(),
            watcher: Arc::clone(&stage.watcher),
            clock: stage.clock,
            interrupted: stage.order.stop.clone(),
            stop_load: stop_load.clone(),
            dead: dead.clone(),
            death: Arc::clone(&death),
            over: over.clone(),
        };
        let task = AbortOnDropHandle::new(tokio::spawn(watch.run()));
        Self { stop_load, dead, death, over, task }
    }

    pub(super) const fn stop_load(&self) -> &CancellationToken {
        &self.stop_load
    }

    /// Does something unless a server dies meanwhile; an error that a death explains becomes that
    /// death.
    pub(super) async fn unless_dead(
        &self,
        work: impl Future<Output = Result<(), DrillError>>,
    ) -> Result<(), DrillError> {
        tokio::pin!(work);
        let done = tokio::select! {
            done = &mut work => done,
            () = self.dead.cancelled() => {
                // The load has been told to stop; what is in flight may still be written down.
                let _ = tokio::time::timeout(NEWS_LIMIT, work).await;
                return Err(self.died());
            }
        };
        match done {
            Ok(()) => Ok(()),
            Err(error) => match tokio::time::timeout(NEWS_LIMIT, self.dead.cancelled()).await {
                Ok(()) => Err(self.died()),
                Err(_) => Err(error),
            },
        }
    }

    fn died(&self) -> DrillError {
        let death = self.death.get().expect("it is set before `dead` is cancelled").clone();
        let Death { server, status, last_words } = death;
        DrillError::ServerDied { server, status, last_words }
    }

    pub(super) async fn end(self) {
        self.over.cancel();
        let _ = self.task.await;
    }
}

impl Watch {
    async fn run(mut self) {
        let mut told = false;
        loop {
            tokio::select! {
                () = self.over.cancelled() => return,
                () = self.interrupted.cancelled(), if !told => {
                    told = true;
                    self.watcher.see(Event::Interrupted);
                }
                event = next(&mut self.events) => self.heard(event).await,
                () = tokio::time::sleep(LOOK_EVERY) => {
                    if self.recorder.trouble().is_some() {
                        self.stop_load.cancel();
                    }
                }
            }
        }
    }

    async fn heard(&self, event: LabEvent) {
        let LabEvent::Exited { what, status, log_tail } = event;
        match what {
            Server::Instance(number) | Server::Launched(number) => {
                self.watcher
                    .see(Event::InstanceExited { name: what.to_string(), status: status.clone() });
                let exit = Exit {
                    instance: InstanceId(number),
                    at: self.clock.now(),
                    status,
                    ours: false,
                    last_words: log_tail,
                };
                self.recorder.record(Fact::Exit(exit)).await;
            }
            Server::Postgres | Server::Redis | Server::SpareRedis | Server::Payments => {
                let server = what.to_string();
                let _ = self.death.set(Death { server, status, last_words: log_tail });
                self.stop_load.cancel();
                self.dead.cancel();
            }
        }
    }
}

/// The next event; never, once there can be none.
async fn next(events: &mut Option<mpsc::Receiver<LabEvent>>) -> LabEvent {
    if let Some(receiver) = events
        && let Some(event) = receiver.recv().await
    {
        return event;
    }
    *events = None;
    std::future::pending().await
}
