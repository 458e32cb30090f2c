//! What is under way: the intents of the phase, and their attempts that have left and have no answer.
//!
//! The load tells it, attempt by attempt; between phases, and in a phase without faults, it forgets at
//! once. What it knows is older by nothing: an attempt is told of before its last byte leaves.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::history::{AttemptId, InstanceId, Intent, IntentId, RunTime};
use crate::load::{Leaving, Witness};

/// What an intent is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Person {
    pub user: String,
    pub key: String,
    pub product: i64,
    pub entity: Option<String>,
}

/// An attempt without its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub intent: IntentId,
    pub attempt: AttemptId,
    pub instance: InstanceId,
    /// When it was heard of.
    pub told: RunTime,
    /// When it leaves, which may lie ahead.
    pub left: RunTime,
}

/// A group as it is now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Scene {
    pub open: Vec<Open>,
    /// How many attempts of it have left so far, or are about to.
    pub left: u64,
}

/// Shared by the load and the keeper of a phase's faults.
#[derive(Debug, Default)]
pub(super) struct Live {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_on: bool,
    people: HashMap<IntentId, Person>,
    buyers: HashMap<i64, Vec<IntentId>>,
    attempts: HashMap<AttemptId, IntentId>,
    open: HashMap<IntentId, Vec<Open>>,
    left: HashMap<IntentId, u64>,
}

impl Live {
    /// A phase with faults begins.
    pub(super) fn begin(&self) {
        *self.lock() = State { is_on: true, ..State::default() };
    }

    pub(super) fn end(&self) {
        *self.lock() = State::default();
    }

    /// Hears who means what.
    pub(super) fn learn(&self, intents: &[Intent]) {
        let mut state = self.lock();
        if !state.is_on {
            return;
        }
        for intent in intents {
            let person = Person {
                user: intent.user.clone(),
                key: intent.key.clone(),
                product: intent.product,
                entity: intent.entity.clone(),
            };
            state.people.insert(intent.id, person);
            state.buyers.entry(intent.product).or_default().push(intent.id);
        }
    }

    pub(super) fn person(&self, intent: IntentId) -> Option<Person> {
        self.lock().people.get(&intent).cloned()
    }

    /// What all intents of the phase are known by.
    pub(super) fn people(&self) -> Vec<Person> {
        self.lock().people.values().cloned().collect()
    }

    /// Who buys a product.
    pub(super) fn buyers(&self, product: i64) -> Vec<IntentId> {
        self.lock().buyers.get(&product).cloned().unwrap_or_default()
    }

    pub(super) fn scene(&self, group: &[IntentId]) -> Scene {
        self.lock().scene(group)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn scene(&self, intents: &[IntentId]) -> Scene {
        let open = intents.iter().filter_map(|intent| self.open.get(intent)).flatten().copied();
        let left = intents.iter().filter_map(|intent| self.left.get(intent)).sum();
        Scene { open: open.collect(), left }
    }
}

impl Witness for Live {
    fn leaving(&self, attempts: &mut dyn Iterator<Item = Leaving>, told: RunTime, at: RunTime) {
        let mut state = self.lock();
        if !state.is_on {
            return;
        }
        for Leaving { attempt, intent, instance } in attempts {
            let open = Open { intent, attempt, instance, told, left: at };
            state.attempts.insert(attempt, intent);
            state.open.entry(intent).or_default().push(open);
            *state.left.entry(intent).or_default() += 1;
        }
    }

    fn ended(&self, attempt: AttemptId) {
        let mut state = self.lock();
        let Some(intent) = state.attempts.remove(&attempt) else { return };
        if let Some(open) = state.open.get_mut(&intent) {
            open.retain(|one| one.attempt != attempt);
        }
    }
}
