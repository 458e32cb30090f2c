//! Takes back what was done, and says so: nothing outlives its phase but a failover, which is for good.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::keeper::Keeper;
use crate::drill::DrillError;
use crate::history::FaultEvent;
use crate::profile::Act;

/// How long the wires may take to tell of a hold that it has ended.
const TOLD_WITHIN: Duration = Duration::from_secs(1);

impl Keeper {
    /// Heals every fault, and hears what the wires have to say about that.
    pub(super) async fn heal_all(&mut self) -> Result<(), DrillError> {
        let mut healed = Ok(());
        for place in 0..self.faults.len() {
            let one = self.heal(place).await;
            healed = healed.and(one);
        }
        // Renewals that were withheld go on with the rules that held them.
        let renewals: Vec<_> =
            self.holds.iter_mut().filter_map(|held| held.renewals.take()).collect();
        for renewals in renewals {
            let done = self.means.proxies()?.heal(renewals).await;
            healed = healed.and(done.map_err(|source| DrillError::Wire { source }));
        }
        self.hear_the_ends().await?;
        for place in 0..self.faults.len() {
            self.say_healed(place).await;
        }
        healed
    }

    /// What is healed has an end, which is told a moment later.
    async fn hear_the_ends(&mut self) -> Result<(), DrillError> {
        let deadline = Instant::now() + TOLD_WITHIN;
        while !self.holds.is_empty() {
            match timeout_at(deadline, self.notices.recv()).await {
                Ok(Some(notice)) => self.heard(notice).await?,
                Ok(None) | Err(_) => self.holds.clear(),
            }
        }
        while let Ok(notice) = self.notices.try_recv() {
            self.heard(notice).await?;
        }
        Ok(())
    }

    /// Heals one fault.
    pub(super) async fn heal(&mut self, place: usize) -> Result<(), DrillError> {
        let fault = &mut self.faults[place];
        (fault.due, fault.heals) = (None, None);
        let armed = std::mem::take(&mut fault.armed);
        let is_by_its_time = matches!(fault.spec.act, Act::Partition(_) | Act::TakeLease { .. });
        for armed in armed {
            let healed = self.means.proxies()?.heal(armed).await;
            healed.map_err(|source| DrillError::Wire { source })?;
        }
        self.give_leases_back(place).await?;
        if is_by_its_time {
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
