//! The phases of a drill, through the `load` room.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::faults::{self, AtWork, Faults, PlannedPhase};
use super::freezing::GroundFreezer;
use super::ground::Ground;
use super::supervisor::Supervisor;
use super::wires::{self, Wires};
use super::{DrillError, Event, Stage};
use crate::guard::Guard;
use crate::history::{Contended, CounterFacts, Fact, InstanceFacts, PhaseFacts, RunId};
use crate::load::{self, Cast, LoadSettings, Planned, Progress, TargetInstance};
use crate::observe::Subject;
use crate::profile::{BodyTemplate, Burst, Hole, Phase, Products, Profile, Release, Request};

/// How long an instance may take to tell how many requests it received.
const COUNTER_LIMIT: Duration = Duration::from_secs(5);

/// What the phases will do and need, in their order.
pub(super) fn planned(profile: &Profile) -> Result<Vec<Planned>, DrillError> {
    let Products { count, stock } = profile.products;
    let planned = |PlannedPhase { id, phase, apart }: PlannedPhase<'_>| {
        let failed = |source| DrillError::Load { phase: phase.name.clone(), source };
        let mut planned = load::planned(id, &phase.burst, profile).map_err(failed)?;
        planned.intents += probes(profile, &phase);
        let apart = apart.into_iter().flat_map(|apart| apart.indices(count));
        planned.own_products.extend(apart.map(|index| (index, stock)));
        Ok(planned)
    };
    faults::in_order(profile).into_iter().map(planned).collect()
}

/// How many intents ask after a phase's faults whether the target answers again.
fn probes(profile: &Profile, phase: &Phase) -> u32 {
    match phase.faults.is_empty() {
        true => 0,
        false => load::probes(&phase.burst, wires::instances(profile)),
    }
}

/// The products of a run, each with its stock at the start.
pub(super) fn products(profile: &Profile, run: RunId) -> Result<BTreeMap<i64, u32>, DrillError> {
    let cast = Cast::new(run, &profile.actor, &profile.contract.key);
    let Products { count, stock } = profile.products;
    let shared = (0..count).map(|index| (index, stock));
    let own = planned(profile)?.into_iter().flat_map(|phase| phase.own_products);
    let dealt = shared.chain(own).map(|(index, stock)| (cast.product(index), stock));
    let changed = profile.requests.iter().flat_map(changed_products).map(|id| (id, stock));
    // A pool deals its products out more than once; then the most is what suffices for all.
    let mut products = BTreeMap::new();
    for (product, stock) in dealt.chain(changed) {
        let units = products.entry(product).or_insert(stock);
        *units = stock.max(*units);
    }
    Ok(products)
}

/// The products that a changed request buys instead.
fn changed_products(request: &Request) -> impl Iterator<Item = i64> {
    let is_product = |pointer: &str| {
        let field = request.body.as_ref().and_then(|body| body.at(pointer));
        field.and_then(BodyTemplate::only_hole) == Some(Hole::Product)
    };
    let changed = request.mutate.iter().filter(move |(pointer, _)| is_product(pointer));
    changed.flat_map(|(_, values)| values.iter().filter_map(serde_json::Value::as_i64))
}

/// The exact users, keys and products that the phases will use.
pub(super) fn subject(profile: &Profile, run: RunId) -> Result<Subject, DrillError> {
    let cast = Cast::new(run, &profile.actor, &profile.contract.key);
    let intents: u32 = planned(profile)?.iter().map(|phase| phase.intents).sum();
    let users: BTreeSet<String> = (0..intents).map(|number| cast.user(number)).collect();
    Ok(Subject {
        users: users.into_iter().collect(),
        keys: (0..intents).map(|number| cast.key(number)).collect(),
        products: products(profile, run)?.into_keys().collect(),
    })
}

