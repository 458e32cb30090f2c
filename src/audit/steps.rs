//! The steps of a run, arranged once: by intent in the order in which they were asked, each with its
//! number among the steps of its name, and with the attempt that made it where only one can have.
//!
//! Takes a case, however broken its journal is. What it says rests on what is there: without the seal,
//! attempts may be missing, and then no step belongs to one.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};

use crate::history::{Attempt, InstanceId, IntentId, LinkId, Role, RunTime, Step, Wire};

use super::Case;
use super::attribution;
use super::grouped::Grouped;
use super::windows::Windows;

/// A step where it belongs.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    pub step: &'a Step,
    /// Which step of its name it is of its intent, counted from 1; 0 where it is nobody's.
    pub number: u32,
    pub intent: Option<IntentId>,
    /// Who made it, where no other attempt of the intent can have.
    pub attempt: Option<&'a Attempt>,
    /// On whose connection, where that is known.
    pub instance: Option<InstanceId>,
}

impl Placed<'_> {
    /// `redis SET lock:stock #1`; without a number where it is nobody's.
    pub fn name(&self) -> String {
        match self.number {
            0 => self.step.name(),
            number => format!("{} #{number}", self.step.name()),
        }
    }

    /// Whether two steps were certainly made by two requests.
    pub fn is_of_another_request(&self, other: &Self) -> bool {
        fn differ<T: Copy + PartialEq>(one: Option<T>, other: Option<T>) -> bool {
            one.is_some() && other.is_some() && one != other
        }
        differ(self.intent, other.intent)
            || differ(self.attempt.map(|it| it.id), other.attempt.map(|it| it.id))
            || differ(self.instance, other.instance)
    }
}

/// All steps of a run.
#[derive(Debug)]
pub struct Steps<'a> {
    steps: &'a [Step],
    attempts: &'a [Attempt],
    instances: HashMap<LinkId, InstanceId>,
    /// The next five by place in the history.
    owners: Vec<Option<IntentId>>,
    numbers: Vec<u32>,
    makers: Vec<Option<u32>>,
    in_order: Vec<u32>,
    of_intent: Grouped,
    of_attempt: Grouped,
    /// Places of attempts whose steps can't be another's.
    alone: Vec<u32>,
    /// When steps were asked that are nobody's and name a product, in order; `None`: that ask for a lock
    /// under a name nobody can read, as advisory locks have.
    nobodys: HashMap<Option<i64>, Vec<RunTime>>,
}

impl<'a> Steps<'a> {
    pub fn new(case: &Case<'a>) -> Self {
        let history = case.history;
        let is_whole = history.sealed && !history.drains.is_empty();
        let windows = Windows::new(history);
        let knows_buyers = is_whole && case.profile.actor.products.is_empty();
        let owners = attribution::owners(history, &windows, knows_buyers);
        let instances: HashMap<LinkId, InstanceId> =
            history.links.iter().filter_map(|link| Some((link.id, link.instance?))).collect();
        let instance = |step: &Step| instances.get(&step.link).copied();
        let in_order = in_order(&history.steps);
        let maker = |(step, owner): (&Step, &Option<IntentId>)| {
            windows.only_one((*owner)?, step.asked, instance(step)).filter(|_| is_whole)
        };
        let makers: Vec<Option<u32>> = history.steps.iter().zip(&owners).map(maker).collect();
        let group = |of: &dyn Fn(usize) -> Option<u32>, groups: usize| {
            let pairs = in_order.iter().filter_map(|&at| Some((of(at as usize)?, at)));
            Grouped::new(groups, pairs.collect::<Vec<_>>().into_iter())
        };
        let of_intent = group(&|at| owners[at].map(|intent| intent.0), history.intents.len());
        let of_attempt = group(&|at| makers[at], history.attempts.len());
        let shows = history.steps.iter().all(|step| instances.contains_key(&step.link));
        let is_single =
            |&place: &u32| !of_attempt.of(place).is_empty() && windows.was_alone(place, shows);
        let alone = (0..history.attempts.len() as u32).filter(is_single).collect();
        let mut nobodys: HashMap<Option<i64>, Vec<RunTime>> = HashMap::new();
        for &place in &in_order {
            let step = &history.steps[place as usize];
            let may_be_anybodys = step.product.is_some() || step.role == Some(Role::Lock);
            if owners[place as usize].is_none() && may_be_anybodys {
                nobodys.entry(step.product).or_default().push(step.asked);
            }
        }
        let mut steps = Self {
            steps: &history.steps,
            attempts: &history.attempts,
            instances,
            numbers: vec![0; history.steps.len()],
            owners,
            makers,
            in_order,
            of_intent,
            of_attempt,
            alone,
            nobodys,
        };
        steps.count(history.intents.len() as u32);
        steps
    }

