//! How busy intents are while rules are armed: rule S02 asks who still gets on and who is refused again
//! and again, and time that is to pass needs to know the keys of whom it passes for.

use std::rc::Rc;
use std::time::Duration;

use foldhash::{HashMap, HashMapExt};

use crate::history::{InstanceId, IntentId, Role, RunTime, Step, Wire};
use crate::wire::rule::{Activity, SeenLease};

/// Keys of one intent that are remembered.
const MOST_KEYS: usize = 64;

/// What one intent was seen to do.
#[derive(Debug)]
struct Seen {
    last: RunTime,
    longest_gap: Duration,
    /// How often in a row a step was refused, by where and which.
    refused: HashMap<(Option<InstanceId>, Rc<str>), u32>,
    lease: Option<SeenLease>,
    keys: Vec<Rc<str>>,
}

#[derive(Debug, Default)]
pub(in crate::wire) struct Busy {
    seen: HashMap<IntentId, Seen>,
}

impl Busy {
    /// A step of an intent was asked.
    pub(in crate::wire) fn asked(
        &mut self,
        step: &Step<Rc<str>>,
        among: &[IntentId],
        now: RunTime,
    ) {
        step.intent.iter().chain(among).for_each(|intent| self.asked_of(*intent, step, now));
    }

    fn asked_of(&mut self, intent: IntentId, step: &Step<Rc<str>>, now: RunTime) {
        let seen = self.moves(intent, now);
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
    }

    fn answered_to(
        &mut self,
        intent: IntentId,
        step: &Step<Rc<str>>,
        instance: Option<InstanceId>,
        now: RunTime,
    ) {
        let seen = self.moves(intent, now);
        let Some(key) = step.subject.as_ref().filter(|_| step.wire == Wire::Redis) else { return };
        let place = (instance, Rc::clone(key));
        if step.is_refused() {
            *seen.refused.entry(place).or_insert(0) += 1;
            return;
        }
        seen.refused.remove(&place);
        match step.role {
            Some(Role::Lock) if step.is_done() => {
                seen.lease = Some(SeenLease {
                    key: key.to_string(),
                    life: step.lease_ms.map(Duration::from_millis),
                    granted: now,
                });
            }
            _ => {}
        }
    }

    fn moves(&mut self, intent: IntentId, now: RunTime) -> &mut Seen {
        let seen = self.seen.entry(intent).or_insert_with(|| Seen {
            last: now,
            longest_gap: Duration::ZERO,
            refused: HashMap::new(),
            lease: None,
            keys: Vec::new(),
        });
        seen.longest_gap = seen.longest_gap.max(now.since(seen.last));
        seen.last = now;
        seen
    }

    pub(in crate::wire) fn lease(&self, intent: IntentId) -> Option<SeenLease> {
        self.seen.get(&intent)?.lease.clone()
    }

    pub(in crate::wire) fn keys(&self, intent: IntentId) -> Vec<String> {
        let seen = self.seen.get(&intent);
        seen.map_or_else(Vec::new, |seen| seen.keys.iter().map(ToString::to_string).collect())
    }

    pub(in crate::wire) fn activity(&self, intents: &[IntentId]) -> Vec<Activity> {
        let of = |intent: &IntentId| {
            let seen = self.seen.get(intent)?;
            let rows = seen.refused.values().copied();
            Some(Activity {
                intent: *intent,
                last: seen.last,
                longest_gap: seen.longest_gap,
                refused_in_row: rows.min().unwrap_or(0),
                refused: u32::try_from(seen.refused.len()).unwrap_or(u32::MAX),
            })
        };
        intents.iter().filter_map(of).collect()
    }
}
