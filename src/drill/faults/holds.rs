//! What ends a hold, as far as its group is concerned: a function of what is seen.
//!
//! A hold ends when every other attempt of its group has its answer, or can't go on (S02). To end one
//! too early costs power and never soundness; so what can't be told apart counts as blocked.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use super::live::{Open, Scene};
use crate::history::{FaultId, FiringEnd, InstanceId, IntentId, RunTime};
use crate::observe::LockWaits;
use crate::profile::Until;
use crate::wire::{Activity, Armed, HoldId};

/// Refusals in a row, since something is held, that make a step refused for good.
const REFUSALS: u32 = 3;
/// So many times the longest gap is silence (S02), if it is this long at least.
const GAPS: u32 = 10;
const SHORTEST_SILENCE: Duration = Duration::from_millis(200);
/// A burst that queues has gaps of seconds, which say nothing of who is blocked.
const LONGEST_SILENCE: Duration = Duration::from_secs(1);
/// Nothing crossed between two looks.
const QUIET: Duration = Duration::from_millis(5);

/// Where the wires see an intent at work.
pub(super) type Place = (IntentId, Option<InstanceId>);

/// A step that is held.
#[derive(Debug)]
pub(super) struct Held {
    pub hold: HoldId,
    pub fault: FaultId,
    pub firing: u32,
    pub since: RunTime,
    /// Whose step it is, or may be.
    pub whose: Vec<IntentId>,
    pub instance: Option<InstanceId>,
    pub backend: Option<u32>,
    /// All intents that contend with it. Empty: nobody knows whose step it is, and only its limit ends it.
    pub group: Vec<IntentId>,
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
        open.retain(|one| one.told <= began);
    }
    let mut is_held = 0;
    for hold in held {
        let fits = |one: &Open| {
            (hold.whose.is_empty() || hold.whose.contains(&one.intent))
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
    pub activity: HashMap<Place, Activity>,
    pub waits: LockWaits,
    /// Refusals in a row that were there already.
    pub refused_before: &'a HashMap<Place, u32>,
}

impl Sight<'_> {
    /// Why all of these can't go on; none while any of them may.
    pub(super) fn hindrance(&self, others: &[Open], held: &[&Held]) -> Option<FiringEnd> {
        let mut places: BTreeMap<(IntentId, InstanceId), Vec<&Open>> = BTreeMap::new();
        for open in others {
            places.entry((open.intent, open.instance)).or_default().push(open);
        }
        let waiting: usize =
            held.iter().filter_map(|hold| hold.backend).map(|pid| self.waits.behind(pid)).sum();
        let mut end = FiringEnd::OwnHold;
        for ((intent, instance), open) in places {
            let are_waiting = waiting >= open.len();
            if self.hinders((intent, instance), &open, held, are_waiting)? != FiringEnd::OwnHold {
                end = FiringEnd::OthersBlocked;
            }
        }
        Some(end)
    }

    fn hinders(
        &self,
        (intent, instance): (IntentId, InstanceId),
        open: &[&Open],
        held: &[&Held],
        are_waiting: bool,
    ) -> Option<FiringEnd> {
        let of = |instance| self.activity.get(&(intent, instance));
        let activity = of(Some(instance)).or_else(|| of(None));
        if activity.is_some_and(|activity| self.is_refused(activity)) {
            return Some(FiringEnd::OthersBlocked);
        }
        let began = held.iter().map(|hold| hold.since).chain(open.iter().map(|one| one.left));
        let began = began.max().unwrap_or(self.now);
        let last = activity.map_or(began, |activity| activity.last.max(began));
        let silence = self.now.since(last);
        if are_waiting && silence >= QUIET {
            return Some(FiringEnd::OthersBlocked);
        }
        let gap = activity.map_or(Duration::ZERO, |activity| activity.longest_gap);
        if silence < (gap * GAPS).clamp(SHORTEST_SILENCE, LONGEST_SILENCE) {
            return None;
        }
        // Nothing else explains it than the connection that is held.
        let is_its_own = held.iter().any(|hold| hold.instance == Some(instance));
        let is_by_a_lock = self.waits.count() > 0;
        Some(match is_its_own && !is_by_a_lock {
            true => FiringEnd::OwnHold,
            false => FiringEnd::OthersBlocked,
        })
    }

    /// Whether it has been refused again and again since something is held.
    fn is_refused(&self, activity: &Activity) -> bool {
        let place = (activity.intent, activity.instance);
        let before = self.refused_before.get(&place).copied().unwrap_or(0);
        activity.refused_in_row >= before.saturating_add(REFUSALS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::AttemptId;

    const MS: u64 = 1_000;

    fn open(attempt: u32, instance: u16, left_ms: u64) -> Open {
        Open {
            intent: IntentId(0),
            attempt: AttemptId(attempt),
            instance: InstanceId(instance),
            told: RunTime(left_ms * MS),
            left: RunTime(left_ms * MS),
        }
    }

    fn held(instance: u16, has_company: bool) -> Held {
        Held {
            hold: HoldId::default(),
            fault: FaultId(0),
            firing: 1,
            since: RunTime(100 * MS),
            whose: vec![IntentId(0)],
            instance: Some(InstanceId(instance)),
            backend: Some(7),
            group: vec![IntentId(0)],
            has_company,
            until: Until::Others,
            lease: None,
            passing: None,
            renewals: None,
            deadline: None,
            agreed: None,
        }
    }

    #[test]
    fn the_held_attempt_is_none_of_the_others() {
        let scene = |open: &[Open], left| Scene { open: open.to_vec(), left };
        let (own, other) = (open(0, 0, 1), open(1, 1, 1));
        let hold = held(0, true);
        let answered = Others::Over(FiringEnd::OthersAnswered);
        assert_eq!(others(scene(&[own], 1), &[&held(0, false)]), Others::None);
        assert_eq!(others(scene(&[own], 2), &[&hold]), answered);
        assert_eq!(others(scene(&[own, other], 2), &[&hold]), Others::Open(vec![other]));
        let both = others(scene(&[own, other], 2), &[&hold, &held(1, true)]);
        assert_eq!(both, Others::Over(FiringEnd::OthersBlocked));
    }

    #[test]
    fn who_came_later_counts_only_where_nobody_else_was_there() {
        let (own, late) = (open(0, 0, 1), open(2, 1, 200));
        let scene = |left| Scene { open: vec![own, late], left };
        let answered = Others::Over(FiringEnd::OthersAnswered);
        assert_eq!(others(scene(3), &[&held(0, true)]), answered);
        assert_eq!(others(scene(2), &[&held(0, false)]), Others::Open(vec![late]));
        // The held one's client has given up, and asks again.
        let again = Scene { open: vec![late], left: 2 };
        assert_eq!(others(again, &[&held(0, false)]), Others::Open(vec![late]));
    }

    #[test]
    fn who_leaves_later_by_a_schedule_is_waited_for() {
        let (own, planned) = (open(0, 0, 1), Open { told: RunTime(1), ..open(1, 1, 800) });
        let scene = Scene { open: vec![own, planned], left: 2 };
        assert_eq!(others(scene, &[&held(0, true)]), Others::Open(vec![planned]));
        let seen = |now_ms: u64| {
            let (activity, none) = (HashMap::new(), HashMap::new());
            let waits = LockWaits::default();
            let now = RunTime(now_ms * MS);
            let sight = Sight { now, activity, waits, refused_before: &none };
            sight.hindrance(&[planned], &[&held(0, true)])
        };
        assert_eq!((seen(799), seen(999)), (None, None), "it hasn't left, or just now");
        assert_eq!(seen(1_000), Some(FiringEnd::OthersBlocked));
    }

    fn activity(last_ms: u64, gap_ms: u64, refused_in_row: u32) -> Activity {
        Activity {
            intent: IntentId(0),
            instance: Some(InstanceId(1)),
            last: RunTime(last_ms * MS),
            longest_gap: Duration::from_millis(gap_ms),
            refused_in_row,
        }
    }

    /// What is said at `now_ms` of one other attempt at the second instance.
    fn end(
        now_ms: u64,
        activity: Activity,
        waits: &[(u32, u32)],
        refused_before: u32,
        own: u16,
    ) -> Option<FiringEnd> {
        let place = (activity.intent, activity.instance);
        let sight = Sight {
            now: RunTime(now_ms * MS),
            activity: HashMap::from([(place, activity)]),
            waits: LockWaits::of(waits.iter().map(|&(pid, blocker)| (pid, vec![blocker]))),
            refused_before: &HashMap::from([(place, refused_before)]),
        };
        sight.hindrance(&[open(1, 1, 1)], &[&held(own, true)])
    }

    #[test]
    fn who_is_refused_waits_for_the_holder_or_is_silent_is_blocked() {
        let blocked = Some(FiringEnd::OthersBlocked);
        assert_eq!(end(110, activity(109, 2, 5), &[], 3, 0), None, "refused twice since");
        assert_eq!(end(110, activity(109, 2, 6), &[], 3, 0), blocked);
        assert_eq!(end(110, activity(101, 2, 0), &[(8, 7)], 0, 0), blocked);
        assert_eq!(end(110, activity(109, 2, 0), &[(8, 7)], 0, 0), None, "something crosses");
        assert_eq!(end(110, activity(101, 2, 0), &[(8, 9)], 0, 0), None, "for somebody else");
        assert_eq!(end(300, activity(101, 2, 0), &[], 0, 0), None);
        assert_eq!(end(301, activity(101, 2, 0), &[], 0, 0), blocked);
        assert_eq!(end(400, activity(101, 50, 0), &[], 0, 0), None, "it has longer gaps");
        assert_eq!(end(1_101, activity(101, 900, 0), &[], 0, 0), blocked, "a gap of a queue");
    }

    #[test]
    fn silence_behind_the_held_connection_is_the_holds_own_doing() {
        assert_eq!(end(301, activity(101, 2, 0), &[], 0, 1), Some(FiringEnd::OwnHold));
        let by_a_lock = end(301, activity(101, 2, 0), &[(8, 9)], 0, 1);
        assert_eq!(by_a_lock, Some(FiringEnd::OthersBlocked));
    }

    #[test]
    fn a_lease_is_taken_over_by_another_holder_and_over_when_it_is_gone() {
        let lease = Lease { key: "lock".to_owned(), holder: Some(b"a".to_vec()) };
        let (own, other) = (b"a".to_vec(), b"b".to_vec());
        assert_eq!(lease.ends(Until::TakenOver, Some(&own)), None);
        assert_eq!(lease.ends(Until::TakenOver, None), None);
        assert_eq!(lease.ends(Until::TakenOver, Some(&other)), Some(FiringEnd::TakenOver));
        assert_eq!(lease.ends(Until::LeaseOver, None), Some(FiringEnd::LeaseOver));
        assert_eq!(lease.ends(Until::Limit, None), None);
    }
}