    /// Whether a step that is nobody's named a product meanwhile, or a lock that may be its, so that it
    /// may be anybody's who wants the product.
    pub(super) fn is_named_by_nobody(&self, product: i64, from: RunTime, to: RunTime) -> bool {
        [Some(product), None].iter().any(|name| {
            let asked = self.nobodys.get(name).map_or(&[][..], Vec::as_slice);
            asked.get(asked.partition_point(|&at| at < from)).is_some_and(|&at| at < to)
        })
    }

    /// Gives every owned step its number.
    fn count(&mut self, intents: u32) {
        type Name<'n> = (Wire, &'n Arc<str>, &'n Option<Arc<str>>);
        let mut seen: HashMap<Name<'_>, u32> = HashMap::new();
        for intent in 0..intents {
            seen.clear();
            for &place in self.of_intent.of(intent) {
                let step = &self.steps[place as usize];
                let number = seen.entry((step.wire, &step.verb, &step.object)).or_default();
                *number += 1;
                self.numbers[place as usize] = *number;
            }
        }
    }

    fn placed(&self, place: u32) -> Placed<'a> {
        let at = place as usize;
        let step = &self.steps[at];
        Placed {
            step,
            number: self.numbers[at],
            intent: self.owners[at],
            attempt: self.makers[at].map(|maker| &self.attempts[maker as usize]),
            instance: self.instances.get(&step.link).copied(),
        }
    }

    /// Every step, in the order in which they were asked.
    pub fn all(&self) -> impl Iterator<Item = Placed<'a>> + '_ {
        self.in_order.iter().map(|&place| self.placed(place))
    }

    /// The steps of an intent, in that order.
    pub fn of_intent(&self, intent: IntentId) -> impl Iterator<Item = Placed<'a>> + '_ {
        self.of_intent.of(intent.0).iter().map(|&place| self.placed(place))
    }

    /// The steps that only this attempt can have made, in that order.
    pub fn of_attempt(&self, attempt: &Attempt) -> impl Iterator<Item = Placed<'a>> + use<'_, 'a> {
        let id = attempt.id;
        let is_its = move |at: &Placed<'_>| at.attempt.is_some_and(|maker| maker.id == id);
        self.of_intent(attempt.intent).filter(is_its)
    }

    /// Attempts that were alone with their intent from begin to end, each with its steps.
    pub(super) fn of_single_requests(
        &self,
    ) -> impl Iterator<Item = (&'a Attempt, Vec<Placed<'a>>)> + '_ {
        self.alone.iter().map(|&place| {
            let steps = self.of_attempt.of(place).iter().map(|&place| self.placed(place));
            (&self.attempts[place as usize], steps.collect())
        })
    }
}

/// Places by time; what one moment has in common is told apart by what came of it, so that the order
/// of the journal doesn't matter.
fn in_order(steps: &[Step]) -> Vec<u32> {
    let mut places: Vec<u32> = (0..steps.len() as u32).collect();
    let late = |time: Option<RunTime>| time.unwrap_or(RunTime(u64::MAX));
    places.sort_by_key(|&place| {
        let step = &steps[place as usize];
        (step.earliest(), late(step.forwarded), late(step.answered), step.link)
    });
    places
}
