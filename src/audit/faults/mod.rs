//! The faults of a run, arranged once: what each was to do, when it was armed and healed, and of every
//! firing the step, the proof and the end.
//!
//! Takes the journal's lines in any order, and a journal that was cut: what isn't written down hasn't
//! happened. A firing disturbs the target beyond its own end, for as long as its window lasts
//! (`window.rs`), and what that excuses is said in `excuse.rs`.

mod account;
mod excuse;
mod kind;
mod window;

pub(super) use account::accounts;
pub use account::{FaultAccount, FiringAccount, end_words};
pub(super) use excuse::{Excuses, maker};
pub(super) use kind::{Kind, is_effect, is_effect_of, is_outage};
pub(super) use window::{Window, meets};

use std::collections::BTreeMap;
use std::time::Duration;

use foldhash::{HashMap, HashMapExt};

use crate::history::{
    FaultEvent, FaultId, FaultPlan, Firing, FiringEnd, IntentId, Proof, RunTime, Wire,
};
use crate::profile;

use super::Case;
use super::steps::Placed;

/// One fault, and what became of it.
#[derive(Debug)]
pub(super) struct Fault<'a> {
    pub id: FaultId,
    pub plan: &'a FaultPlan,
    /// What the profile says of it, where it is the profile's.
    pub said: Option<&'a profile::Fault>,
    pub armed: Option<RunTime>,
    pub healed: Option<RunTime>,
    /// By number.
    pub firings: Vec<Shot<'a>>,
}

/// One firing.
#[derive(Debug)]
pub(super) struct Shot<'a> {
    pub firing: &'a Firing,
    /// When it was applied.
    pub at: RunTime,
    pub proofs: Vec<(RunTime, &'a Proof)>,
    pub end: Option<(RunTime, FiringEnd)>,
    pub window: Window,
}

impl Shot<'_> {
    /// The intents that its step was of, or may have been.
    pub fn owners(&self) -> impl Iterator<Item = IntentId> {
        let step = self.firing.step.iter();
        step.flat_map(|step| step.intent.into_iter().chain(step.among.iter().copied()))
    }

    /// The same, and those that shared its connection.
    pub fn named(&self) -> impl Iterator<Item = IntentId> {
        self.owners().chain(self.firing.also_hit.iter().copied())
    }

    /// Whether the peer showed what it did.
    pub fn has_effect(&self) -> bool {
        self.proofs.iter().any(|(_, proof)| is_effect(proof))
    }

    /// The same, of what its act is there for.
    pub fn has_effect_of(&self, act: &str) -> bool {
        self.proofs.iter().any(|(_, proof)| is_effect_of(act, proof))
    }

    /// When keys were deleted by it before their time.
    pub fn keys_gone(&self) -> Option<RunTime> {
        let gone = |proof: &Proof| matches!(proof, Proof::KeysGone { .. }) && is_effect(proof);
        self.proofs.iter().find(|(_, proof)| gone(proof)).map(|&(at, _)| at)
    }

    /// Whether the time of its keys was really waited for.
    pub fn keys_expired(&self) -> bool {
        let is_over = |proof: &Proof| matches!(proof, Proof::KeysExpired { .. });
        self.proofs.iter().any(|(_, proof)| is_over(proof) && is_effect(proof))
    }
}

impl Fault<'_> {
    pub fn kind(&self) -> Kind {
        Kind::of(&self.plan.act)
    }

    /// The wire that it is about.
    pub fn wire(&self) -> Option<Wire> {
        let of_step =
            self.firings.iter().find_map(|shot| shot.firing.step.as_ref().map(|step| step.wire));
        let of_act = self.said.and_then(|said| match &said.act {
            profile::Act::Partition(partition) => Some(partition.wire),
            profile::Act::SwapUpstream { wire } => Some(*wire),
            _ => None,
        });
        of_act.or(of_step)
    }
}

/// All faults of a run, in the order of their ids.
#[derive(Debug, Default)]
pub(super) struct Faults<'a> {
    pub all: Vec<Fault<'a>>,
    pub excuses: Excuses,
    /// Intents that something hit, each with when all of it was put right; absent: something never was.
    hit: HashMap<IntentId, Option<RunTime>>,
    limit: Duration,
}

impl<'a> Faults<'a> {
    pub fn new(case: &Case<'a>) -> Self {
        let limit = case.profile.contract.recovery_limit;
        if case.history.faults.is_empty() {
            return Self { limit, ..Self::default() };
        }
        let mut all = planned(case);
        for fault in &mut all {
            note(case, fault);
            let kind = fault.kind();
            let healed = fault.healed;
            for shot in &mut fault.firings {
                shot.window = window::of(case, kind, shot, healed);
            }
        }
        let excuses = Excuses::new(case, &all, limit);
        let mut hit: HashMap<IntentId, Option<RunTime>> = HashMap::new();
        for window in all.iter().flat_map(|fault| &fault.firings).map(|shot| &shot.window) {
            for intent in &window.hits {
                let healed = hit.entry(*intent).or_insert(window.healed);
                *healed = healed.zip(window.healed).map(|(one, other)| one.max(other));
            }
        }
        Self { all, excuses, hit, limit }
    }

