//! Where the clients of a burst learn what became of their last bytes, and when to give up.
//!
//! A reply can be read before the thread that sent the last byte has said so. Clients therefore
//! build their attempts only once the whole release is on the board.

use std::sync::OnceLock;
use std::time::Duration;

use tokio::sync::SetOnce;
use tokio_util::sync::CancellationToken;

use crate::history::RunTime;
use crate::load::asker::too_late;
use crate::load::desk::INTERRUPTED;

/// What became of one attempt's last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Departure {
    /// When it was handed to the kernel; `None` when it wasn't.
    pub last_byte: Option<RunTime>,
    /// When the target could begin.
    pub released: Option<RunTime>,
}

/// Why attempts without a reply are given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GivenUp {
    TimedOut(Duration),
    Interrupted,
    /// The burst never left, or the target couldn't be resumed.
    NotReleased(String),
}

/// Shared by a burst's conductor and its clients.
#[derive(Debug, Default)]
pub(super) struct Board {
    departures: SetOnce<Vec<Departure>>,
    giving_up: CancellationToken,
    why: OnceLock<GivenUp>,
}

impl Board {
    /// Says what became of all last bytes, by the attempts' places; only the first word counts.
    pub fn release(&self, departures: Vec<Departure>) {
        let _ = self.departures.set(departures);
    }

    /// Ends all burst attempts that still wait for their replies; only the first reason counts.
    pub fn give_up(&self, why: GivenUp) {
        let _ = self.why.set(why);
        self.giving_up.cancel();
    }

    /// Waits until burst attempts are to be given up.
    pub async fn given_up(&self) {
        self.giving_up.cancelled().await;
    }

    /// The words for an attempt that was given up, with how far its reply had come.
    pub fn reason(&self, progress: &str) -> String {
        match self.why.get() {
            Some(GivenUp::TimedOut(patience)) => too_late(*patience, progress),
            Some(GivenUp::NotReleased(reason)) => format!("given up because {reason}"),
            Some(GivenUp::Interrupted) | None => INTERRUPTED.to_owned(),
        }
    }

    /// Waits for the release; what became of the last byte of the attempt at `place`.
    pub async fn departure(&self, place: usize) -> Departure {
        self.departures.wait().await.get(place).copied().unwrap_or_default()
    }
}
