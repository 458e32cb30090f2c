//! From the end of the load to two audits: drain, rows A0, ask again, drain, rows A1.
//!
//! A0 shows what only a retry heals; A1 is what the verdict rests on. When a drain fails, the rows
//! are read and kept all the same: they may prove a violation, though never that all is well.

use std::net::SocketAddr;
use std::time::Duration;

use crate::history::{Clock, DrainFacts, Fact, FolderError, Moment, Recorder, RunFolder, Snapshot};
use crate::observe::{DrainLimits, Drained, ObserveError, Observer};
use crate::profile::Limits;

/// What can go wrong while a drill settles.
#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    #[error("the run's rows can't be read")]
    Observe { source: ObserveError },
    #[error("the run's rows can't be kept")]
    Folder { source: FolderError },
}

/// What settling needs to know and to reach.
#[derive(Debug)]
pub struct Settling<'a> {
    pub observer: &'a Observer,
    pub recorder: &'a Recorder,
    pub folder: &'a RunFolder,
    pub clock: Clock,
    pub limits: Limits,
    /// The client's time-out: stands in for the handling time where connections can't be seen.
    pub client_timeout: Duration,
    pub targets: Vec<SocketAddr>,
    /// PostgreSQL's own log, where it is ours to read.
    pub postgres_log: Option<std::path::PathBuf>,
    /// The payment provider's log, where there is one.
    pub payments_log: Option<std::path::PathBuf>,
}

impl Settling<'_> {
    /// Waits for rest, given the longest time in which a request was handled, and keeps the rows.
    pub async fn drain(
        &self,
        moment: Moment,
        longest_handling: Duration,
    ) -> Result<(), SettleError> {
        let observe = |source| SettleError::Observe { source };
        let began = self.clock.now();
        let limits = DrainLimits {
            limit: self.limits.drain,
            quiet: longest_handling.max(self.limits.quiet),
            client_timeout: self.client_timeout,
            targets: self.targets.clone(),
        };
        let (mut rows, drained, about) =
            match self.observer.drain(&limits).await.map_err(observe)? {
                Drained::Yes { rows, waited_for } => (*rows, true, waited_for),
                Drained::No { still } => {
                    (self.observer.snapshot().await.map_err(observe)?, false, still)
                }
            };
        // The read that proves rest is the one that is kept, so the drain ended with it.
        let ended = rows.taken;
        let facts = DrainFacts { began, ended, drained, about };
        self.recorder.record(Fact::Drain(facts)).await;
        self.keep(moment, &mut rows)
    }

    /// Nothing was asked again, so the rows before the repair are the rows after it.
    pub fn nothing_more_to_come(&self) -> Result<(), SettleError> {
        let folder = |source| SettleError::Folder { source };
        let rows = self.folder.read_rows(Moment::BeforeRepair).map_err(folder)?;
        match rows {
            Some(rows) => self.folder.write_rows(Moment::After, &rows).map_err(folder),
            None => Ok(()),
        }
    }

    fn keep(&self, moment: Moment, rows: &mut Snapshot) -> Result<(), SettleError> {
        if let Some(log) = &self.postgres_log {
            let refused = crate::observe::refused_inserts(log);
            rows.refused_inserts = Some(refused.map_err(|source| SettleError::Observe { source })?);
        }
        if let Some(log) = &self.payments_log {
            let payments = crate::observe::payments(log);
            rows.payments = Some(payments.map_err(|source| SettleError::Observe { source })?);
        }
        self.folder.write_rows(moment, rows).map_err(|source| SettleError::Folder { source })
    }
}
