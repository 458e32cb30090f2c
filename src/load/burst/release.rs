//! The moment of a burst: measure the floor, let everything go, and put on the board what became
//! of each last byte.

use std::sync::Arc;
use std::time::Instant;

use crate::history::{BurstFacts, InstanceId, PhaseId, ResumeFacts};
use crate::load::error::LoadError;
use crate::load::run::Load;
use crate::profile::Release;

use super::board::{Board, Departure};
use super::frozen::{self, Freezer};
use super::gauge;
use super::volley::{self, Fired, Trigger};

/// How the last bytes leave, with what it takes.
#[derive(Clone, Debug)]
pub(super) enum Means {
    Loop,
    Frozen(Arc<dyn Freezer>),
}

impl Means {
    pub fn of(release: Release, freezer: Option<Arc<dyn Freezer>>) -> Result<Self, LoadError> {
        match (release, freezer) {
            (Release::Loop, _) => Ok(Self::Loop),
            (Release::Frozen, Some(freezer)) => Ok(Self::Frozen(freezer)),
            (Release::Frozen, None) => Err(LoadError::NothingToFreeze),
        }
    }

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
        means: &Means,
        triggers: Vec<Trigger>,
        planned: u64,
        board: &Board,
    ) -> Result<BurstFacts, LoadError> {
        let triggers: Arc<[Trigger]> = triggers.into();
        let gauged = gauge::twenty_sends_us().await;
        let (twenty_sends_us, fired) = match gauged {
            Ok(cost) => (cost, means.fire(&triggers).await),
            Err(error) => (0, Fired::nothing(error)),
        };
        let left = fired.left.iter().flatten().count();
        self.settings.progress.add_released(left as u64);
        board.release(self.departures(planned as usize, &triggers, &fired));
        let (spread_median_us, spread_worst_us) = volley::spread_us(&triggers, &fired.left);
        let resumes = fired.resumes.iter().map(|&(instance, moment)| ResumeFacts {
            instance,
            at: self.settings.clock.at(moment),
        });
        let facts = BurstFacts {
            phase,
            release: means.word().to_owned(),
            spread_median_us,
            spread_worst_us,
            twenty_sends_us,
            connections: triggers.len() as u64,
            connecting_us: 0,
            resumes: resumes.collect(),
        };
        fired.trouble.map_or(Ok(facts), Err)
    }

    /// What became of each attempt, by its place. An instance that was resumed could begin only
    /// then; one that wasn't frozen, when its byte left.
    fn departures(&self, planned: usize, triggers: &[Trigger], fired: &Fired) -> Vec<Departure> {
        let clock = self.settings.clock;
        let mut departures = vec![Departure::default(); planned];
        for (trigger, left) in triggers.iter().zip(&fired.left) {
            let Some(left) = *left else { continue };
            let resumed = resumed_at(&fired.resumes, self.targets()[trigger.target].id);
            departures[trigger.place] = Departure {
                last_byte: Some(clock.at(left)),
                released: Some(clock.at(resumed.map_or(left, |resumed| resumed.max(left)))),
            };
        }
        departures
    }
}

fn resumed_at(resumes: &[(InstanceId, Instant)], instance: InstanceId) -> Option<Instant> {
    resumes.iter().find(|(resumed, _)| *resumed == instance).map(|&(_, moment)| moment)
}
