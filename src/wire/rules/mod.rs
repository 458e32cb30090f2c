//! The rules that are armed on the wires of a run, and what came of them.
//!
//! They live on the thread of the proxies. As long as none is armed, a link asks one flag. A rule is
//! asked in two parts: whether a step is of the kind that it means, once, when the step is known; and
//! whether this is the occurrence that it wants, at the point where it would act. An occurrence that was
//! decided on and could not be acted on, because its connection was gone, is given back.

mod busy;
mod fit;
mod hold;

pub(super) use busy::{Busy, Holder};
pub(super) use fit::Carried;
pub(super) use hold::Hold;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::task::Waker;

use foldhash::HashSet;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::history::{
    FaultEvent, FaultFacts, FaultId, FiringEnd, InstanceId, IntentId, Proof, RunTime, Step,
    StepPoint,
};
use crate::profile::{Owned, Which};

use super::rule::{HoldId, Notice, Rule};

/// A rule that is armed, and what it has done so far.
#[derive(Debug)]
pub(super) struct ArmedRule {
    pub(super) rule: Rule,
    token: CancellationToken,
    /// Occurrences that were decided on, and not given back.
    taken: Cell<u32>,
    /// Occurrences that were passed over: the first two of a third one.
    passed_over: Cell<u32>,
    /// Who has had its first one.
    had: RefCell<HashSet<Whose>>,
    /// How many steps of each intent fitted, where a number is asked for.
    numbers: RefCell<HashMap<Option<IntentId>, u32>>,
    draws: Cell<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Whose {
    Intent(IntentId),
    Product(i64),
    Nobody,
}

/// An occurrence that a rule has decided to act on. Dropped before it was acted on, it is given back.
#[derive(Debug)]
pub(super) struct Decided {
    pub(super) rule: Rc<ArmedRule>,
    pub(super) at: RunTime,
    whose: Whose,
    is_applied: bool,
}

impl Decided {
    pub(super) const fn applied(&mut self) {
        self.is_applied = true;
    }
}

impl Drop for Decided {
    fn drop(&mut self) {
        if !self.is_applied {
            self.rule.taken.set(self.rule.taken.get().saturating_sub(1));
            self.rule.had.borrow_mut().remove(&self.whose);
        }
    }
}

impl ArmedRule {
    pub(super) fn is_armed(&self) -> bool {
        !self.token.is_cancelled()
    }

    /// Takes the occurrence, if it is one that the rule wants.
    fn take(
        self: &Rc<Self>,
        step: &Step<Rc<str>>,
        among: &[IntentId],
        now: RunTime,
    ) -> Option<Decided> {
        let whose = self.whose(step, among);
        let wanted = match self.rule.at.which {
            Which::Every => true,
            Which::FirstOfEach => !self.had.borrow().contains(&whose),
            Which::Nth(number) => {
                if self.taken.get() > 0 {
                    false
                } else if self.passed_over.get() + 1 < number {
                    self.passed_over.set(self.passed_over.get() + 1);
                    false
                } else {
                    true
                }
            }
        };
        if !wanted || !self.is_drawn() {
            return None;
        }
        self.taken.set(self.taken.get() + 1);
        self.had.borrow_mut().insert(whose);
        Some(Decided { rule: Rc::clone(self), at: now, whose, is_applied: false })
    }

    fn whose(&self, step: &Step<Rc<str>>, among: &[IntentId]) -> Whose {
        match (self.rule.at.of, step.intent.or(among.first().copied()), step.product) {
            (Owned::Product, _, Some(product)) => Whose::Product(product),
            (_, Some(intent), _) => Whose::Intent(intent),
            _ => Whose::Nobody,
        }
    }

    /// Whether chance, drawn from the seed, wants this one.
    fn is_drawn(&self) -> bool {
        let probability = self.rule.at.probability;
        if probability >= 1.0 {
            return true;
        }
        let draw = self.draws.get();
        self.draws.set(draw + 1);
        fit::chance(self.rule.seed, draw) < probability
    }
}

/// A hold that waits for a lease to change hands.
#[derive(Debug)]
struct Awaiting {
    id: HoldId,
    key: Rc<str>,
    holder: Holder,
}

/// All rules of the wires.
#[derive(Debug)]
pub(super) struct Rules {
    armed: RefCell<Vec<Rc<ArmedRule>>>,
    is_idle: Cell<bool>,
    holds: RefCell<HashMap<HoldId, Rc<Hold>>>,
    /// Holds that end when a lease is somebody else's.
    awaiting: RefCell<Vec<Awaiting>>,
    next_hold: Cell<u64>,
    firings: RefCell<HashMap<FaultId, u32>>,
    /// Links that wait for something that isn't bytes.
    waiting: RefCell<Vec<Waker>>,
    pub(super) busy: RefCell<Busy>,
    notices: mpsc::Sender<Notice>,
}

impl Rules {
    pub(super) fn new(notices: mpsc::Sender<Notice>) -> Self {
        Self {
            armed: RefCell::default(),
            is_idle: Cell::new(true),
            holds: RefCell::default(),
            awaiting: RefCell::default(),
            next_hold: Cell::new(0),
            firings: RefCell::default(),
            waiting: RefCell::default(),
            busy: RefCell::default(),
            notices,
        }
    }

