//! The history of a case, arranged once: by key, by meaning of a key, by time.
//!
//! Attempts are sorted by their first byte here, so that no check depends on the order in which the
//! journal happened to be written. Three kinds of intents are kept apart: those that place an order
//! under a good key, those that act on an order (they place none), and those whose key is missing or
//! malformed, to whom no contract promises anything but an answer. Where keys belong to an account
//! and not to a user, all users of a key string share one group.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};

use crate::history::{Attempt, Exit, History, Intent, KeyForm, Outcome, RunTime};
use crate::profile::{Hole, KeyCarrier, KeyScope, Profile};

use super::Case;
use super::names::{Name, Names};
use super::variants::Variants;

/// Everything sent under one user and key.
#[derive(Debug)]
pub(super) struct KeyGroup<'a> {
    /// The first user, where the key belongs to an account.
    pub user: &'a str,
    pub key: &'a str,
    pub form: KeyForm,
    /// The order that it acts on; `None`: it places one.
    pub entity: Option<&'a str>,
    /// Whether several users share it, because keys belong to an account.
    pub is_shared: bool,
    /// Whether the target was told a good key, so that the contract protects its requests.
    pub is_keyed: bool,
    /// One for each fingerprint, in the order of the intents.
    pub variants: Variants<'a>,
    /// Of all variants, by first byte; absent where there is one, which has them all.
    of_several: Option<Box<[&'a Attempt]>>,
}

impl<'a> KeyGroup<'a> {
    /// By first byte.
    pub fn attempts(&self) -> &[&'a Attempt] {
        self.of_several.as_deref().unwrap_or(self.variants[0].attempts)
    }

    pub const fn places(&self) -> bool {
        self.entity.is_none()
    }

    /// The name of its request, or of the first where several place the same order.
    pub fn request(&self) -> &'a str {
        self.variants.first().map_or("", |variant| &variant.intent.request)
    }
}

/// One meaning of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variant<'a> {
    pub intent: &'a Intent,
    /// By first byte.
    pub attempts: &'a [&'a Attempt],
}

/// Indices of rows: mostly one, so that one needs no memory of its own.
#[derive(Clone, Debug, Default)]
pub(super) enum Few {
    #[default]
    None,
    One(usize),
    Many(Vec<usize>),
}

impl Few {
    pub fn push(&mut self, index: usize) {
        match self {
            Self::None => *self = Self::One(index),
            Self::One(first) => *self = Self::Many(vec![*first, index]),
            Self::Many(all) => all.push(index),
        }
    }

    pub fn as_slice(&self) -> &[usize] {
        match self {
            Self::None => &[],
            Self::One(index) => std::slice::from_ref(index),
            Self::Many(all) => all,
        }
    }
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

    /// Whether any attempt may have had an effect: a rejection must have had none.
    pub fn may_have_acted(&self) -> bool {
        self.attempts.iter().any(|attempt| may_have_acted(attempt))
    }

    /// Whether a byte was sent and no answer was definite.
    pub fn is_undecided(&self) -> bool {
        self.was_sent() && !self.attempts.iter().any(|attempt| attempt.outcome.is_definite())
    }
}

/// Whether an attempt may have had an effect, as far as its answer tells.
pub(super) const fn may_have_acted(attempt: &Attempt) -> bool {
    !matches!(attempt.outcome, Outcome::Refused | Outcome::NotSent)
}

#[derive(Debug)]
pub(super) struct Index<'a> {
    pub history: &'a History,
    /// In the order of the intents.
    pub keys: Vec<KeyGroup<'a>>,
    /// Which placing groups users and keys have.
    pub names: Names<'a>,
    pub products: BTreeSet<i64>,
    /// Group and variant of each intent.
    pub seats: Vec<(u32, u32)>,
    /// Acknowledged order ids, each with the attempt for an order that was first told of it.
    acknowledged: HashMap<Cow<'a, str>, &'a Attempt>,
    /// Whether the users existed before the run (rule S09), so that others may act for them too.
    pub users_are_a_pool: bool,
    pub products_are_a_pool: bool,
    /// Whether the journal holds all that happened, up to the final audit.
    pub is_whole: bool,
    exits: Vec<&'a Exit>,
    recovery_limit: std::time::Duration,
}

