//! Looks at what stands, every few milliseconds while something is held, and ends what is to end.
//!
//! One look asks each server once, for all holds together. What can't be proved at once (somebody is blocked)
//! is believed when two looks in a row agree.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::holds::{Held, Lease, Others, Place, Sight, others};
use super::keeper::Keeper;
use super::live::Open;
use crate::drill::DrillError;
use crate::history::{FaultId, FiringEnd, IntentId};
use crate::profile::Until;
use crate::wire::Activity;

/// The holds of one fault in one group, by their places.
type Places = Vec<usize>;

impl Keeper {
    pub(super) async fn look(&mut self) -> Result<(), DrillError> {
        self.look_at_passing().await?;
        let mut over = self.past_their_time();
        over.extend(self.by_their_leases().await?);
        over.extend(self.by_their_others().await?);
        let mut ended = HashSet::new();
        for (place, how) in over {
            if ended.insert(place) {
                self.release(self.holds[place].hold, how).await?;
            }
        }
        let mut places = 0..;
        let (over, holds) = std::mem::take(&mut self.holds)
            .into_iter()
            .partition(|_| places.next().is_some_and(|place| ended.contains(&place)));
        self.holds = holds;
        self.let_renewals_go(over).await
    }

    async fn let_renewals_go(&self, over: Vec<Held>) -> Result<(), DrillError> {
        for renewals in over.into_iter().filter_map(|held| held.renewals) {
            let healed = self.means.proxies()?.heal(renewals).await;
            healed.map_err(|source| DrillError::Wire { source })?;
        }
        Ok(())
    }

    fn past_their_time(&self) -> Vec<(usize, FiringEnd)> {
        let now = self.means.clock.now();
        let is_past = |held: &Held| held.deadline.is_some_and(|deadline| deadline <= now);
        let past = self.holds.iter().enumerate().filter(|(_, held)| is_past(held));
        past.map(|(place, _)| (place, FiringEnd::TimeOver)).collect()
    }

    /// Holds whose lease has gone or has another holder. It is looked at twice: in between the wires read
    /// the reply that tells the new holder, without which nobody could tell what came first.
    async fn by_their_leases(&mut self) -> Result<Vec<(usize, FiringEnd)>, DrillError> {
        let Some(redis) = &mut self.keys else { return Ok(Vec::new()) };
        let waits = |held: &&Held| {
            held.passing.is_none() && matches!(held.until, Until::TakenOver | Until::LeaseOver)
        };
        let leases = self.holds.iter().filter(waits).filter_map(|held| held.lease.as_ref());
        let keys: BTreeSet<&str> = leases.map(|lease| lease.key.as_str()).collect();
        let keys: Vec<&str> = keys.into_iter().collect();
        let holders = redis.holders(&keys).await.map_err(|source| DrillError::Keys { source })?;
        let holders: HashMap<&str, _> = keys.iter().copied().zip(holders).collect();
        let end = |held: &Held| {
            let lease: &Lease = held.lease.as_ref()?;
            lease.ends(held.until, holders.get(lease.key.as_str())?.as_ref())
        };
        let waiting = self.holds.iter().enumerate().filter(|(_, held)| waits(held));
        let seen: Vec<_> = waiting.map(|(place, held)| (place, end(held))).collect();
        Ok(seen.into_iter().flat_map(|(place, end)| self.agreed(&[place], end)).collect())
    }

    /// Holds whose group has its answers, or can't go on.
    async fn by_their_others(&mut self) -> Result<Vec<(usize, FiringEnd)>, DrillError> {
        let mut groups: HashMap<(FaultId, &[IntentId]), Places> = HashMap::new();
        for (place, held) in self.holds.iter().enumerate() {
            let waits = held.until == Until::Others && held.passing.is_none();
            if waits && !held.group.is_empty() {
                groups.entry((held.fault, &held.group)).or_default().push(place);
            }
        }
        let seen = groups.into_iter().map(|((_, group), places)| {
            let others = others(self.live.scene(group), &self.at(&places));
            (places, others)
        });
        let seen: Vec<_> = seen.collect();
        let (mut over, mut open) = (Vec::new(), Vec::new());
        for (places, others) in seen {
            match others {
                Others::None => {}
                Others::Over(FiringEnd::OthersAnswered) => {
                    over.extend(places.iter().map(|place| (*place, FiringEnd::OthersAnswered)));
                }
                Others::Over(how) => over.extend(self.agreed(&places, Some(how))),
                Others::Open(others) => open.push((places, others)),
            }
        }
        if !open.is_empty() {
            over.extend(self.by_hindrances(open).await?);
        }
        Ok(over)
    }

    async fn by_hindrances(
        &mut self,
        open: Vec<(Places, Vec<Open>)>,
    ) -> Result<Vec<(usize, FiringEnd)>, DrillError> {
        let waits = match &mut self.locks {
            Some(locks) => locks.waits().await.map_err(|source| DrillError::Observe { source })?,
            None => Default::default(),
        };
        let intents: BTreeSet<IntentId> =
            open.iter().flat_map(|(_, others)| others).map(|one| one.intent).collect();
        let asked = self.means.proxies()?.activity(intents.iter().copied().collect()).await;
        let seen = asked.map_err(|source| DrillError::Wire { source })?;
        let place = |activity: &Activity| (activity.intent, activity.instance);
        let activity: HashMap<Place, Activity> =
            seen.into_iter().map(|activity| (place(&activity), activity)).collect();
        self.keep_refusals(&activity);
        let refused_before = std::mem::take(&mut self.refused_before);
        let now = self.means.clock.now();
        let sight = Sight { now, activity, waits, refused_before: &refused_before };
        let mut over = Vec::new();
        for (places, others) in open {
            let end = sight.hindrance(&others, &self.at(&places));
            over.extend(self.agreed(&places, end));
        }
        self.refused_before = refused_before;
        Ok(over)
    }

    /// Refusals from before something was held don't count.
    fn keep_refusals(&mut self, activity: &HashMap<Place, Activity>) {
        self.refused_before.retain(|place, _| activity.contains_key(place));
        for (place, activity) in activity {
            let least = self.refused_before.entry(*place).or_insert(activity.refused_in_row);
            *least = activity.refused_in_row.min(*least);
        }
    }

    /// What two looks in a row have said of these.
    fn agreed(&mut self, places: &[usize], end: Option<FiringEnd>) -> Vec<(usize, FiringEnd)> {
        let mut agreed = Vec::new();
        for place in places {
            let held = &mut self.holds[*place];
            if let Some(how) = end
                && held.agreed == end
            {
                agreed.push((*place, how));
            }
            held.agreed = end;
        }
        agreed
    }

    fn at(&self, places: &[usize]) -> Vec<&Held> {
        places.iter().map(|place| &self.holds[*place]).collect()
    }
}
