//! The phases of a drill, through the `load` room.

use std::sync::Arc;
use std::time::Duration;

use super::freezing::GroundFreezer;
use super::ground::Ground;
use super::supervisor::Supervisor;
use super::{DrillError, Event, Stage};
use crate::guard::Guard;
use crate::history::{Contended, CounterFacts, Fact, InstanceFacts, PhaseFacts, PhaseId, RunId};
use crate::load::{self, LoadSettings, Progress, TargetInstance};
use crate::observe::Subject;
use crate::profile::{Burst, Phase, Profile, Release};

/// How long an instance may take to tell how many requests it received.
const COUNTER_LIMIT: Duration = Duration::from_secs(5);

/// The products of a run.
pub(super) fn products(profile: &Profile, run: RunId) -> impl Iterator<Item = i64> + use<> {
    let first = run.first_product();
    (0..i64::from(profile.products.count)).map(move |index| first + index)
}

/// The exact users, keys and products that the phases will use.
pub(super) fn subject(profile: &Profile, run: RunId) -> Subject {
    let intents: u32 = profile
        .phases
        .iter()
        .filter_map(|phase| phase.burst.crowd())
        .map(|crowd| crowd.users)
        .sum();
    Subject {
        users: (0..intents).map(|number| load::user_name(run, number)).collect(),
        keys: (0..intents).map(|number| load::key_name(run, number)).collect(),
        products: products(profile, run).collect(),
    }
}

/// The load of one drill.
pub(super) struct Load<'a> {
    stage: &'a Stage<'a>,
    ground: &'a Ground,
    supervisor: &'a Supervisor,
    freezer: Arc<GroundFreezer>,
    progress: Arc<Progress>,
    load: load::Load,
}

impl<'a> Load<'a> {
    pub(super) fn new(
        stage: &'a Stage<'a>,
        guard: &Guard,
        ground: &'a Ground,
        supervisor: &'a Supervisor,
    ) -> Self {
        let profile = &stage.order.profile;
        let progress = Arc::new(Progress::default());
        let load = load::Load::new(LoadSettings {
            run: stage.run,
            seed: profile.seed,
            clock: stage.clock,
            recorder: stage.recorder.clone(),
            targets: ground.instances.iter().map(|instance| instance.target.clone()).collect(),
            client: profile.client,
            contract: profile.contract.clone(),
            requests: profile.requests.clone(),
            products: profile.products,
            actor: profile.actor.clone(),
            most_in_flight: load::MOST_IN_FLIGHT,
            progress: Arc::clone(&progress),
        });
        let freezer = GroundFreezer::new(&ground.instances, guard.journal().clone());
        let freezer = Arc::new(freezer);
        Self { stage, ground, supervisor, freezer, progress, load }
    }

    /// Runs all phases, or those before the load was stopped.
    pub(super) async fn run_phases(&mut self) -> Result<(), DrillError> {
        for instance in &self.ground.instances {
            let facts = InstanceFacts {
                id: instance.target.id,
                name: instance.name.clone(),
                url: instance.url.clone(),
            };
            self.stage.recorder.record(Fact::Instance(facts)).await;
        }
        for (phase, id) in self.stage.order.profile.phases.iter().zip(0..) {
            if self.supervisor.stop_load().is_cancelled() {
                break;
            }
            self.run_phase(phase, PhaseId(id)).await?;
        }
        Ok(())
    }

    async fn run_phase(&mut self, phase: &Phase, id: PhaseId) -> Result<(), DrillError> {
        let clock = self.stage.clock;
        let Burst::SameKey(burst) = &phase.burst else { return Ok(()) };
        let planned = u64::from(burst.users) * u64::from(burst.threads);
        let started = PhaseFacts {
            id,
            name: phase.name.clone(),
            burst: phase.burst.word().to_owned(),
            arrival: burst.arrival.word().to_owned(),
            contended: (burst.threads > 1).then_some(Contended::Key),
            overlap_share: burst.overlap_share,
            planned,
            at: clock.now(),
        };
        let began = started.at;
        self.stage.recorder.record(Fact::PhaseStarted(started)).await;
        self.stage.watcher.see(Event::PhaseStarted {
            name: phase.name.clone(),
            attempts: planned,
            progress: Arc::clone(&self.progress),
        });
        let freezer = match burst.release {
            Release::Frozen => Some(Arc::clone(&self.freezer) as Arc<dyn load::Freezer>),
            Release::Loop => None,
        };
        self.load
            .run_phase(id, &phase.burst, freezer, self.supervisor.stop_load())
            .await
            .map_err(|source| DrillError::Load { phase: phase.name.clone(), source })?;
        let at = clock.now();
        self.stage.recorder.record(Fact::PhaseEnded { phase: id, at }).await;
        self.stage
            .watcher
            .see(Event::PhaseEnded { name: phase.name.clone(), took: at.since(began) });
        Ok(())
    }

    /// The longest time in which any request was handled so far.
    pub(super) const fn longest_handling(&self) -> Duration {
        self.load.longest_handling()
    }

    /// Asks again for every intent without a definite outcome, until the contract's limit. Whether
    /// there was any.
    pub(super) async fn ask_again(&mut self) -> Result<bool, DrillError> {
        let undecided = self.load.undecided();
        if undecided.is_empty() {
            return Ok(false);
        }
        self.stage.watcher.see(Event::AskingAgain {
            intents: undecided.len(),
            progress: Arc::clone(&self.progress),
        });
        let limit = self.stage.order.profile.contract.recovery_limit;
        let until = self.stage.clock.now().plus(limit);
        // Ctrl-C has stopped the load; the resolver still runs, or nothing could be judged.
        let never = tokio_util::sync::CancellationToken::new();
        self.load
            .ask_again(&undecided, until, &never)
            .await
            .map_err(|source| DrillError::Load { phase: "asking again".to_owned(), source })?;
        Ok(true)
    }

    /// What each instance says it has received; one that has ended says nothing.
    pub(super) async fn record_counters(&self) -> Result<(), DrillError> {
        for instance in &self.ground.instances {
            let id = instance.target.id;
            let Some(counter) = instance.counter else { continue };
            let target = TargetInstance::plain(id, counter);
            let Ok(reply) = load::get(&target, "/", COUNTER_LIMIT).await else { continue };
            let told: Option<u64> = serde_json::from_slice::<serde_json::Value>(&reply.body)
                .ok()
                .and_then(|told| told["orders_posted"].as_u64());
            if let Some(orders_posted) = told {
                let facts = CounterFacts { instance: id, orders_posted };
                self.stage.recorder.record(Fact::Counter(facts)).await;
            }
        }
        Ok(())
    }
}
