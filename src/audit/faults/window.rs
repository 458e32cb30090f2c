//! How long a firing is felt (rule S05).
//!
//! From its firing until what it did is put right and every instance that felt it has then answered twice:
//! a request sent after that, and another one behind it. Without such answers, to the end of the load, and
//! at most `recovery-limit` behind the heal.

use std::collections::BTreeSet;

use crate::history::{Attempt, History, InstanceId, IntentId, RunTime};

use super::super::Case;
use super::{Kind, Shot};

/// When a firing was felt, and by whom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    pub begin: RunTime,
    pub end: RunTime,
    /// When what it did was put right; absent: never.
    pub healed: Option<RunTime>,
    /// The intents that it was about.
    pub hits: BTreeSet<IntentId>,
}

pub(super) fn of(
    case: &Case<'_>,
    kind: Kind,
    shot: &Shot<'_>,
    fault_healed: Option<RunTime>,
) -> Window {
    let history = case.history;
    let ended = shot.end.map(|(at, _)| at);
    // What was dropped at once may go on to fail whoever looks for it, until the rule is gone.
    let is_over_with_its_end = kind.of_firing(shot) != Kind::Loss;
    let healed = match is_over_with_its_end {
        true => ended.or(fault_healed),
        false => fault_healed.max(ended.filter(|_| fault_healed.is_some())),
    };
    let load_end = history.attempts.iter().filter_map(|it| it.completed).max().unwrap_or_default();
    let begin = shot.firing.decided.min(shot.at);
    let end = match healed {
        None => load_end,
        Some(healed) => answered(history, shot.firing.instance, healed)
            .unwrap_or_else(|| load_end.min(healed.plus(case.profile.contract.recovery_limit))),
    };
    let end = end.max(healed.unwrap_or(begin)).max(begin);
    let mut hits: BTreeSet<IntentId> = shot.named().collect();
    if shot.firing.step.is_none() {
        let felt = healed.unwrap_or(load_end).max(begin);
        let under_way = history.attempts.iter().filter(|it| meets(it, begin, felt));
        let instance = shot.firing.instance;
        let there = under_way.filter(|it| instance.is_none_or(|id| it.instance == id));
        hits.extend(there.map(|attempt| attempt.intent));
    }
    Window { begin, end, healed, hits }
}

/// Whether an attempt was under way at some moment of a time.
pub fn meets(attempt: &Attempt, begin: RunTime, end: RunTime) -> bool {
    attempt.outcome.was_sent()
        && attempt.first_byte.is_none_or(|first| first <= end)
        && attempt.completed.is_none_or(|last| last >= begin)
}

/// When every instance had answered twice in a row after it was healed.
fn answered(history: &History, only: Option<InstanceId>, healed: RunTime) -> Option<RunTime> {
    let of_instance = |instance: InstanceId| {
        let mut sent: Vec<(RunTime, RunTime)> = history
            .attempts
            .iter()
            .filter(|it| it.instance == instance && it.outcome.is_definite())
            .filter_map(|it| Some((it.first_byte?, it.completed?)))
            .filter(|(first, _)| *first > healed)
            .collect();
        sent.sort_unstable();
        let probe = sent.iter().map(|&(_, end)| end).min()?;
        sent.iter().filter(|(first, _)| *first >= probe).map(|&(_, end)| end).min()
    };
    let all = history.instances.iter().map(|instance| instance.id);
    let felt = all.filter(|id| only.is_none_or(|only| only == *id));
    felt.map(of_instance).reduce(|one, other| Some(one?.max(other?)))?
}
