//! Arms the faults of a phase before its load leaves, and fires those that have a time.

use super::keeper::{Assigned, Keeper};
use super::refusals::touches_keys;
use super::rules;
use crate::chaos::Keys;
use crate::drill::DrillError;
use crate::history::{FaultEvent, InstanceId, RunTime};
use crate::observe::LockWatch;
use crate::profile::{Act, Expire, Fault, Hold, Trigger, Until};

impl Keeper {
    /// Arms all that is to be armed. What is asked of servers meanwhile has its connections then.
    pub(super) async fn arm_all(&mut self) -> Result<(), DrillError> {
        let is_armed = |fault: &&Assigned| fault.spec.armed;
        let specs = || self.faults.iter().filter(is_armed).map(|fault| &fault.spec);
        if specs().any(|fault| touches_keys(&fault.act))
            && let Some(url) = &self.means.redis_url
        {
            let keys = Keys::connect(url).await;
            self.keys = Some(keys.map_err(|source| DrillError::Keys { source })?);
        }
        if specs().any(waits_for_others) {
            let locks = LockWatch::connect(&self.means.postgres_url).await;
            self.locks = Some(locks.map_err(|source| DrillError::Observe { source })?);
        }
        for place in 0..self.faults.len() {
            if self.faults[place].spec.armed {
                self.arm(place).await?;
            }
        }
        Ok(())
    }

    async fn arm(&mut self, place: usize) -> Result<(), DrillError> {
        let fault = &mut self.faults[place];
        fault.is_armed = true;
        let at = match fault.spec.at {
            Trigger::Time(time) => Some(self.began.plus(time)),
            Trigger::Step(_) => None,
        };
        self.means.record(fault.id, FaultEvent::Armed).await;
        match (&fault.spec.act, at) {
            (Act::TakeLease { .. }, _) => self.strike(place).await,
            (_, Some(at)) => {
                fault.due = Some(at);
                Ok(())
            }
            (_, None) => self.lay(place).await,
        }
    }

    /// Lays the rule of a fault on the wires.
    async fn lay(&mut self, place: usize) -> Result<(), DrillError> {
        let fault = &self.faults[place];
        let rule = rules::rule(fault.id, &fault.spec, self.means.seed);
        let armed = self.means.proxies()?.arm(vec![rule]).await;
        let armed = armed.map_err(|source| DrillError::Wire { source })?;
        self.faults[place].armed.push(armed);
        Ok(())
    }

    /// The next time at which something is to be done.
    pub(super) fn next_due(&self) -> Option<RunTime> {
        let times = self.faults.iter().flat_map(|fault| [fault.due, fault.heals]);
        times.flatten().min()
    }

    /// Fires the faults whose time has come, and heals those that have lasted long enough.
    pub(super) async fn fire_due(&mut self) -> Result<(), DrillError> {
        let now = self.means.clock.now();
        for place in 0..self.faults.len() {
            let fault = &mut self.faults[place];
            if fault.due.is_some_and(|due| due <= now) {
                fault.due = None;
                self.strike(place).await?;
            }
            if self.faults[place].heals.is_some_and(|due| due <= now) {
                self.faults[place].heals = None;
                self.heal(place).await?;
            }
        }
        Ok(())
    }

    /// Does what a fault does, now.
    pub(super) async fn strike(&mut self, place: usize) -> Result<(), DrillError> {
        let wire = |source| DrillError::Wire { source };
        let fault = &self.faults[place];
        let id = fault.id;
        match fault.spec.act.clone() {
            Act::Partition(cut) => {
                let instance = cut.instance.map(InstanceId);
                let proxies = self.means.proxies()?;
                let armed = proxies.partition(id, cut.wire, instance, cut.how).await;
                self.faults[place].armed.push(armed.map_err(wire)?);
                self.faults[place].heals = cut.lasts.map(|time| self.means.clock.now().plus(time));
                Ok(())
            }
            Act::SwapUpstream { wire: which } => {
                let Some(spare) = self.means.spare else { return Ok(()) };
                let proxies = self.means.proxies()?;
                proxies.swap(id, which, spare.into()).await.map_err(wire)?;
                self.follow_swap(spare).await
            }
            Act::TakeLease { lasts } => self.take_leases(place, lasts).await,
            _ => self.lay(place).await,
        }
    }
}

const fn waits_for_others(fault: &Fault) -> bool {
    let hold = match &fault.act {
        Act::Hold(hold) => hold,
        Act::Expire(Expire { hold, .. }) => hold,
        _ => return false,
    };
    matches!(hold, Hold { until: Until::Others, .. })
}
