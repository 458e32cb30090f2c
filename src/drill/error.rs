//! Why a drill couldn't be carried out or judged.

use std::time::Duration;

use crate::chaos::ChaosError;
use crate::codes::{self, Code};
use crate::guard::GuardError;
use crate::history::{FolderError, JournalError, ReadError};
use crate::lab::LabError;
use crate::load::LoadError;
use crate::observe::ObserveError;
use crate::settle::SettleError;
use crate::wire::WireError;

/// A drill that ended without a verdict, and the folder with what it had recorded by then.
#[derive(Debug)]
pub struct Broken {
    pub error: Box<DrillError>,
    pub folder: Option<std::path::PathBuf>,
}

/// What was being done when the drill ended.
#[derive(Debug, thiserror::Error)]
pub enum DrillError {
    #[error("the results can't be written")]
    Folder { source: FolderError },
    #[error("the rows of the run can't be read back")]
    Rows { source: FolderError },
    #[error("the journal can't be written; what was recorded before is kept")]
    Journal { source: JournalError },
    #[error("the guard, which cleans up after a killed dupeproof, failed")]
    Guard { source: GuardError },
    #[error("the lab failed")]
    Lab { source: Box<LabError> },
    #[error("{what}")]
    Refused { what: String, cure: String },
    #[error("`{host}`, the host of {what}, can't be looked up")]
    Lookup { what: String, host: String, source: std::io::Error },
    #[error("the target can't be used")]
    Target { source: LoadError },
    #[error("instance {name} ({url}) was not ready within {limit:?}: {reason}")]
    NotReady { name: String, url: String, limit: Duration, reason: String },
    #[error("the target could not be launched")]
    Launch { source: Box<LabError> },
    #[error("the logs of the run can't be cleared of secrets: delete them")]
    Redact { source: std::io::Error },
    #[error("the drill was interrupted before its first request, and there is nothing to judge")]
    Interrupted,
    #[error("{server} of the lab ended in the middle of the drill ({status})")]
    ServerDied { server: String, status: String, last_words: String },
    #[error("the burst of phase \"{phase}\" could not be sent")]
    Load { phase: String, source: LoadError },
    #[error("an instance could not be paused or resumed")]
    Chaos { source: ChaosError },
    #[error("the keys of the target's Redis can't be reached for a fault")]
    Keys { source: ChaosError },
    #[error("the database can't be audited")]
    Observe { source: ObserveError },
    #[error("`[{which}]` of the profile failed")]
    Statements { which: &'static str, source: ObserveError },
    #[error("the drill could not be settled")]
    Settle { source: SettleError },
    #[error("the proxies between the target and its servers failed")]
    Wire { source: WireError },
    #[error("the run can't be read back")]
    Read { source: ReadError },
    #[error(
        "the run has no baseline: it was ended before its first request, and there is nothing to judge"
    )]
    NoBaseline,
}

impl DrillError {
    /// Its entry in the registry. What is [`Refused`](Self::Refused) or
    /// [`Interrupted`](Self::Interrupted) is no trouble of the environment and has none.
    pub fn code(&self) -> Option<&'static Code> {
        Some(match self {
            Self::Refused { .. } | Self::Interrupted => return None,
            Self::Lab { source } if source.is_missing_program() => &codes::E01,
            Self::Lab { source } if source.is_trouble_of_the_guard() => &codes::E08,
            Self::Lab { .. } => &codes::E02,
            Self::ServerDied { .. } => &codes::E03,
            Self::Rows { .. } | Self::Read { .. } | Self::NoBaseline => &codes::E09,
            Self::Folder { .. } | Self::Journal { .. } | Self::Redact { .. } => &codes::E04,
            Self::Statements { source: ObserveError::Statement { .. }, .. } => &codes::E10,
            Self::Statements { .. } | Self::Observe { .. } | Self::Settle { .. } => &codes::E05,
            Self::Load {
                source:
                    LoadError::OpenFiles { .. }
                    | LoadError::RaiseOpenFiles { .. }
                    | LoadError::Gauge { .. },
                ..
            } => &codes::E07,
            Self::Load { .. }
            | Self::Chaos { .. }
            | Self::Keys { .. }
            | Self::Lookup { .. }
            | Self::Target { .. }
            | Self::NotReady { .. }
            | Self::Launch { .. } => &codes::E06,
            Self::Guard { .. } => &codes::E08,
            Self::Wire { .. } => &codes::E11,
        })
    }
}
