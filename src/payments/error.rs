//! Everything that can go wrong in the provider beyond an answer.

use std::{io, net::SocketAddr, path::PathBuf};

use thiserror::Error;

/// What the provider was doing when it failed, and to what.
#[derive(Debug, Error)]
pub enum PaymentsError {
    #[error("--{flag} {address} isn't on loopback; the stub is for this machine alone")]
    NotLoopback { flag: &'static str, address: SocketAddr },
    #[error("cannot listen on {address} (--{flag}); port 0 takes a free one")]
    Listen { flag: &'static str, address: SocketAddr, source: io::Error },
    #[error("cannot read or write the log {}", path.display())]
    Log { path: PathBuf, source: io::Error },
    #[error("line {line} of the log {} isn't one of this provider", path.display())]
    LogLine { path: PathBuf, line: usize, source: serde_json::Error },
    #[error("{doing} failed")]
    System { doing: &'static str, source: io::Error },
}

impl PaymentsError {
    /// True when the command line is to be corrected, not the world around it.
    pub fn is_mistake_of_the_caller(&self) -> bool {
        matches!(self, Self::NotLoopback { .. })
    }
}
