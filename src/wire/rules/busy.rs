//! How busy intents are while rules are armed: rule S02 asks who still gets on and who is refused again
//! and again, and time that is to pass needs to know the keys of whom it passes for.

use std::rc::Rc;
use std::time::Duration;

use foldhash::{HashMap, HashMapExt};

use crate::history::{InstanceId, IntentId, Role, RunTime, Step, Wire};
use crate::wire::rule::{Activity, SeenLease};

/// Keys of one intent that are remembered.
const MOST_KEYS: usize = 64;

/// Leases whose holders are remembered.
const MOST_HOLDERS: usize = 100_000;

/// What one intent was seen to do.
#[derive(Debug, Default)]
struct Seen {
    places: Vec<(Option<InstanceId>, Place)>,
    lease: Option<SeenLease>,
    keys: Vec<Rc<str>>,
}

/// What it was seen to do at one instance.
#[derive(Debug)]
struct Place {
    last: RunTime,
    longest_gap: Duration,
    /// How often in a row a step at a key was refused.
    refused: HashMap<Rc<str>, u32>,
}

#[derive(Debug, Default)]
pub(in crate::wire) struct Busy {
    seen: HashMap<IntentId, Seen>,
    /// Who was granted a lease last, by its key.
    holders: HashMap<Rc<str>, Holder>,
}

/// Where a lease was granted, and for which token.
#[derive(Clone, Copy, Debug)]
pub(in crate::wire) struct Holder {
    pub(in crate::wire) instance: Option<InstanceId>,
    pub(in crate::wire) token: Option<u64>,
}

impl Holder {
    /// By the token where both tell one, else by the instance.
    pub(in crate::wire) fn is_other_than(self, other: Self) -> bool {
        match (self.token, other.token) {
            (Some(own), Some(token)) => own != token,
            _ => self.instance != other.instance,
        }
    }
}

impl Busy {
    /// A step of an intent was asked.
    pub(in crate::wire) fn asked(
        &mut self,
        step: &Step<Rc<str>>,
        among: &[IntentId],
        instance: Option<InstanceId>,
        now: RunTime,
    ) {
        let whose = step.intent.iter().chain(among);
        whose.for_each(|intent| self.asked_of(*intent, step, instance, now));
    }

    fn asked_of(
        &mut self,
        intent: IntentId,
        step: &Step<Rc<str>>,
        instance: Option<InstanceId>,
        now: RunTime,
    ) {
        let seen = self.seen.entry(intent).or_default();
        seen.moves(instance, now);
        if step.wire == Wire::Redis
            && let Some(key) = &step.subject
            && seen.keys.len() < MOST_KEYS
            && !seen.keys.contains(key)
        {
            seen.keys.push(Rc::clone(key));
        }
    }

    /// It was answered.
    pub(in crate::wire) fn answered(
        &mut self,
        step: &Step<Rc<str>>,
        among: &[IntentId],
        instance: Option<InstanceId>,
        now: RunTime,
    ) {
        let whose = step.intent.iter().chain(among);
        whose.for_each(|intent| self.answered_to(*intent, step, instance, now));
        if let Some(key) = step.subject.as_ref().filter(|_| step.has_effect()) {
            match step.role {
                Some(Role::Lock) if self.holders.len() < MOST_HOLDERS => {
                    self.holders.insert(Rc::clone(key), Holder { instance, token: step.token });
                }
                Some(Role::Unlock) if step.answer.as_deref() != Some("0") => {
                    self.holders.remove(key);
                }
                _ => {}
            }
        }
    }

    /// Whether the lease that a step is about is somebody else's by now.
    pub(in crate::wire) fn is_anothers(
        &self,
        step: &Step<Rc<str>>,
        instance: Option<InstanceId>,
    ) -> bool {
        let holder = step.subject.as_ref().and_then(|key| self.holders.get(key));
        let own = Holder { instance, token: step.token };
        holder.is_some_and(|holder| own.is_other_than(*holder))
    }

    fn answered_to(
        &mut self,
        intent: IntentId,
        step: &Step<Rc<str>>,
        instance: Option<InstanceId>,
        now: RunTime,
    ) {
        let seen = self.seen.entry(intent).or_default();
        let place = seen.moves(instance, now);
        let Some(key) = step.subject.as_ref().filter(|_| step.wire == Wire::Redis) else { return };
        if step.is_refused() {
            *place.refused.entry(Rc::clone(key)).or_insert(0) += 1;
            return;
        }
        place.refused.remove(key);
        match step.role {
            Some(Role::Lock) if step.is_done() => {
                seen.lease = Some(SeenLease {
                    key: key.to_string(),
                    life: step.lease_ms.map(Duration::from_millis),
                    granted: now,
                    is_anothers: false,
                });
            }
            _ => {}
        }
    }

    pub(in crate::wire) fn lease(&self, intent: IntentId) -> Option<SeenLease> {
        self.seen.get(&intent)?.lease.clone()
    }

    pub(in crate::wire) fn keys(&self, intent: IntentId) -> Vec<String> {
        let seen = self.seen.get(&intent);
        seen.map_or_else(Vec::new, |seen| seen.keys.iter().map(ToString::to_string).collect())
    }

    pub(in crate::wire) fn activity(&self, intents: &[IntentId]) -> Vec<Activity> {
        let seen = intents.iter().filter_map(|intent| Some((*intent, self.seen.get(intent)?)));
        let places = seen.flat_map(|(intent, seen)| {
            let of = move |(instance, place): &(_, Place)| Activity {
                intent,
                instance: *instance,
                last: place.last,
                longest_gap: place.longest_gap,
                refused_in_row: place.refused.values().copied().min().unwrap_or(0),
            };
            seen.places.iter().map(of)
        });
        places.collect()
    }
}

impl Seen {
    /// It is at work at this instance.
    fn moves(&mut self, instance: Option<InstanceId>, now: RunTime) -> &mut Place {
        let known = self.places.iter().position(|(other, _)| *other == instance);
        let at = known.unwrap_or_else(|| {
            let place = Place { last: now, longest_gap: Duration::ZERO, refused: HashMap::new() };
            self.places.push((instance, place));
            self.places.len() - 1
        });
        let place = &mut self.places[at].1;
        place.longest_gap = place.longest_gap.max(now.since(place.last));
        place.last = now;
        place
    }
}
