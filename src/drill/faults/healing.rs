//! Takes back what was done, and says so: nothing outlives its phase but a failover, which is for good.

use super::keeper::Keeper;
use crate::drill::DrillError;
use crate::history::FaultEvent;
use crate::profile::Act;

impl Keeper {
    /// Heals every fault, and hears what the wires have to say about that.
    pub(super) async fn heal_all(&mut self) -> Result<(), DrillError> {
        let mut healed = Ok(());
        for place in 0..self.faults.len() {
            let one = self.heal(place).await;
            healed = healed.and(one);
        }
        // Renewals that were withheld go on with the rules that held them.
        for held in std::mem::take(&mut self.holds) {
            if let Some(renewals) = held.renewals {
                let done = self.means.proxies()?.heal(renewals).await;
                healed = healed.and(done.map_err(|source| DrillError::Wire { source }));
            }
        }
        while let Ok(notice) = self.notices.try_recv() {
            self.heard(notice).await?;
        }
        for place in 0..self.faults.len() {
            self.say_healed(place).await;
        }
        healed
    }

    /// Heals one fault.
    pub(super) async fn heal(&mut self, place: usize) -> Result<(), DrillError> {
        let fault = &mut self.faults[place];
        (fault.due, fault.heals) = (None, None);
        let armed = std::mem::take(&mut fault.armed);
        let is_cut = !armed.is_empty() && matches!(fault.spec.act, Act::Partition(_));
        for armed in armed {
            let healed = self.means.proxies()?.heal(armed).await;
            healed.map_err(|source| DrillError::Wire { source })?;
        }
        self.give_leases_back(place).await?;
        if is_cut {
            while let Ok(notice) = self.notices.try_recv() {
                self.heard(notice).await?;
            }
            self.say_healed(place).await;
        }
        Ok(())
    }

    async fn say_healed(&mut self, place: usize) {
        let fault = &mut self.faults[place];
        if fault.is_armed && !std::mem::replace(&mut fault.is_healed, true) {
            let id = fault.id;
            self.means.record(id, FaultEvent::Healed).await;
        }
    }
}
