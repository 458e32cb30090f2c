//! The keeper of a phase's faults: one task that arms them, hears the wires, ends holds, and heals.
//!
//! It alone owns what stands: rules, partitions, holds, leases. While anything is held it looks every few
//! milliseconds; one look serves all holds. When something goes wrong on the way it takes everything
//! back at once and says so at the end, so that no trouble of ours holds up the target.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::holds::{Held, Place};
use super::live::Live;
use super::passing::Taken;
use super::{Means, told};
use crate::chaos::Keys;
use crate::drill::{DrillError, Watcher};
use crate::history::{Fact, FaultEvent, FaultId, FiredStep, Firing, FiringEnd, IntentId, RunTime};
use crate::observe::LockWatch;
use crate::profile::{Act, Fault, Owned, Trigger, Until};
use crate::wire::{Armed, HoldId, Notice};

/// Between two looks while something is held.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// What the keeper is told.
#[derive(Debug)]
pub(super) enum Command {
    /// The load is about to leave.
    Arm(oneshot::Sender<Result<(), String>>),
    /// It is over.
    End,
}

/// What the keeper leaves behind.
#[derive(Debug)]
pub(super) struct Ended {
    pub notices: mpsc::Receiver<Notice>,
    pub trouble: Option<DrillError>,
}

/// A fault with its number, and what became of it.
#[derive(Debug)]
pub(super) struct Assigned {
    pub id: FaultId,
    pub spec: Fault,
    pub armed: Vec<Armed>,
    pub is_armed: bool,
    pub is_healed: bool,
    /// When it fires by its time, until it has.
    pub due: Option<RunTime>,
    /// When what it did is undone, where that is before the phase is over.
    pub heals: Option<RunTime>,
    pub taken: Option<Taken>,
    pub fired: u64,
    pub ends: BTreeMap<&'static str, u64>,
}

impl Assigned {
    pub(super) const fn new(id: FaultId, spec: Fault) -> Self {
        Self {
            id,
            spec,
            armed: Vec::new(),
            is_armed: false,
            is_healed: false,
            due: None,
            heals: None,
            taken: None,
            fired: 0,
            ends: BTreeMap::new(),
        }
    }

    fn owner(&self) -> Owned {
        match &self.spec.at {
            Trigger::Step(step) => step.of,
            Trigger::Time(_) => Owned::Intent,
        }
    }
}

pub(super) struct Keeper {
    pub means: Arc<Means>,
    pub watcher: Arc<dyn Watcher>,
    pub live: Arc<Live>,
    pub faults: Vec<Assigned>,
    pub began: RunTime,
    pub notices: mpsc::Receiver<Notice>,
    commands: mpsc::Receiver<Command>,
    pub holds: Vec<Held>,
    /// Refusals in a row that intents had before, the least since something of them is held.
    pub refused_before: HashMap<Place, u32>,
    pub keys: Option<Keys>,
    pub locks: Option<LockWatch>,
    trouble: Option<DrillError>,
}

impl Keeper {
    pub(super) fn new(
        (means, watcher, live): (Arc<Means>, Arc<dyn Watcher>, Arc<Live>),
        faults: Vec<Assigned>,
        began: RunTime,
        (notices, commands): (mpsc::Receiver<Notice>, mpsc::Receiver<Command>),
    ) -> Self {
        Self {
            means,
            watcher,
            live,
            faults,
            began,
            notices,
            commands,
            holds: Vec::new(),
            refused_before: HashMap::new(),
            keys: None,
            locks: None,
            trouble: None,
        }
    }

