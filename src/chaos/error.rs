//! What can go wrong while a process of the target is acted on.

use std::time::Duration;

use crate::guard::{GuardError, ProcessId};

#[derive(Debug, thiserror::Error)]
pub enum ChaosError {
    #[error("could not {act}")]
    Keys { act: &'static str, source: redis::RedisError },
    #[error("could not {act} process {process}")]
    Act { act: &'static str, process: ProcessId, source: GuardError },
    #[error(
        "process {process} was told to stop and still ran after {limit:?}: it hangs in the kernel \
         or somebody else resumes it, so this fault did not happen"
    )]
    StillRuns { process: ProcessId, limit: Duration },
    #[error(
        "process {process} was resumed and was still stopped after {limit:?}: somebody else stops \
         it; `kill -CONT {}` lets it run",
        process.pid
    )]
    StillStopped { process: ProcessId, limit: Duration },
}

impl ChaosError {
    /// Whether the process couldn't be acted on because it has ended.
    pub const fn is_end_of_process(&self) -> bool {
        matches!(self, Self::Act { source: GuardError::Ended(_), .. })
    }
}
