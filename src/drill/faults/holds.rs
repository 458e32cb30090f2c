//! What ends a hold, as far as its group is concerned: a function of what is seen.
//!
//! A hold ends when every other attempt of its group has its answer, or can't go on (S02). To end one
//! too early costs power and never soundness; so what can't be told apart counts as blocked.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use super::live::{Group, Open, Scene};
use crate::history::{FaultId, FiringEnd, InstanceId, IntentId, RunTime};
use crate::observe::LockWaits;
use crate::profile::Until;
use crate::wire::{Activity, Armed, HoldId};

/// Refusals in a row, since something is held, that make a step refused for good.
const REFUSALS: u32 = 3;
/// So many times the longest gap is silence (S02), if it is this long at least.
const GAPS: u32 = 10;
const SHORTEST_SILENCE: Duration = Duration::from_millis(200);
/// Nothing crossed between two looks.
const QUIET: Duration = Duration::from_millis(5);

/// A step that is held.
#[derive(Debug)]
pub(super) struct Held {
    pub hold: HoldId,
    pub fault: FaultId,
    pub firing: u32,
    pub since: RunTime,
    pub intent: Option<IntentId>,
    pub instance: Option<InstanceId>,
    pub backend: Option<u32>,
    /// None: nobody knows whose step it is, and only its limit ends it.
    pub group: Option<Group>,
    /// Whether anybody else of its group had left by then.
    pub has_company: bool,
    pub until: Until,
    /// The lease under which the step is done, and who held it when this began.
    pub lease: Option<Lease>,
    /// Time passes for its keys first.
    pub passing: Option<super::passing::Waiting>,
    /// Renewals that are withheld meanwhile.
    pub renewals: Option<Armed>,
    /// When it ends at the latest, where the wire gave it more time than that.
    pub deadline: Option<RunTime>,
    /// What the last look would have ended it for.
    pub agreed: Option<FiringEnd>,
}

/// A lease, and its holder at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lease {
    pub key: String,
    pub holder: Option<Vec<u8>>,
}

impl Lease {
    /// What its holder now says about a hold that waits for it.
    pub(super) fn ends(&self, until: Until, now: Option<&Vec<u8>>) -> Option<FiringEnd> {
        match (until, now) {
            (Until::TakenOver | Until::LeaseOver, Some(now)) => {
                (self.holder.as_ref() != Some(now)).then_some(FiringEnd::TakenOver)
            }
            (Until::LeaseOver, None) => Some(FiringEnd::LeaseOver),
            _ => None,
        }
    }
}

/// What is known of the others of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Others {
    /// Nobody else has left yet.
    None,
    /// Whoever has left has an answer, or is held by the same fault.
    Over(FiringEnd),
    /// These are under way.
    Open(Vec<Open>),
}

/// Those of a scene that aren't held themselves; `held` are all holds of one fault in the group. Where
/// others were under way when the first of them began, those that came later don't count: clients that
/// are told to ask again would keep it for ever.
pub(super) fn others(scene: Scene, held: &[&Held]) -> Others {
    if scene.left < 2 {
        return Others::None;
    }
    let mut open = scene.open;
    let began = held.iter().filter(|hold| hold.has_company).map(|hold| hold.since).max();
    if let Some(began) = began {
        open.retain(|one| one.left <= began);
    }
    let mut is_held = 0;
    for hold in held {
        let fits = |one: &Open| {
            hold.intent.is_none_or(|intent| intent == one.intent)
                && hold.instance.is_none_or(|instance| instance == one.instance)
        };
        if let Some(place) = open.iter().position(fits) {
            open.swap_remove(place);
            is_held += 1;
        }
    }
    match (open.is_empty(), is_held) {
        (false, _) => Others::Open(open),
        (true, 0 | 1) => Others::Over(FiringEnd::OthersAnswered),
        (true, _) => Others::Over(FiringEnd::OthersBlocked),
    }
}

/// What was seen at one look.
#[derive(Debug)]
pub(super) struct Sight<'a> {
    pub now: RunTime,
    pub activity: HashMap<IntentId, Activity>,
    pub waits: LockWaits,
    /// Refusals in a row that were there already.
    pub refused_before: &'a HashMap<IntentId, u32>,
}

impl Sight<'_> {
    /// Why all of these can't go on; none while any of them may.
    pub(super) fn hindrance(&self, others: &[Open], held: &[&Held]) -> Option<FiringEnd> {
        let mut by_intent: BTreeMap<IntentId, Vec<&Open>> = BTreeMap::new();
        for open in others {
            by_intent.entry(open.intent).or_default().push(open);
        }
        let mut end = FiringEnd::OwnHold;
        for (intent, open) in by_intent {
            if self.hinders(intent, &open, held)? != FiringEnd::OwnHold {
                end = FiringEnd::OthersBlocked;
            }
        }
        Some(end)
    }

    fn hinders(&self, intent: IntentId, open: &[&Open], held: &[&Held]) -> Option<FiringEnd> {
        let activity = self.activity.get(&intent);
        let waiting: usize =
            held.iter().filter_map(|hold| hold.backend).map(|pid| self.waits.behind(pid)).sum();
        let instances: BTreeSet<_> = open.iter().map(|one| one.instance).collect();
        let refused = activity.map_or(0, |activity| self.refused(activity));
        if refused >= instances.len() || refused > 0 && refused + waiting >= instances.len() {
            return Some(FiringEnd::OthersBlocked);
        }
        let began = held.iter().map(|hold| hold.since).chain(open.iter().map(|one| one.left));
        let began = began.max().unwrap_or(self.now);
        let last = activity.map_or(began, |activity| activity.last.max(began));
        let silence = self.now.since(last);
        if waiting >= open.len() && silence >= QUIET {
            return Some(FiringEnd::OthersBlocked);
        }
        let gap = activity.map_or(Duration::ZERO, |activity| activity.longest_gap);
        if silence < SHORTEST_SILENCE.max(gap * GAPS) {
            return None;
        }
        let by_a_lock = self.waits.count() > 0;
        let is_its_own = held.iter().any(|hold| {
            hold.instance.is_some_and(|instance| instances.iter().all(|it| *it == instance))
        });
        Some(if is_its_own && !by_a_lock { FiringEnd::OwnHold } else { FiringEnd::OthersBlocked })
    }

    /// Connections that have been refused again and again since something is held.
    fn refused(&self, activity: &Activity) -> usize {
        let before = self.refused_before.get(&activity.intent).copied().unwrap_or(0);
        let is_refused = activity.refused_in_row >= before.saturating_add(REFUSALS);
        if is_refused { activity.refused as usize } else { 0 }
    }
}