    /// Every firing with its fault.
    pub fn firings(&self) -> impl Iterator<Item = (&Fault<'a>, &Shot<'a>)> {
        self.all.iter().flat_map(|fault| fault.firings.iter().map(move |shot| (fault, shot)))
    }

    /// When everything that had hit an intent was put right, if anything had and all was.
    pub fn healed_of(&self, intent: IntentId) -> Option<RunTime> {
        self.hit.get(&intent).copied().flatten()
    }

    /// Whether anything had hit an intent.
    pub fn has_hit(&self, intent: IntentId) -> bool {
        self.hit.contains_key(&intent)
    }

    /// Intents that something had hit.
    pub fn count_hit(&self) -> u64 {
        self.hit.len() as u64
    }

    pub const fn limit(&self) -> Duration {
        self.limit
    }

    /// When dupeproof did something to the keys of whoever had got a lease by a step, so that the lease may
    /// have ended before its time. What was granted to another one afterwards is untouched.
    pub fn touched_keys(&self, grant: &Placed<'_>) -> Option<RunTime> {
        let is_about = |shot: &Shot<'_>| {
            let step = shot.firing.step.as_ref();
            let product = step.and_then(|step| step.product);
            step.is_none()
                || product.is_some() && product == grant.step.product
                || shot.named().any(|intent| Some(intent) == grant.intent)
        };
        let touches = |(_, proof): &(RunTime, &Proof)| {
            matches!(
                proof,
                Proof::KeysGone { .. }
                    | Proof::KeysExpired { .. }
                    | Proof::KeysTaken { .. }
                    | Proof::Swapped { .. }
            )
        };
        let later = self.firings().filter(|(_, shot)| shot.window.begin > grant.step.earliest());
        let touching = later.filter(|(_, shot)| shot.proofs.iter().any(touches) && is_about(shot));
        touching.map(|(_, shot)| shot.window.begin).min()
    }

    /// Firings at a step.
    pub fn at_step(
        &self,
        step: &crate::history::Step,
    ) -> impl Iterator<Item = (&Fault<'a>, &Shot<'a>)> {
        let name = (step.link, step.asked);
        self.firings().filter(move |(_, shot)| {
            shot.firing.step.as_ref().is_some_and(|at| (at.link, at.asked) == name)
        })
    }
}

fn planned<'a>(case: &Case<'a>) -> Vec<Fault<'a>> {
    let mut all: BTreeMap<FaultId, Fault<'a>> = BTreeMap::new();
    for facts in &case.history.faults {
        if let FaultEvent::Planned(plan) = &facts.event {
            let said = said(case, plan);
            let fault = || Fault {
                id: facts.fault,
                plan,
                said,
                armed: None,
                healed: None,
                firings: Vec::new(),
            };
            all.entry(facts.fault).or_insert_with(fault);
        }
    }
    all.into_values().collect()
}

/// The profile's fault of this name: in its own phase, or in another that was run once more.
fn said<'a>(case: &Case<'a>, plan: &FaultPlan) -> Option<&'a profile::Fault> {
    let phases = &case.profile.phases;
    let own = phases.get(usize::from(plan.phase.0)).into_iter();
    let mut faults = own.chain(phases).flat_map(|phase| &phase.faults);
    faults.find(|fault| fault.act.word() == plan.act && fault.name() == plan.name)
}

fn note<'a>(case: &Case<'a>, fault: &mut Fault<'a>) {
    let id = fault.id;
    let mut shots: BTreeMap<u32, Shot<'a>> = BTreeMap::new();
    let own = || case.history.faults.iter().filter(|facts| facts.fault == id);
    for facts in own() {
        match &facts.event {
            FaultEvent::Armed => fault.armed = fault.armed.or(Some(facts.at)),
            FaultEvent::Healed => fault.healed = fault.healed.max(Some(facts.at)),
            FaultEvent::Fired(firing) => {
                let (at, window) = (facts.at, Window::default());
                let shot = Shot { firing, at, proofs: Vec::new(), end: None, window };
                shots.entry(firing.number).or_insert(shot);
            }
            FaultEvent::Planned(_) | FaultEvent::Effect { .. } | FaultEvent::Ended { .. } => {}
        }
    }
    for facts in own() {
        match &facts.event {
            FaultEvent::Effect { firing, proof } => {
                if let Some(shot) = shots.get_mut(firing) {
                    shot.proofs.push((facts.at, proof));
                }
            }
            FaultEvent::Ended { firing, how } => {
                if let Some(shot) = shots.get_mut(firing) {
                    shot.end = shot.end.or(Some((facts.at, *how)));
                }
            }
            _ => {}
        }
    }
    fault.firings = shots.into_values().collect();
}
