//! What a fault excuses, and for how long (rule S05).
//!
//! Keys that were under way in a window are excused until `recovery-limit` behind it. What was lost excuses
//! an error and a wait of theirs; a held step does so for the request that made it, and for those of other
//! intents, which may wait for its rows: that a duplicate waits for the held one without a bound, or fails
//! because of it, is the very thing that a hold is there to find. Nor does a lease that somebody else has
//! excuse a wait for it.

use std::time::Duration;

use foldhash::{HashMap, HashMapExt, HashSet};

use crate::history::{Attempt, AttemptId, InstanceId, IntentId, RunTime};

use super::super::Case;
use super::window::meets;
use super::{Fault, Kind, Shot};

type Times = Vec<(RunTime, RunTime)>;

#[derive(Debug, Default)]
pub struct Excuses {
    /// Something was lost.
    lost: HashMap<IntentId, Times>,
    /// Somebody was rightly told to wait: from the first such moment to the last.
    put_off: HashMap<IntentId, (RunTime, RunTime)>,
    /// Another intent's step was held.
    held_up: HashMap<IntentId, (RunTime, RunTime)>,
    /// Their own step was held.
    held: HashSet<AttemptId>,
}

impl Excuses {
    pub(super) fn new(case: &Case<'_>, faults: &[Fault<'_>], limit: Duration) -> Self {
        let mut excuses = Self::default();
        let mut lost: HashMap<Option<InstanceId>, Times> = HashMap::new();
        for fault in faults {
            for shot in &fault.firings {
                let time = (shot.window.begin, shot.window.end);
                match fault.kind().of_firing(shot) {
                    Kind::Loss => lost.entry(shot.firing.instance).or_default().push(time),
                    kind => excuses.waits(case, shot, kind, limit),
                }
                if fault.kind().of_firing(shot) == Kind::Loss {
                    for intent in &shot.window.hits {
                        excuses.lost.entry(*intent).or_default().push((time.0, time.1.plus(limit)));
                    }
                }
            }
        }
        for (instance, times) in lost {
            excuses.touch(case, instance, &joined(times), limit);
        }
        for times in excuses.lost.values_mut() {
            *times = joined(std::mem::take(times));
        }
        excuses
    }

    fn touch(
        &mut self,
        case: &Case<'_>,
        instance: Option<InstanceId>,
        times: &[(RunTime, RunTime)],
        limit: Duration,
    ) {
        let there = case.history.attempts.iter();
        for attempt in there.filter(|it| instance.is_none_or(|id| it.instance == id)) {
            let touched = times.iter().filter(|(begin, end)| meets(attempt, *begin, *end));
            let excused = touched.map(|&(begin, end)| (begin, end.plus(limit)));
            let excused: Times = excused.collect();
            if !excused.is_empty() {
                self.lost.entry(attempt.intent).or_default().extend(excused);
            }
        }
    }

    fn waits(&mut self, case: &Case<'_>, shot: &Shot<'_>, kind: Kind, limit: Duration) {
        let (begin, end) = (shot.window.begin, shot.window.end);
        let time = (begin, end.plus(limit));
        let owners: Vec<IntentId> = shot.owners().collect();
        let under_way = case.history.attempts.iter().filter(|it| meets(it, begin, end));
        for attempt in under_way {
            stretch(&mut self.put_off, attempt.intent, time);
            if kind == Kind::Wait && !owners.contains(&attempt.intent) {
                stretch(&mut self.held_up, attempt.intent, time);
            }
        }
        if kind == Kind::Wait {
            self.held.extend(maker(case, shot));
        }
    }

    /// Whether something was lost that an attempt can have felt.
    pub fn lost(&self, attempt: &Attempt) -> bool {
        let times = self.lost.get(&attempt.intent).map_or(&[][..], Vec::as_slice);
        times.iter().any(|&(begin, end)| meets(attempt, begin, end))
    }

    /// Whether an attempt may be told to wait, or to come back, because of a fault.
    pub fn puts_off(&self, attempt: &Attempt) -> bool {
        self.lost(attempt) || within(&self.put_off, attempt)
    }

    /// Whether an error or a long wait of an attempt may be a fault's doing.
    pub fn delays(&self, attempt: &Attempt) -> bool {
        self.lost(attempt) || within(&self.held_up, attempt) || self.held.contains(&attempt.id)
    }
}

/// Who made a held step. It can't have been answered before the hold was over, and of several that weren't
/// it is taken to be the first: the others waited for it.
pub fn maker(case: &Case<'_>, shot: &Shot<'_>) -> Option<AttemptId> {
    let owners: Vec<IntentId> = shot.owners().collect();
    let held = shot.window.begin;
    let over = shot.end.map_or(held, |(at, _)| at);
    let instance = shot.firing.instance;
    let own = case.history.attempts.iter().filter(|it| owners.contains(&it.intent));
    let there = own.filter(|it| instance.is_none_or(|id| it.instance == id));
    let waiting = there.filter(|it| meets(it, held, held));
    let waiting = waiting.filter(|it| it.completed.is_none_or(|end| end >= over));
    waiting.min_by_key(|it| (it.completed.is_none(), it.completed, it.id)).map(|it| it.id)
}

fn within(table: &HashMap<IntentId, (RunTime, RunTime)>, attempt: &Attempt) -> bool {
    table.get(&attempt.intent).is_some_and(|&(begin, end)| meets(attempt, begin, end))
}

fn stretch(
    table: &mut HashMap<IntentId, (RunTime, RunTime)>,
    intent: IntentId,
    (begin, end): (RunTime, RunTime),
) {
    let known = table.entry(intent).or_insert((begin, end));
    *known = (known.0.min(begin), known.1.max(end));
}

/// The same times, without overlaps.
fn joined(mut times: Times) -> Times {
    times.sort_unstable();
    let mut joined: Times = Vec::with_capacity(times.len().min(4));
    for (begin, end) in times {
        match joined.last_mut() {
            Some((_, last)) if begin <= *last => *last = end.max(*last),
            _ => joined.push((begin, end)),
        }
    }
    joined
}