    /// Whether nobody has to ask anything.
    pub(super) const fn is_idle(&self) -> bool {
        self.is_idle.get()
    }

    pub(super) fn arm(&self, rules: Vec<Rule>, token: &CancellationToken) {
        let armed = rules.into_iter().map(|rule| {
            Rc::new(ArmedRule {
                rule,
                token: token.clone(),
                taken: Cell::new(0),
                passed_over: Cell::new(0),
                had: RefCell::default(),
                numbers: RefCell::default(),
                draws: Cell::new(0),
            })
        });
        self.armed.borrow_mut().extend(armed);
        self.is_idle.set(self.armed.borrow().is_empty());
    }

    /// Forgets the rules that were taken back, lets go what they hold, and wakes whom they silenced.
    pub(super) fn sweep(&self) {
        self.armed.borrow_mut().retain(|rule| rule.is_armed());
        self.holds.borrow_mut().retain(|_, hold| {
            let stays = hold.rule.is_armed();
            if !stays {
                hold.end(FiringEnd::Healed);
            }
            stays
        });
        if self.armed.borrow().is_empty() {
            self.is_idle.set(true);
            *self.busy.borrow_mut() = Busy::default();
        }
        self.wake();
    }

    /// The rules that mean steps of this kind.
    pub(super) fn fitting(
        &self,
        step: &Step<Rc<str>>,
        instance: Option<InstanceId>,
        carried: &Carried<'_>,
    ) -> Vec<Rc<ArmedRule>> {
        let armed = self.armed.borrow();
        let fits = |rule: &&Rc<ArmedRule>| rule.is_armed() && rule.fits(step, instance, carried);
        armed.iter().filter(fits).cloned().collect()
    }

    /// The first of these rules that acts at this point of the step.
    pub(super) fn decide(
        &self,
        fitting: &[Rc<ArmedRule>],
        points: &[StepPoint],
        step: &Step<Rc<str>>,
        among: &[IntentId],
        now: RunTime,
    ) -> Option<Decided> {
        let here = fitting.iter().filter(|it| it.is_armed() && points.contains(&it.rule.at.point));
        here.filter_map(|rule| rule.take(step, among, now)).next()
    }

    /// The number of a fault's next firing.
    pub(super) fn next_firing(&self, fault: FaultId) -> u32 {
        let mut firings = self.firings.borrow_mut();
        let number = firings.entry(fault).or_insert(0);
        *number += 1;
        *number
    }

    pub(super) fn hold(&self, rule: &Rc<ArmedRule>) -> Rc<Hold> {
        let id = HoldId(self.next_hold.replace(self.next_hold.get() + 1));
        let hold = Rc::new(Hold::new(id, Rc::clone(rule)));
        self.holds.borrow_mut().insert(id, Rc::clone(&hold));
        hold
    }

    pub(super) fn release(&self, id: HoldId, how: FiringEnd) {
        if let Some(hold) = self.holds.borrow_mut().remove(&id) {
            hold.end(how);
        }
    }

    /// A hold ends when the lease that its step is about is granted to another one than this.
    pub(super) fn await_taking(&self, id: HoldId, key: Rc<str>, holder: Holder) {
        self.awaiting.borrow_mut().push(Awaiting { id, key, holder });
    }

    /// A lease was granted.
    pub(super) fn is_taken(&self, key: &str, by: Holder) {
        let is_over = |it: &Awaiting| *it.key == *key && it.holder.is_other_than(by);
        let over: Vec<_> =
            self.awaiting.borrow().iter().filter(|it| is_over(it)).map(|it| it.id).collect();
        for id in over {
            self.release(id, FiringEnd::TakenOver);
            self.forget(id);
        }
    }

    pub(super) fn forget(&self, id: HoldId) {
        self.awaiting.borrow_mut().retain(|it| it.id != id);
        self.holds.borrow_mut().remove(&id);
    }

    /// The link that is polled is woken when rules are taken back.
    pub(super) fn wait(&self, waker: &Waker) {
        let mut waiting = self.waiting.borrow_mut();
        if !waiting.iter().any(|other| other.will_wake(waker)) {
            waiting.push(waker.clone());
        }
    }

    pub(super) fn wake(&self) {
        self.waiting.borrow_mut().drain(..).for_each(Waker::wake);
    }

    /// Says what happened; false where nobody can be told.
    pub(super) fn tell(&self, notice: Notice) -> bool {
        self.notices.try_send(notice).is_ok()
    }

    pub(super) fn effect(&self, fault: FaultId, firing: u32, at: RunTime, proof: Proof) {
        self.say(fault, at, FaultEvent::Effect { firing, proof });
    }

    pub(super) fn ended(&self, fault: FaultId, firing: u32, at: RunTime, how: FiringEnd) {
        self.say(fault, at, FaultEvent::Ended { firing, how });
    }

    fn say(&self, fault: FaultId, at: RunTime, event: FaultEvent) {
        let facts = FaultFacts { fault, at, event };
        // A notice that finds no room leaves its firing without proof, which is told as such.
        self.tell(Notice { facts, hold: None, lease: None, keys: Vec::new() });
    }
}