/// Variants of a group that are looked through one by one; a group has rarely more than two.
const NEAR: usize = 8;

/// What makes two intents of one group, beside user and key.
type Apart<'a> = (&'a str, &'a str, Option<&'a str>, &'a str, KeyForm);

impl<'a> Index<'a> {
    pub fn new(case: &Case<'a>) -> Self {
        let history = case.history;
        let mut index = Self {
            history,
            keys: Vec::with_capacity(history.intents.len()),
            names: Names::default(),
            products: history.intents.iter().map(|intent| intent.product).collect(),
            seats: Vec::new(),
            acknowledged: HashMap::new(),
            users_are_a_pool: !case.profile.actor.users.is_empty(),
            products_are_a_pool: !case.profile.actor.products.is_empty(),
            is_whole: history.sealed && !history.drains.is_empty() && case.after.is_some(),
            exits: history.exits.iter().collect(),
            recovery_limit: case.profile.contract.recovery_limit,
        };
        index.seats = index.seat_intents(case.profile);
        index
    }

    /// Gives every intent its group and variant.
    fn seat_intents(&mut self, profile: &'a Profile) -> Vec<(u32, u32)> {
        let is_shared = profile.contract.key.scope == KeyScope::Account;
        let mut accounts: HashMap<&str, usize> = HashMap::new();
        let mut apart: HashMap<Apart<'_>, usize> = HashMap::new();
        let mut carried: HashMap<&str, bool> = HashMap::new();
        let mut far: HashMap<(usize, &str), usize> = HashMap::new();
        let mut plain: HashMap<(&str, &str), usize> = HashMap::new();
        let mut names = Vec::with_capacity(self.history.intents.len());
        let mut acting = BTreeSet::new();
        let mut seats = Vec::with_capacity(self.history.intents.len());
        for intent in &self.history.intents {
            let (user, key) = (intent.user.as_str(), intent.key.as_str());
            let is_plain = intent.entity.is_none() && intent.key_form.is_good();
            let of_account = || accounts.get(key).copied().filter(|_| is_shared && !key.is_empty());
            let known = if is_plain {
                plain.get(&(user, key)).copied().or_else(of_account)
            } else {
                apart.get(&apart_of(intent)).copied()
            };
            let group = known.unwrap_or_else(|| {
                let carries =
                    *carried.entry(&intent.request).or_insert_with(|| carries(profile, intent));
                self.keys.push(group_of(intent, carries));
                self.keys.len() - 1
            });
            if is_plain {
                if is_shared {
                    accounts.entry(key).or_insert(group);
                }
                plain.insert((user, key), group);
                self.keys[group].is_shared |= self.keys[group].user != user;
            } else if known.is_none() {
                apart.insert(apart_of(intent), group);
            }
            if intent.entity.is_some() {
                acting.insert(user);
            } else {
                names.push(Name { intent: intent.id.0, group: group as u32 });
            }
            let variants = &mut self.keys[group].variants;
            let print = intent.fingerprint.as_str();
            let near = variants.iter().take(NEAR).position(|it| it.intent.fingerprint == print);
            let variant = near.or_else(|| far.get(&(group, print)).copied()).unwrap_or_else(|| {
                if variants.len() >= NEAR {
                    far.insert((group, print), variants.len());
                }
                variants.push(Variant { intent, attempts: &[] });
                variants.len() - 1
            });
            seats.push((group as u32, variant as u32));
        }
        self.names = Names::new(&self.history.intents, names, acting);
        seats
    }

