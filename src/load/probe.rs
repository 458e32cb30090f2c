//! Whether every instance answers again once a fault is healed.
//!
//! Each is asked for something new, and then for the same once more (rule S05): the window of a fault
//! ends when all of that is answered. What a probe buys it buys in the phase whose fault it follows.

use tokio_util::sync::CancellationToken;

use crate::history::{Cause, PhaseId};
use crate::profile::Burst;

use super::error::LoadError;
use super::files;
use super::run::Load;
use super::scribe::Tally;
use super::scripts;
use super::sketch::{Scene, Sketch, Step};

/// The request that a probe of this phase sends; none where a request needs a token first.
const fn request(burst: &Burst) -> Option<usize> {
    match burst {
        Burst::SubmitToken(_) => None,
        Burst::Race(race) => Some(race.first),
        Burst::Sequential(burst) => Some(burst.request),
        Burst::BadKeys(burst) => Some(burst.request),
        Burst::Rate(rate) => Some(rate.request),
        Burst::SameKey(crowd) | Burst::SameFingerprint(crowd) | Burst::FreshKey(crowd) => {
            Some(crowd.request)
        }
        Burst::Mutated(burst) => Some(burst.crowd.request),
        Burst::SharedKey(burst) => Some(burst.crowd.request),
        Burst::LastUnit(burst) => Some(burst.crowd.request),
        Burst::Mixed(burst) => Some(burst.crowd.request),
    }
}

/// How many intents the probe of a phase takes.
pub fn probes(burst: &Burst, instances: u32) -> u32 {
    request(burst).map_or(0, |_| instances)
}

impl Load {
    /// Asks each instance for something new and for the same again, until there are definite answers
    /// or the client's retries are used up.
    pub async fn probe(
        &mut self,
        phase: PhaseId,
        burst: &Burst,
        stop: &CancellationToken,
    ) -> Result<Tally, LoadError> {
        let instances = self.targets().len();
        let count = probes(burst, instances as u32);
        let Some(request) = request(burst).filter(|_| count > 0) else {
            return Ok(Tally::default());
        };
        let scene = Scene::new(phase, self.parts());
        let intents = (0..count).map(|place| scene.intent(place as usize, place, 1, request));
        let intents: Vec<_> = intents.collect();
        let once = (0..count).map(|place| vec![Step::burst(place, place).because(Cause::Probe)]);
        // Scripts begin at the instances in turn: the second round meets those of the first.
        let sketch =
            Sketch { scripts: once.clone().chain(once).collect(), intents, ..Sketch::default() };
        let room = files::make_room(
            scripts::AT_ONCE as u64,
            (instances * scripts::AT_ONCE) as u64,
            self.files_of_others,
        )?;
        let (desk, scribe) = self.desk(room, stop, None).await;
        let asked = self.play_probe(phase, burst, &sketch, &desk).await;
        drop(desk);
        let tally = self.book(&scribe.finish().await);
        asked.map(|()| tally)
    }

    async fn play_probe(
        &mut self,
        phase: PhaseId,
        burst: &Burst,
        sketch: &Sketch,
        desk: &std::sync::Arc<super::desk::Desk>,
    ) -> Result<(), LoadError> {
        let users = self.composer(phase, burst, sketch).users();
        self.log_in(desk, phase, users).await?;
        let mut composer = self.composer(phase, burst, sketch);
        let begun = composer.next_attempt;
        let mut plan = composer.act(&Vec::new())?;
        let taken = (composer.next_attempt, composer.next_variant);
        self.take(&plan, taken, begun).await?;
        self.next_intent += sketch.intents.len() as u32;
        let again = plan.scripts.split_off(sketch.intents.len());
        scripts::play(desk, phase, plan.scripts).await;
        scripts::play(desk, phase, again).await;
        Ok(())
    }
}
