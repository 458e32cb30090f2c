//! The leases of a phase's intents are somebody else's for a while, from before its load leaves.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use super::keeper::Keeper;
use super::passing::{Taken, fill};
use crate::chaos::Keys;
use crate::drill::DrillError;
use crate::history::{FaultEvent, Firing, FiringEnd, Proof};

impl Keeper {
    /// Takes the lease of every intent that nobody has yet.
    pub(super) async fn take_leases(
        &mut self,
        place: usize,
        lasts: Duration,
    ) -> Result<(), DrillError> {
        let (means, id) = (std::sync::Arc::clone(&self.means), self.faults[place].id);
        let Some(template) = &means.guide.lock_keys else { return Ok(()) };
        let Some(redis) = &mut self.keys else { return Ok(()) };
        let people = self.live.people();
        let wanted: BTreeSet<String> =
            people.iter().filter_map(|person| fill(template, person)).collect();
        let decided = means.clock.now();
        let mut keys = Vec::new();
        for key in wanted {
            let taken = redis.take(&key, &means.token, lasts).await;
            if taken.map_err(|source| DrillError::Keys { source })? {
                keys.push(key);
            }
        }
        if keys.is_empty() {
            return Ok(());
        }
        let firing =
            Firing { number: 1, decided, step: None, instance: None, also_hit: Vec::new() };
        means.record(id, FaultEvent::Fired(firing)).await;
        let proof = Proof::KeysTaken { keys: keys.len() as u32 };
        means.record(id, FaultEvent::Effect { firing: 1, proof }).await;
        let over = means.clock.now().plus(lasts);
        self.faults[place].taken = Some(Taken { keys, over });
        self.faults[place].heals = Some(over);
        self.count_firing(id, None);
        Ok(())
    }

    /// Gives back what is still ours.
    pub(super) async fn give_leases_back(&mut self, place: usize) -> Result<(), DrillError> {
        let Some(Taken { keys, over }) = self.faults[place].taken.take() else { return Ok(()) };
        if let Some(redis) = &mut self.keys {
            for key in &keys {
                let given = redis.give_back(key, &self.means.token).await;
                given.map_err(|source| DrillError::Keys { source })?;
            }
        }
        let how = match self.means.clock.now() < over {
            true => FiringEnd::Healed,
            false => FiringEnd::TimeOver,
        };
        let id = self.faults[place].id;
        self.means.record(id, FaultEvent::Ended { firing: 1, how }).await;
        self.ended(id, 1, how);
        Ok(())
    }

    /// The target's keys are on another server from now on.
    pub(super) async fn follow_swap(&mut self, to: SocketAddr) -> Result<(), DrillError> {
        if self.keys.is_some() {
            let keys = Keys::connect(&format!("redis://{to}/")).await;
            self.keys = Some(keys.map_err(|source| DrillError::Keys { source })?);
        }
        Ok(())
    }
}