    /// All attempts, variant by variant in the order of the groups, those of each by first byte. They
    /// stand in one row, which outlives the index and takes less memory than a row for each.
    pub fn lined_up(&self) -> Vec<&'a Attempt> {
        let Some(any) = self.history.attempts.first() else { return Vec::new() };
        let (bases, counts) = (self.bases(), self.count_attempts());
        let mut next = begins(&counts);
        let mut row = vec![any; self.history.attempts.len()];
        for attempt in &self.history.attempts {
            let (group, variant) = self.seats[attempt.intent.0 as usize];
            let place = &mut next[(bases[group as usize] + variant) as usize];
            row[*place as usize] = attempt;
            *place += 1;
        }
        for (count, begin) in counts.iter().zip(begins(&counts)) {
            let of_variant = &mut row[begin as usize..(begin + count) as usize];
            of_variant.sort_unstable_by_key(|attempt| by_time(attempt));
        }
        row
    }

    /// Gives every variant its part of the row.
    pub fn seat(&mut self, row: &'a [&'a Attempt]) {
        let counts = self.count_attempts();
        let mut rest = row;
        let mut counts = counts.iter();
        for group in &mut self.keys {
            for (variant, &count) in group.variants.iter_mut().zip(&mut counts) {
                (variant.attempts, rest) = rest.split_at(count as usize);
            }
            if group.variants.len() > 1 {
                let all = group.variants.iter().flat_map(|variant| variant.attempts);
                let mut all: Vec<&Attempt> = all.copied().collect();
                all.sort_unstable_by_key(|attempt| by_time(attempt));
                group.of_several = Some(all.into_boxed_slice());
            }
        }
        self.seat_orders();
    }

    /// Finds out who was first told of each order.
    fn seat_orders(&mut self) {
        for group in self.keys.iter().filter(|group| group.places()) {
            let mut last: Option<&Arc<str>> = None;
            let told = group.attempts().iter().copied();
            for attempt in told.filter(|attempt| attempt.outcome == Outcome::Acknowledged) {
                let Some(order) = &attempt.order else { continue };
                // Most keys are told of one order all the time, and its text is shared.
                if !last.replace(order).is_some_and(|last| Arc::ptr_eq(last, order)) {
                    let first = self.acknowledged.entry(same_id(order)).or_insert(attempt);
                    if by_time(attempt) < by_time(first) {
                        *first = attempt;
                    }
                }
            }
        }
    }

    /// The group that was first told of an order.
    pub fn told(&self, order: &str) -> Option<usize> {
        self.acknowledged.get(&same_id(order)).map(|attempt| self.seat_of(attempt).0)
    }

    /// Acknowledged orders, each with the group that was first told of it.
    pub fn told_orders(&self) -> impl Iterator<Item = (&str, usize)> {
        self.acknowledged.iter().map(|(id, attempt)| (&**id, self.seat_of(attempt).0))
    }

    /// How many attempts each variant has, group by group, so that no memory is left over.
    fn count_attempts(&self) -> Vec<u32> {
        let bases = self.bases();
        let mut counts = vec![0; bases.last().map_or(0, |&last| last as usize)];
        for attempt in &self.history.attempts {
            let (group, variant) = self.seats[attempt.intent.0 as usize];
            counts[(bases[group as usize] + variant) as usize] += 1;
        }
        counts
    }

    /// Where the variants of each group begin if all are put in one row; one more for the end.
    pub fn bases(&self) -> Vec<u32> {
        let mut end = 0;
        let begins = self.keys.iter().map(|group| {
            let begin = end;
            end += group.variants.len() as u32;
            begin
        });
        let mut bases: Vec<u32> = begins.collect();
        bases.push(end);
        bases
    }

    /// Groups that the contract protects: those with a good key.
    pub fn keyed(&self) -> impl Iterator<Item = (usize, &KeyGroup<'a>)> {
        self.keys.iter().enumerate().filter(|(_, group)| group.is_keyed)
    }

    /// Those of them that place orders.
    pub fn placing(&self) -> impl Iterator<Item = (usize, &KeyGroup<'a>)> {
        self.keyed().filter(|(_, group)| group.places())
    }

    /// Group and variant of an attempt.
    pub fn seat_of(&self, attempt: &Attempt) -> (usize, usize) {
        let (group, variant) = self.seats[attempt.intent.0 as usize];
        (group as usize, variant as usize)
    }

    /// The groups that place orders for a user.
    pub fn placed_by(&self, user: &str) -> impl Iterator<Item = usize> + use<'_, 'a> {
        let names = self.names.of_user(user).map_or(&[][..], |(_, names)| names);
        names.iter().map(|name| name.group as usize)
    }

    /// Whether a group has just this user and key.
    pub fn is_of(&self, group: usize, user: &str, key: &str) -> bool {
        let of = &self.keys[group];
        of.user == user && of.key == key
    }

    /// Whether a group was asked for by this user.
    pub fn is_user_of(&self, group: usize, user: &str) -> bool {
        let key = &self.keys[group];
        key.user == user || self.names.group(user, key.key) == Some(group)
    }

    /// `attempt 2`: its number among the attempts of its key.
    pub fn name_of(&self, attempt: &Attempt) -> String {
        let attempts = self.keys[self.seat_of(attempt).0].attempts();
        let before = attempts.partition_point(|other| by_time(other) < by_time(attempt));
        format!("attempt {}", before + 1)
    }

    /// Whether an instance ended during the attempt, or so short a time before that the target may
    /// still be recovering (rule S05). Where the end of an instance may be missing from the journal,
    /// any attempt may have met one.
    pub fn is_disturbed(&self, attempt: &Attempt) -> bool {
        if !self.is_whole {
            return true;
        }
        let begin = attempt.first_byte.unwrap_or_default();
        let end = attempt.completed.unwrap_or(RunTime(u64::MAX));
        self.exits.iter().any(|exit| exit.at <= end && begin <= exit.at.plus(self.recovery_limit))
    }
}

