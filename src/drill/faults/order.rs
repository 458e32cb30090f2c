//! The phases of a drill in the order in which they run.
//!
//! A phase in which time passed by deleting keys is run once more, with one user and time that really
//! passes (S01): a finding made with deleted keys counts for more only with it. These replays are
//! numbered behind all phases of the profile, whose numbers are their places in it.

use std::borrow::Cow;

use crate::history::PhaseId;
use crate::profile::{Act, Burst, Crowd, Expire, Fault, Passing, Phase, Profile};

/// A phase as it will run.
#[derive(Clone, Debug)]
pub(in crate::drill) struct PlannedPhase<'a> {
    pub id: PhaseId,
    pub phase: Cow<'a, Phase>,
    /// Products that nobody had before, where there are faults.
    pub apart: Option<Apart>,
}

/// Indices of products that the buyers of a phase are dealt, and those of its probe. What only a
/// product names, such as a lease, is then known to be theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::drill) struct Apart {
    pub load: u32,
    pub probe: u32,
}

/// All phases, replays in real time behind the ones that they replay.
pub(in crate::drill) fn in_order(profile: &Profile) -> Vec<PlannedPhase<'_>> {
    let mut replays = profile.phases.len() as u16..;
    let mut order = Vec::new();
    for (phase, id) in profile.phases.iter().zip(0..) {
        order.push((PhaseId(id), Cow::Borrowed(phase)));
        if is_replayed(phase)
            && let Some(id) = replays.next()
        {
            order.push((PhaseId(id), Cow::Owned(in_real_time(phase))));
        }
    }
    // Behind those that all share, and those of phases with a product of their own.
    let (count, phases) = (profile.products.count.max(1), order.len() as u32);
    let mut next = (0..).map(|place| count + phases + place * count);
    let mut apart = |phase: &Phase| {
        let is_left_alone = phase.faults.is_empty();
        (!is_left_alone).then(|| Some(Apart { load: next.next()?, probe: next.next()? }))?
    };
    let planned = order.into_iter().map(|(id, phase)| {
        let apart = apart(&phase);
        PlannedPhase { id, phase, apart }
    });
    planned.collect()
}

impl Apart {
    /// All of them.
    pub(in crate::drill) fn indices(self, count: u32) -> impl Iterator<Item = u32> {
        (self.load..self.load + count).chain(self.probe..self.probe + count)
    }
}

/// The place in the profile of the phase that this one is or replays.
pub(in crate::drill) fn origin(profile: &Profile, phase: PhaseId) -> usize {
    let place = usize::from(phase.0);
    let mut replayed = profile.phases.iter().enumerate().filter(|(_, phase)| is_replayed(phase));
    place
        .checked_sub(profile.phases.len())
        .map_or(place, |number| replayed.nth(number).map_or(0, |(place, _)| place))
}

fn is_replayed(phase: &Phase) -> bool {
    phase.faults.iter().any(|fault| to_be_replayed(fault).is_some())
}

const fn to_be_replayed(fault: &Fault) -> Option<&Expire> {
    match &fault.act {
        Act::Expire(expire) if expire.replay && matches!(expire.how, Passing::Delete) => {
            Some(expire)
        }
        _ => None,
    }
}

fn in_real_time(phase: &Phase) -> Phase {
    let fault = |fault: &Fault| {
        let act = to_be_replayed(fault)
            .map(|expire| Act::Expire(Expire { how: Passing::Wait, replay: false, ..*expire }));
        Fault { act: act.unwrap_or_else(|| fault.act.clone()), ..fault.clone() }
    };
    Phase {
        name: format!("{}, in real time", phase.name),
        burst: by_one_user(&phase.burst),
        faults: phase.faults.iter().map(fault).collect(),
    }
}

/// The same burst for one user, where its users don't contend with each other.
fn by_one_user(burst: &Burst) -> Burst {
    let one = |crowd: &Crowd| Crowd { users: 1, ..crowd.clone() };
    let mut burst = burst.clone();
    match &mut burst {
        Burst::SameKey(crowd) | Burst::SameFingerprint(crowd) | Burst::FreshKey(crowd) => {
            *crowd = one(crowd);
        }
        Burst::Mutated(burst) => burst.crowd = one(&burst.crowd),
        Burst::Race(burst) => burst.crowd = one(&burst.crowd),
        Burst::SubmitToken(burst) => burst.crowd = one(&burst.crowd),
        Burst::Mixed(burst) => burst.crowd = one(&burst.crowd),
        Burst::Sequential(burst) => burst.users = 1,
        Burst::BadKeys(burst) => burst.users = 1,
        Burst::SharedKey(_) | Burst::LastUnit(_) | Burst::Rate(_) => {}
    }
    burst
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::profile::{Expired, Hold, Trigger, Until};

    fn profile() -> Profile {
        let phase = |name: &str| {
            format!("[[phase]]\nname = \"{name}\"\nburst.same-key = {{ users = 9, threads = 2 }}\n")
        };
        let text = ["a", "b", "c"].map(phase).concat();
        crate::profile::parse(Path::new("a.toml"), &text, &|_| None).unwrap()
    }

    #[test]
    fn a_phase_with_deleted_keys_is_replayed_behind_it_and_numbered_behind_all() {
        let hold = Hold { until: Until::TakenOver, limit: Duration::from_secs(3) };
        let expire = Expire { what: Expired::Lease, how: Passing::Delete, replay: true, hold };
        let fault =
            Fault { at: Trigger::Time(Duration::ZERO), act: Act::Expire(expire), armed: true };
        let mut profile = profile();
        profile.phases[1].faults.push(fault.clone());
        let order = in_order(&profile);
        let told: Vec<_> = order.iter().map(|it| (it.id.0, it.phase.name.as_str())).collect();
        assert_eq!(told, [(0, "a"), (1, "b"), (3, "b, in real time"), (2, "c")]);
        let count = profile.products.count;
        let apart: Vec<_> = order.iter().filter_map(|it| it.apart).collect();
        assert_eq!(apart[0], Apart { load: count + 4, probe: 2 * count + 4 });
        assert_eq!((apart[1].load, apart.len()), (3 * count + 4, 2));
        let replay = &order[2].phase;
        assert_eq!(replay.burst.crowd().unwrap().users, 1);
        assert_eq!(replay.faults[0].name(), fault.name());
        assert!(matches!(
            replay.faults[0].act,
            Act::Expire(Expire { how: Passing::Wait, replay: false, .. })
        ));
        assert_eq!([0, 1, 2, 3].map(|id| origin(&profile, PhaseId(id))), [0, 1, 2, 1]);
    }
}
