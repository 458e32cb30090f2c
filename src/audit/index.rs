//! The history of a case, arranged once: by key, by meaning of a key, by time.
//!
//! Attempts are sorted by their first byte here, so that no check depends on the order in which the
//! journal happened to be written. Intents with an empty key are kept apart from the rules: no
//! contract promises anything about requests that can't be told apart.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::history::{Attempt, AttemptId, Exit, History, Intent, Outcome, RunTime};

use super::Case;

/// Everything sent under one user and key.
#[derive(Debug)]
pub(super) struct KeyGroup<'a> {
    pub user: &'a str,
    pub key: &'a str,
    /// One for each fingerprint, in the order of the intents.
    pub variants: Vec<Variant<'a>>,
    /// By first byte.
    pub attempts: Vec<&'a Attempt>,
}

/// One meaning of a key.
#[derive(Debug)]
pub(super) struct Variant<'a> {
    pub intent: &'a Intent,
    /// By first byte.
    pub attempts: Vec<&'a Attempt>,
}

impl<'a> Variant<'a> {
    /// Replies that carry an order id, by first byte.
    pub fn acknowledged(&self) -> impl Iterator<Item = &'a Attempt> {
        self.attempts
            .iter()
            .copied()
            .filter(|attempt| attempt.outcome == Outcome::Acknowledged && attempt.order.is_some())
    }

    /// The acknowledgement that arrived first.
    pub fn first_acknowledged(&self) -> Option<&'a Attempt> {
        self.acknowledged()
            .filter(|attempt| attempt.completed.is_some())
            .min_by_key(|attempt| (attempt.completed, attempt.id))
    }

    /// Whether a byte was sent.
    pub fn was_sent(&self) -> bool {
        self.attempts.iter().any(|attempt| attempt.outcome.was_sent())
    }

    /// Whether a byte was sent and no answer was definite.
    pub fn is_undecided(&self) -> bool {
        self.was_sent() && !self.attempts.iter().any(|attempt| attempt.outcome.is_definite())
    }
}

#[derive(Debug)]
pub(super) struct Index<'a> {
    pub history: &'a History,
    /// In the order of the intents.
    pub keys: Vec<KeyGroup<'a>>,
    /// The group of a user and a key.
    pub by_name: HashMap<(&'a str, &'a str), usize>,
    /// Groups of each user, in order.
    pub users: HashMap<&'a str, Vec<usize>>,
    /// Groups of each key string, in order.
    pub key_strings: HashMap<&'a str, Vec<usize>>,
    pub products: BTreeSet<i64>,
    /// Group and variant of each intent.
    pub seats: Vec<(usize, usize)>,
    /// Acknowledged order ids, each with the group that it was first acknowledged to.
    pub acknowledged: BTreeMap<Cow<'a, str>, usize>,
    place: HashMap<AttemptId, (usize, usize)>,
    exits: Vec<&'a Exit>,
    recovery_limit: std::time::Duration,
}

impl<'a> Index<'a> {
    pub fn new(case: &Case<'a>) -> Self {
        let history = case.history;
        let mut index = Self {
            history,
            keys: Vec::new(),
            by_name: HashMap::new(),
            users: HashMap::new(),
            key_strings: HashMap::new(),
            products: history.intents.iter().map(|intent| intent.product).collect(),
            seats: Vec::new(),
            acknowledged: BTreeMap::new(),
            place: HashMap::with_capacity(history.attempts.len()),
            exits: history.exits.iter().collect(),
            recovery_limit: case.profile.contract.recovery_limit,
        };
        index.seats = index.seat_intents();
        index.seat_attempts();
        index
    }

    /// Gives every intent its group and variant.
    fn seat_intents(&mut self) -> Vec<(usize, usize)> {
        let mut meanings: HashMap<(usize, &str), usize> = HashMap::new();
        let mut seats = Vec::with_capacity(self.history.intents.len());
        for intent in &self.history.intents {
            let group = *self.by_name.entry((&intent.user, &intent.key)).or_insert_with(|| {
                let at = self.keys.len();
                self.users.entry(&intent.user).or_default().push(at);
                self.key_strings.entry(&intent.key).or_default().push(at);
                self.keys.push(KeyGroup {
                    user: &intent.user,
                    key: &intent.key,
                    variants: Vec::new(),
                    attempts: Vec::new(),
                });
                at
            });
            let variants = &mut self.keys[group].variants;
            let variant = *meanings.entry((group, &intent.fingerprint)).or_insert_with(|| {
                variants.push(Variant { intent, attempts: Vec::new() });
                variants.len() - 1
            });
            seats.push((group, variant));
        }
        seats
    }

    fn seat_attempts(&mut self) {
        let mut attempts: Vec<&Attempt> = self.history.attempts.iter().collect();
        attempts
            .sort_by_key(|attempt| (attempt.first_byte.unwrap_or(RunTime(u64::MAX)), attempt.id));
        for attempt in attempts {
            let (group, variant) = self.seats[attempt.intent.0 as usize];
            let keys = &mut self.keys[group];
            keys.attempts.push(attempt);
            keys.variants[variant].attempts.push(attempt);
            self.place.insert(attempt.id, (group, keys.attempts.len()));
            if let (Outcome::Acknowledged, Some(order)) = (attempt.outcome, &attempt.order) {
                self.acknowledged.entry(same_id(order)).or_insert(group);
            }
        }
    }

    /// Groups that the contract protects: those with a key.
    pub fn keyed(&self) -> impl Iterator<Item = (usize, &KeyGroup<'a>)> {
        self.keys.iter().enumerate().filter(|(_, group)| !group.key.is_empty())
    }

    /// `attempt 2`: its number among the attempts of its key.
    pub fn name(&self, attempt: &Attempt) -> String {
        let number = self.place.get(&attempt.id).map_or(0, |&(_, number)| number);
        format!("attempt {number}")
    }

    /// Whether an instance ended during the attempt, or so short a time before that the target may
    /// still be recovering (rule S05).
    pub fn is_disturbed(&self, attempt: &Attempt) -> bool {
        let begin = attempt.first_byte.unwrap_or_default();
        let end = attempt.completed.unwrap_or(RunTime(u64::MAX));
        self.exits.iter().any(|exit| exit.at <= end && begin <= exit.at.plus(self.recovery_limit))
    }
}

/// An order id in the form in which ids are compared: UUIDs differ in case between JSON and
/// PostgreSQL, and mean the same.
pub fn same_id(id: &str) -> Cow<'_, str> {
    let is_uuid = id.len() == 36 && id.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    if is_uuid { Cow::Owned(id.to_ascii_lowercase()) } else { Cow::Borrowed(id) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_are_the_same_in_any_case_and_other_ids_are_not() {
        let upper = "7C1E0000-0000-4000-8000-00000000000A";
        assert_eq!(same_id(upper), same_id(&upper.to_lowercase()));
        assert_ne!(same_id("aB"), same_id("Ab"));
    }
}