/// Where each of several neighbours begins.
fn begins(counts: &[u32]) -> Vec<u32> {
    let mut end = 0;
    let begins = counts.iter().map(|count| {
        let begin = end;
        end += count;
        begin
    });
    begins.collect()
}

/// The order in which attempts are seated.
fn by_time(attempt: &Attempt) -> (RunTime, crate::history::AttemptId) {
    (attempt.first_byte.unwrap_or(RunTime(u64::MAX)), attempt.id)
}

fn apart_of(intent: &Intent) -> Apart<'_> {
    (&intent.user, &intent.key, intent.entity.as_deref(), &intent.request, intent.key_form)
}

fn group_of(intent: &Intent, carries_key: bool) -> KeyGroup<'_> {
    KeyGroup {
        user: &intent.user,
        key: &intent.key,
        form: intent.key_form,
        entity: intent.entity.as_deref(),
        is_shared: false,
        is_keyed: intent.key_form.is_good() && !intent.key.is_empty() && carries_key,
        variants: Variants::of(Variant { intent, attempts: &[] }),
        of_several: None,
    }
}

/// Whether a request tells the target its key. One that places orders always counts as if it did:
/// what it places is then measured against a business key. One that acts on an order and sends no
/// key is promised nothing about its repetition.
fn carries(profile: &Profile, intent: &Intent) -> bool {
    let Some(request) = profile.requests.iter().find(|it| it.name == intent.request) else {
        return true;
    };
    let in_header = request.headers.iter().any(|(_, value)| value.has(Hole::Key));
    let in_body = request.body.as_ref().is_some_and(|body| body.has(Hole::Key))
        || matches!(profile.contract.key.carrier, KeyCarrier::Body(_));
    intent.entity.is_none() || in_header || in_body || request.path.has(Hole::Key)
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