    pub(super) async fn run(mut self) -> Ended {
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let due = self.next_due();
            let clock = self.means.clock;
            let come = async move {
                match due {
                    Some(due) => sleep_until(Instant::from_std(clock.instant(due))).await,
                    None => std::future::pending().await,
                }
            };
            let done = tokio::select! {
                biased;
                Some(notice) = self.notices.recv() => self.heard(notice).await,
                command = self.commands.recv() => match command {
                    Some(Command::Arm(done)) => self.armed(done).await,
                    Some(Command::End) | None => break,
                },
                () = come => self.fire_due().await,
                _ = looks.tick(), if !self.holds.is_empty() => self.look().await,
            };
            if let Err(trouble) = done {
                self.give_up(trouble).await;
            }
        }
        if let Err(trouble) = self.heal_all().await {
            self.trouble.get_or_insert(trouble);
        }
        told::over(&*self.watcher, &self.faults);
        Ended { notices: self.notices, trouble: self.trouble }
    }

    async fn armed(&mut self, done: oneshot::Sender<Result<(), String>>) -> Result<(), DrillError> {
        let armed = match self.trouble {
            Some(_) => Err(None),
            None => self.arm_all().await.map_err(Some),
        };
        // The load ends for this reason, which is told with the phase; the cause follows by itself.
        let told = armed.as_ref().map(|_| ()).map_err(|_| "a fault could not be armed".to_owned());
        let _ = done.send(told);
        match armed {
            Err(Some(trouble)) => Err(trouble),
            Ok(()) | Err(None) => Ok(()),
        }
    }

    /// Something went wrong: nothing stays held because of that.
    async fn give_up(&mut self, trouble: DrillError) {
        self.trouble.get_or_insert(trouble);
        self.holds.clear();
        self.faults.iter_mut().for_each(|fault| {
            fault.armed.clear();
            (fault.due, fault.heals) = (None, None);
        });
    }

    pub(super) fn fault(&mut self, id: FaultId) -> Option<&mut Assigned> {
        self.faults.iter_mut().find(|fault| fault.id == id)
    }

    /// Writes down what the wires tell, and takes over what they hold.
    pub(super) async fn heard(&mut self, notice: Notice) -> Result<(), DrillError> {
        let fault = notice.facts.fault;
        self.means.recorder.record(Fact::Fault(notice.facts.clone())).await;
        match &notice.facts.event {
            FaultEvent::Fired(firing) => {
                self.count_firing(fault, firing.step.as_ref());
                match notice.hold {
                    Some(hold) => self.stands(hold, firing.clone(), notice).await,
                    None => Ok(()),
                }
            }
            FaultEvent::Ended { firing, how } => {
                self.ended(fault, *firing, *how);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn count_firing(&mut self, id: FaultId, step: Option<&FiredStep>) {
        let watcher = Arc::clone(&self.watcher);
        if let Some(fault) = self.fault(id) {
            fault.fired += 1;
            if fault.fired == 1 {
                told::first(&*watcher, fault, step);
            }
        }
    }

    pub(super) fn ended(&mut self, id: FaultId, firing: u32, how: FiringEnd) {
        self.holds.retain(|held| held.fault != id || held.firing != firing);
        if let Some(fault) = self.fault(id) {
            *fault.ends.entry(told::end(how)).or_default() += 1;
        }
    }

    /// A step is held.
    async fn stands(
        &mut self,
        hold: HoldId,
        firing: Firing,
        notice: Notice,
    ) -> Result<(), DrillError> {
        let Some(fault) = self.faults.iter().position(|it| it.id == notice.facts.fault) else {
            return Ok(());
        };
        let step = firing.step.as_ref();
        let assigned = &self.faults[fault];
        let (id, owner) = (assigned.id, assigned.owner());
        let whose = whose(step);
        let product = step.and_then(|step| step.product).or_else(|| {
            whose.first().and_then(|intent| self.live.person(*intent)).map(|person| person.product)
        });
        let group = match owner {
            Owned::Product => product.map_or_else(Vec::new, |product| self.live.buyers(product)),
            Owned::Intent | Owned::Anyone => whose.clone(),
        };
        let (until, is_passing) = match &assigned.spec.act {
            Act::Hold(hold) => (hold.until, false),
            Act::Expire(_) if self.is_renewal(id, step) => return Ok(()),
            Act::Expire(expire) => (expire.hold.until, true),
            Act::Partition(_) | Act::SwapUpstream { .. } | Act::TakeLease { .. } => {
                self.strike(fault).await?;
                return self.release(hold, FiringEnd::AtOnce).await;
            }
            _ => return Ok(()),
        };
        let is_anothers = notice.lease.as_ref().is_some_and(|lease| lease.is_anothers);
        if is_anothers && !is_passing && matches!(until, Until::TakenOver | Until::LeaseOver) {
            return self.release(hold, FiringEnd::TakenOver).await;
        }
        let mut held = Held {
            hold,
            fault: id,
            firing: firing.number,
            since: notice.facts.at,
            whose,
            instance: firing.instance,
            backend: step.and_then(|step| step.backend),
            has_company: self.live.scene(&group).left > 1,
            group,
            until,
            lease: None,
            passing: None,
            renewals: None,
            deadline: None,
            agreed: None,
        };
        held.lease = self.lease(&held, &notice).await?;
        if is_passing {
            self.begin_passing(&mut held, &notice).await?;
        }
        self.holds.push(held);
        Ok(())
    }

    /// A renewal that is withheld while time passes ends with the hold that it was withheld for.
    fn is_renewal(&self, fault: FaultId, step: Option<&FiredStep>) -> bool {
        let whose = whose(step);
        self.holds.iter().any(|held| {
            let is_its = held.whose.iter().any(|intent| whose.contains(intent));
            held.fault == fault && is_its && held.renewals.is_some()
        })
    }

    pub(super) async fn release(&self, hold: HoldId, how: FiringEnd) -> Result<(), DrillError> {
        let wire = |source| DrillError::Wire { source };
        self.means.proxies()?.release(hold, how).await.map_err(wire)
    }
}

/// Whose step it is, or may be.
fn whose(step: Option<&FiredStep>) -> Vec<IntentId> {
    let Some(step) = step else { return Vec::new() };
    step.intent.map_or_else(|| step.among.clone(), |intent| vec![intent])
}
