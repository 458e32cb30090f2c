//! The moment of a burst: measure the floor, let everything go, and put on the board what became
//! of each last byte.

use std::sync::Arc;
use std::time::Instant;

use crate::history::{BurstFacts, InstanceId, PhaseId, ResumeFacts};
use crate::load::error::LoadError;
use crate::load::run::Load;
use crate::profile::{Arrival, Release};

use super::board::{Board, Departure};
use super::frozen::{self, Freezer};
use super::gauge;
use super::volley::{self, Fired, Trigger};

/// How the last bytes leave, with what it takes.
#[derive(Clone, Debug)]
pub(in crate::load) struct Crowding {
    means: Means,
    pub(super) arrival: Arrival,
}

#[derive(Clone, Debug)]
enum Means {
    Loop,
    Frozen(Arc<dyn Freezer>),
}

impl Crowding {
    /// A release that doesn't leave in one instant has nothing to be frozen for.
    pub fn of(
        release: Release,
        arrival: Arrival,
        freezer: Option<Arc<dyn Freezer>>,
    ) -> Result<Self, LoadError> {
        let means = match (release, freezer) {
            (Release::Frozen, Some(freezer)) if arrival == Arrival::AtOnce => {
                Means::Frozen(freezer)
            }
            (Release::Frozen, None) if arrival == Arrival::AtOnce => {
                return Err(LoadError::NothingToFreeze);
            }
            _ => Means::Loop,
        };
        Ok(Self { means, arrival })
    }
}

impl Means {
    const fn word(&self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Frozen(_) => "frozen",
        }
    }

    async fn fire(&self, triggers: &Arc<[Trigger]>) -> Fired {
        match self {
            Self::Loop => volley::fire(Arc::clone(triggers)).await,
            Self::Frozen(freezer) => frozen::fire(Arc::clone(freezer), Arc::clone(triggers)).await,
        }
    }
}

impl Load {
    /// Lets a burst go. The board knows every departure afterwards, also when it failed.
    pub(super) async fn release(
        &self,
        phase: PhaseId,
        crowding: &Crowding,
        triggers: Vec<Trigger>,
        board: &Arc<Board>,
        halt: &tokio_util::sync::CancellationToken,
    ) -> Result<BurstFacts, LoadError> {
        let connections = triggers.len() as u64;
        let seats: Vec<_> = triggers.iter().map(|trigger| (trigger.key, trigger.place)).collect();
        let gauged = gauge::twenty_sends_us().await;
        let released = match (&gauged, crowding.arrival) {
            (Err(_), _) => Ok(Vec::new()),
            (Ok(_), Arrival::AtOnce) => self.at_once(&crowding.means, triggers.into(), board).await,
            (Ok(_), Arrival::Staggered(gap)) => {
                self.staggered(triggers, gap, board, halt).await.map(|()| Vec::new())
            }
            (Ok(_), Arrival::Spread) => {
                self.spread(triggers, board, halt).await.map(|()| Vec::new())
            }
            (Ok(_), Arrival::AroundCompletion) => {
                self.around_completion(triggers, board, halt).await.map(|()| Vec::new())
            }
        };
        board.close();
        let (spread_median_us, spread_worst_us) = spread_us(&seats, board);
        let left = seats.iter().filter(|(_, place)| board.departed(*place).last_byte.is_some());
        self.settings.progress.add_released(left.count() as u64);
        Ok(BurstFacts {
            phase,
            release: crowding.means.word().to_owned(),
            spread_median_us,
            spread_worst_us,
            twenty_sends_us: gauged?,
            connections,
            connecting_us: 0,
            resumes: released?,
        })
    }

    /// All in one instant; when each instance was resumed.
    async fn at_once(
        &self,
        means: &Means,
        triggers: Arc<[Trigger]>,
        board: &Board,
    ) -> Result<Vec<ResumeFacts>, LoadError> {
        let clock = self.settings.clock;
        self.tell_leaving(triggers.iter());
        let fired = means.fire(&triggers).await;
        for (trigger, left) in triggers.iter().zip(&fired.left) {
            let Some(left) = *left else { continue };
            // An instance that was resumed could begin only then; another, when its byte left.
            let resumed = resumed_at(&fired.resumes, self.targets()[trigger.target].id);
            let departure = Departure {
                last_byte: Some(clock.at(left)),
                released: Some(clock.at(resumed.map_or(left, |resumed| resumed.max(left)))),
            };
            board.depart(trigger.place, departure);
        }
        let resumes = fired.resumes.iter();
        let resumes = resumes.map(|&(instance, at)| ResumeFacts { instance, at: clock.at(at) });
        fired.trouble.map_or(Ok(resumes.collect()), Err)
    }
}

fn resumed_at(resumes: &[(InstanceId, Instant)], instance: InstanceId) -> Option<Instant> {
    resumes.iter().find(|(resumed, _)| *resumed == instance).map(|&(_, moment)| moment)
}

/// The median and the worst time from a group's first byte to its last, in microseconds; groups of
/// which fewer than two bytes left have none.
fn spread_us(seats: &[(u32, usize)], board: &Board) -> (u64, u64) {
    let mut spreads: Vec<_> = seats
        .chunk_by(|(one, _), (other, _)| one == other)
        .filter_map(|group| {
            let left = group.iter().filter_map(|(_, place)| board.departed(*place).last_byte);
            let mut left: Vec<_> = left.collect();
            left.sort_unstable();
            match left.as_slice() {
                [first, .., last] => Some(last.since(*first).as_micros() as u64),
                _ => None,
            }
        })
        .collect();
    spreads.sort_unstable();
    let median = spreads.get(spreads.len() / 2).copied().unwrap_or(0);
    (median, spreads.last().copied().unwrap_or(0))
}
