//! A server that has been started: who it is, and the wait until it answers.
//!
//! Every such wait ends in one of three ways: it answers, it has ended, or a limit has passed; the
//! last two come with the end of its log.

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::sleep;

use crate::guard::{GuardedChild, GuardedCommand};

use super::error::LabError;
use super::logs;
use super::site::Site;

const LOOK_AGAIN: Duration = Duration::from_millis(3);

/// One of the lab's servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Server {
    Postgres,
    Redis,
    /// A second Redis, empty, that a proxy may be led to.
    SpareRedis,
    /// The payment provider stub.
    Payments,
    /// An instance of the shop, counted from 0.
    Instance(u16),
    /// An instance of the user's own service, counted from 0.
    Launched(u16),
}

/// A server's process, and where its log is.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) server: Server,
    pub(super) guarded: GuardedChild,
    pub(super) log: PathBuf,
}

impl Started {
    pub(super) fn spawn(
        site: &Site<'_>,
        server: Server,
        command: GuardedCommand,
        log: PathBuf,
    ) -> Result<Self, LabError> {
        let guarded = site.spawn(command)?;
        Ok(Self { server, guarded, log })
    }

    /// Asks until there is an answer.
    ///
    /// # Errors
    /// [`LabError::Died`] at once when it ends, [`LabError::NotReady`] after the limit.
    pub(super) async fn until_ready<T, F, Fut>(
        &mut self,
        limit: Duration,
        mut ask: F,
    ) -> Result<T, LabError>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Option<T>>,
    {
        let answer = async {
            loop {
                if let Some(answer) = ask().await {
                    return answer;
                }
                sleep(LOOK_AGAIN).await;
            }
        };
        let what = self.server.to_string();
        tokio::select! {
            answer = answer => Ok(answer),
            status = self.guarded.child.wait() => Err(match status {
                Ok(status) => LabError::Died {
                    what,
                    status: status.to_string(),
                    tail: logs::tail(&self.log),
                    log: self.log.clone(),
                },
                Err(source) => LabError::Wait { what, source },
            }),
            () = sleep(limit) => Err(LabError::NotReady {
                what,
                limit,
                tail: logs::tail(&self.log),
                log: self.log.clone(),
            }),
        }
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Postgres => f.write_str("postgres"),
            Self::Redis => f.write_str("redis"),
            Self::SpareRedis => f.write_str("redis-spare"),
            Self::Payments => f.write_str("payments"),
            Self::Instance(number) => write!(f, "shop-{number}"),
            Self::Launched(number) => write!(f, "target-{number}"),
        }
    }
}
