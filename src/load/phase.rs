//! One phase, from its sketch to its summary: log in, set the scene, act together, ask on.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio_util::sync::CancellationToken;

use crate::history::{BurstFacts, Cause, Fact, PhaseId};
use crate::profile::Burst;

use super::burst::{Crowding, Freezer};
use super::compose::{Composer, Given, Plan, PlannedAttempt};
use super::desk::Desk;
use super::error::LoadError;
use super::files::{self, Room};
use super::herald::{herald, ready};
use super::run::{Kept, Load};
use super::scribe::Tally;
use super::scripts;
use super::sketch::{Scene, Sketch};

/// What a phase came to; the facts are in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseSummary {
    /// Attempts of the burst itself or of the steady load, as [`super::planned`] counts them.
    pub planned: u64,
    /// How a burst was released; `None` where nothing leaves together, or when it was interrupted
    /// before that.
    pub release: Option<BurstFacts>,
    /// All attempts, retries included.
    pub tally: Tally,
    /// Whether `stop` ended it early.
    pub interrupted: bool,
}

impl Load {
    /// Runs one phase to its end: the replies, and the retries of its clients. `freezer` is needed
    /// for a frozen release only. `stop` ends it early and cleanly: what was sent is written down.
    pub async fn run_phase(
        &mut self,
        phase: PhaseId,
        burst: &Burst,
        freezer: Option<Arc<dyn Freezer>>,
        stop: &CancellationToken,
    ) -> Result<PhaseSummary, LoadError> {
        if self.targets().is_empty() {
            return Err(LoadError::NoInstance);
        }
        if let Burst::Rate(rate) = burst {
            return self.run_steady(phase, rate, stop).await;
        }
        let sketch = Scene::new(phase, self.parts()).sketch(burst)?;
        let crowding = burst
            .crowd()
            .filter(|_| !sketch.crowd.is_empty())
            .map(|crowd| Crowding::of(crowd.release, crowd.arrival, freezer))
            .transpose()?;
        self.numbers_suffice(&sketch)?;
        let room = self.make_room(&sketch)?;
        // A burst that can't be released ends its own clients, and not the run's.
        let halt = stop.child_token();
        let (desk, scribe) = self.desk(room, &halt, None).await;
        let acted = self.act(phase, burst, &sketch, crowding, &desk, &halt).await;
        drop(desk);
        let tally = self.book(&scribe.finish().await);
        let (planned, release) = acted?;
        Ok(PhaseSummary { planned, release, tally, interrupted: stop.is_cancelled() })
    }

    async fn act(
        &mut self,
        phase: PhaseId,
        burst: &Burst,
        sketch: &Sketch,
        crowding: Option<Crowding>,
        desk: &Arc<Desk>,
        halt: &CancellationToken,
    ) -> Result<(u64, Option<BurstFacts>), LoadError> {
        let users = self.composer(phase, burst, sketch).users();
        self.log_in(desk, phase, users).await?;
        let numbers = sketch.intents.len() as u32;
        let first_attempt = self.next_attempt.load(Ordering::Relaxed);
        let mut composer = self.composer(phase, burst, sketch);
        let before = composer.prepare()?;
        let mut taken = (composer.next_attempt, composer.next_variant);
        self.take(&before, taken, first_attempt).await?;
        let given: Given = scripts::play(desk, phase, before.scripts)
            .await
            .into_iter()
            .map(|answer| answer.and_then(|answer| answer.given).map(|given| given.to_string()))
            .collect();
        let mut composer = self.composer(phase, burst, sketch);
        let begun = composer.next_attempt;
        let plan = composer.act(&given)?;
        taken = (composer.next_attempt, composer.next_variant);
        self.take(&plan, taken, begun).await?;
        self.next_intent += numbers;
        let planned = planned_here(&plan);
        self.settings.progress.add_planned(planned);
        ready(self.herald.as_deref()).await?;
        let release = match crowding {
            Some(crowding) => self.crowd(phase, &crowding, plan.crowd, desk, halt).await?,
            None => None,
        };
        scripts::play(desk, phase, plan.scripts).await;
        Ok((planned, release))
    }

    /// Takes the numbers of a stage, writes down what it is about and tells whom it concerns.
    pub(super) async fn take(
        &mut self,
        plan: &Plan,
        (attempt, variant): (u32, u32),
        from: u32,
    ) -> Result<(), LoadError> {
        self.next_attempt.fetch_add(attempt - from, Ordering::Relaxed);
        self.next_variant = variant;
        let recorder = self.settings.recorder.clone();
        self.meanings.learn(&plan.intents);
        let mut lines = recorder.lines();
        for intent in &plan.intents {
            lines.add_intent(intent);
            if lines.are_many() {
                recorder.record_all(&mut lines).await;
            }
        }
        for variant in &plan.variants {
            lines.add(Fact::Variant(variant.clone()));
            if lines.are_many() {
                recorder.record_all(&mut lines).await;
            }
        }
        recorder.record_all(&mut lines).await;
        let kept = plan.intents.iter().zip(&plan.originals);
        let kept = kept.filter(|(_, letter)| letter.may_be_resolved());
        let kept = kept.map(|(intent, letter)| (intent.clone(), Kept::Letter(Arc::clone(letter))));
        self.remember(kept.collect::<Vec<_>>());
        herald(self.herald.as_deref(), &plan.intents).await
    }

    pub(super) fn composer<'a>(
        &'a self,
        phase: PhaseId,
        burst: &'a Burst,
        sketch: &'a Sketch,
    ) -> Composer<'a> {
        Composer {
            settings: &self.settings,
            cast: &self.cast,
            dice: &self.dice,
            phase,
            sessions: &self.sessions,
            burst,
            sketch,
            first_intent: self.next_intent,
            next_attempt: self.next_attempt.load(Ordering::Relaxed),
            next_variant: self.next_variant,
        }
    }

    fn numbers_suffice(&self, sketch: &Sketch) -> Result<(), LoadError> {
        let scripted: usize = sketch.scripts.iter().map(Vec::len).sum();
        let planned = (sketch.prepare.len() + sketch.crowd.len() + scripted) as u64;
        let taken = self.next_attempt.load(Ordering::Relaxed).max(self.next_intent);
        let limit = u64::from(u32::MAX - taken) / 2;
        match planned > limit || sketch.intents.len() as u64 > limit {
            true => Err(LoadError::TooMany { planned, limit }),
            false => Ok(()),
        }
    }

    fn make_room(&self, sketch: &Sketch) -> Result<Room, LoadError> {
        let clients = (sketch.crowd.len() as u64).max(scripts::AT_ONCE as u64);
        let asked = 1 + u64::from(self.settings.client.retries.at_most);
        let instances = asked.min(self.targets().len() as u64);
        files::make_room(clients, clients.saturating_mul(instances), self.files_of_others)
    }
}

fn planned_here(plan: &Plan) -> u64 {
    let all = plan.crowd.iter().chain(plan.scripts.iter().flatten());
    let is_burst = |planned: &&PlannedAttempt| planned.cause == Cause::Burst;
    all.filter(is_burst).count() as u64
}