/// The load of one drill.
pub(super) struct Load<'a> {
    stage: &'a Stage<'a>,
    ground: &'a Ground,
    supervisor: &'a Supervisor,
    freezer: Arc<GroundFreezer>,
    progress: Arc<Progress>,
    faults: Option<Faults>,
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
        let faults = Faults::new(stage, ground);
        let load = match &faults {
            Some(faults) => load.witnessed_by(faults.witness()),
            None => load,
        };
        let herald = faults.as_ref().map(Faults::herald).or_else(|| ground.herald());
        let load = match herald {
            Some(herald) => load.heralded_by(herald).leaving_files(Wires::most_files(profile)),
            None => load,
        };
        let freezer = GroundFreezer::new(&ground.instances, guard.journal().clone());
        let freezer = Arc::new(freezer);
        Self { stage, ground, supervisor, freezer, progress, faults, load }
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
        for planned in faults::in_order(&self.stage.order.profile) {
            if self.supervisor.stop_load().is_cancelled() {
                break;
            }
            self.run_phase(&planned).await?;
        }
        Ok(())
    }

    async fn run_phase(&mut self, of: &PlannedPhase<'_>) -> Result<(), DrillError> {
        let (id, phase) = (of.id, &*of.phase);
        let clock = self.stage.clock;
        let profile = &self.stage.order.profile;
        let failed = |source| DrillError::Load { phase: phase.name.clone(), source };
        let planned = load::planned(id, &phase.burst, profile).map_err(failed)?;
        let crowd = phase.burst.crowd();
        let started = PhaseFacts {
            id,
            name: phase.name.clone(),
            burst: phase.burst.word().to_owned(),
            arrival: phase.burst.arrival().to_owned(),
            contended: contended(&phase.burst),
            overlap_share: crowd.map_or(0.0, |crowd| crowd.overlap_share),
            planned: planned.attempts,
            at: clock.now(),
        };
        let began = started.at;
        self.stage.recorder.record(Fact::PhaseStarted(started)).await;
        self.stage.watcher.see(Event::PhaseStarted {
            name: phase.name.clone(),
            attempts: planned.attempts + planned.replays,
            progress: Arc::clone(&self.progress),
        });
        let is_frozen = crowd.is_some_and(|crowd| crowd.release == Release::Frozen);
        let freezer = is_frozen.then(|| Arc::clone(&self.freezer) as Arc<dyn load::Freezer>);
        let stop = self.supervisor.stop_load();
        self.load.deal_from(of.apart.map_or(0, |apart| apart.load));
        let at_work = match &mut self.faults {
            Some(faults) => faults.begin(of, began).await,
            None => None,
        };
        let ran = self.load.run_phase(id, &phase.burst, freezer, stop).await.map_err(failed);
        self.heal(at_work, ran, of).await?;
        let at = clock.now();
        self.stage.recorder.record(Fact::PhaseEnded { phase: id, at }).await;
        self.stage
            .watcher
            .see(Event::PhaseEnded { name: phase.name.clone(), took: at.since(began) });
        Ok(())
    }

    /// Takes back what was done in a phase, and asks whether the target answers again.
    async fn heal(
        &mut self,
        at_work: Option<AtWork>,
        ran: Result<load::PhaseSummary, DrillError>,
        of: &PlannedPhase<'_>,
    ) -> Result<(), DrillError> {
        let (Some(faults), Some(at_work)) = (&mut self.faults, at_work) else {
            return ran.map(drop);
        };
        // A fault that couldn't be armed is why the load couldn't leave.
        faults.end(at_work).await.and(ran)?;
        let failed = |source| DrillError::Load { phase: of.phase.name.clone(), source };
        let stop = self.supervisor.stop_load();
        if stop.is_cancelled() {
            return Ok(());
        }
        self.load.deal_from(of.apart.map_or(0, |apart| apart.probe));
        self.load.probe(of.id, &of.phase.burst, stop).await.map(drop).map_err(failed)
    }

    /// What the wires tell of faults when everything has come to rest.
    pub(super) async fn hear_last(&mut self) {
        if let Some(faults) = &mut self.faults {
            faults.hear_last().await;
        }
    }

    /// The orders that the target has acknowledged so far.
    pub(super) fn acknowledged(&self) -> impl Iterator<Item = String> {
        self.load.acknowledged()
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
                .and_then(|told| told["posts"].as_u64());
            if let Some(posts) = told {
                let facts = CounterFacts { instance: id, posts };
                self.stage.recorder.record(Fact::Counter(facts)).await;
            }
        }
        Ok(())
    }
}

/// What a burst's attempts contend for; nothing where they don't claim to meet.
fn contended(burst: &Burst) -> Option<Contended> {
    let threads = burst.crowd()?.threads;
    match burst {
        Burst::SameKey(_)
        | Burst::SameFingerprint(_)
        | Burst::Mutated(_)
        | Burst::SubmitToken(_)
        | Burst::Mixed(_) => (threads > 1).then_some(Contended::Key),
        Burst::SharedKey(shared) => {
            (threads > 1 || shared.sharing > 1).then_some(Contended::KeyString)
        }
        Burst::LastUnit(_) => Some(Contended::Product),
        Burst::Race(race) => (!race.in_turn).then_some(Contended::Entity),
        Burst::FreshKey(_) | Burst::Sequential(_) | Burst::BadKeys(_) | Burst::Rate(_) => None,
    }
}
