//! The faults of a drill: planned with their phase, armed when its load is about to leave, ended by
//! events, healed when it is over, and probed.
//!
//! | part | does |
//! |---|---|
//! | `order` | the phases as they run, replays in real time among them |
//! | `refusals` | what can't be done to this target, told before anything starts |
//! | `rules` | a fault of the profile as a rule on the wires |
//! | `herald`, `live` | what the load tells: who means what, and which attempts are under way |
//! | `keeper` | one task a phase, which hears the wires and owns all that stands |
//! | `arming`, `taking` | what happens before the load leaves, and at times |
//! | `looking`, `holds`, `passing` | what ends a hold; time that passes for keys |
//! | `told` | what a watcher is told |
//!
//! Everything that was armed is owned by the keeper's task: however a phase ends, the task goes, and
//! what it held goes on.

mod arming;
mod healing;
mod herald;
mod holds;
mod keeper;
mod live;
mod looking;
mod order;
mod passing;
mod refusals;
mod rules;
mod taking;
mod told;

pub(super) use order::{PlannedPhase, in_order, origin};
pub(super) use refusals::judge;

use std::net::SocketAddr;
use std::sync::{Arc, Weak};

use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::ground::Ground;
use super::{DrillError, Stage, Watcher};
use crate::history::{Clock, Fact, FaultEvent, FaultFacts, FaultId, FaultPlan, Recorder, RunTime};
use crate::load::{Herald, Witness};
use crate::profile::Profile;
use crate::wire::{Guide, Notice, Proxies, WireError};
use herald::FaultHerald;
use keeper::{Assigned, Keeper};
use live::Live;

/// Commands that wait for the keeper.
const MOST_COMMANDS: usize = 4;

/// Whether any phase does something to the target.
pub(super) fn are_in(profile: &Profile) -> bool {
    profile.phases.iter().any(|phase| !phase.faults.is_empty())
}

/// What acts on the target, and what must be known for it.
#[derive(Debug)]
struct Means {
    clock: Clock,
    recorder: Recorder,
    proxies: Weak<Proxies>,
    postgres_url: String,
    /// The target's Redis itself.
    redis_url: Option<String>,
    /// Another Redis, for a failover.
    spare: Option<SocketAddr>,
    guide: Guide,
    seed: u64,
    /// Our word in a lease that we take.
    token: String,
}

impl Means {
    fn proxies(&self) -> Result<Arc<Proxies>, DrillError> {
        self.proxies.upgrade().ok_or(DrillError::Wire { source: WireError::Ended })
    }

    async fn record(&self, fault: FaultId, event: FaultEvent) {
        let at = self.clock.now();
        self.recorder.record(Fact::Fault(FaultFacts { fault, at, event })).await;
    }
}

/// The faults of one drill.
pub(super) struct Faults {
    means: Arc<Means>,
    watcher: Arc<dyn Watcher>,
    live: Arc<Live>,
    herald: Arc<FaultHerald>,
    /// With the keeper while a phase runs.
    notices: Option<mpsc::Receiver<Notice>>,
    next: u16,
}

/// The faults of a phase that runs. Dropping it takes them back.
pub(super) struct AtWork {
    ending: mpsc::Sender<keeper::Command>,
    task: AbortOnDropHandle<keeper::Ended>,
}

impl Faults {
    /// None where the profile has no faults.
    pub(super) fn new(stage: &Stage<'_>, ground: &Ground) -> Option<Self> {
        let profile = &stage.order.profile;
        let wires = ground.wires().filter(|_| are_in(profile))?;
        let live = Arc::new(Live::default());
        let means = Means {
            clock: stage.clock,
            recorder: stage.recorder.clone(),
            proxies: wires.proxies(),
            postgres_url: ground.postgres_url().to_owned(),
            redis_url: ground.redis_url(profile),
            spare: ground.spare_redis(),
            guide: super::wires::guide(profile),
            seed: profile.seed,
            token: format!("dupeproof-{}", stage.run),
        };
        Some(Self {
            means: Arc::new(means),
            watcher: Arc::clone(&stage.watcher),
            herald: Arc::new(FaultHerald::new(wires.herald(), Arc::clone(&live))),
            live,
            notices: wires.notices(),
            next: 0,
        })
    }

    /// Whom the load tells of its intents.
    pub(super) fn herald(&self) -> Arc<dyn Herald> {
        Arc::clone(&self.herald) as Arc<dyn Herald>
    }

    /// Whom the load tells of its attempts.
    pub(super) fn witness(&self) -> Arc<dyn Witness> {
        Arc::clone(&self.live) as Arc<dyn Witness>
    }

    /// Writes down what a phase is to suffer; from now on its load may be told to begin. None where it
    /// is left alone.
    pub(super) async fn begin(
        &mut self,
        planned: &PlannedPhase<'_>,
        began: RunTime,
    ) -> Option<AtWork> {
        let mut assigned = Vec::new();
        for fault in &planned.phase.faults {
            let id = FaultId(self.next);
            self.next += 1;
            let plan = FaultPlan {
                phase: planned.id,
                name: fault.name(),
                act: fault.act.word().to_owned(),
                at_least: 1,
            };
            self.means.record(id, FaultEvent::Planned(plan)).await;
            assigned.push(Assigned::new(id, fault.clone()));
        }
        if assigned.is_empty() {
            return None;
        }
        let notices = self.notices.take()?;
        self.live.begin();
        let (commands, heard) = mpsc::channel(MOST_COMMANDS);
        self.herald.listen(Some(commands.clone()));
        let keeper = Keeper::new(
            (Arc::clone(&self.means), Arc::clone(&self.watcher), Arc::clone(&self.live)),
            assigned,
            began,
            (notices, heard),
        );
        let task = AbortOnDropHandle::new(tokio::spawn(keeper.run()));
        Some(AtWork { ending: commands, task })
    }

    /// The load of the phase is over: whatever stands is taken back, and comes to its end.
    pub(super) async fn end(&mut self, at_work: AtWork) -> Result<(), DrillError> {
        let AtWork { ending, task } = at_work;
        self.herald.listen(None);
        let _ = ending.send(keeper::Command::End).await;
        let ended = task.await;
        self.live.end();
        let keeper::Ended { notices, trouble } =
            ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
        self.notices = Some(notices);
        trouble.map_or(Ok(()), Err)
    }

    /// Writes down what the wires have told since the last phase: effects that showed late.
    pub(super) async fn hear_last(&mut self) {
        let Some(notices) = &mut self.notices else { return };
        while let Ok(notice) = notices.try_recv() {
            self.means.recorder.record(Fact::Fault(notice.facts)).await;
        }
    }
}
