//! Which groups place orders for a user, a key string, or both.
//!
//! Sorted places of intents instead of maps of texts: a large run has as many users and keys as orders,
//! and a name that is looked up by bisection takes a tenth of the memory.

use std::collections::BTreeSet;

use crate::history::Intent;

/// A user and a key that it sent, as the place of an intent that has both, and their group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub intent: u32,
    pub group: u32,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    intents: &'a [Intent],
    by_user: Vec<Name>,
    /// Each group once for each key string.
    by_key: Vec<Name>,
    /// Users that act on orders and place none.
    acting: BTreeSet<&'a str>,
    /// Whether some user sent a key in several forms.
    has_twins: bool,
}

impl<'a> Names<'a> {
    pub fn new(intents: &'a [Intent], mut by_user: Vec<Name>, acting: BTreeSet<&'a str>) -> Self {
        let user = |name: &Name| intents[name.intent as usize].user.as_str();
        let key = |name: &Name| intents[name.intent as usize].key.as_str();
        by_user.sort_unstable_by_key(|name| (user(name), key(name), name.group, name.intent));
        by_user.dedup_by_key(|name| (user(name), key(name), name.group));
        let mut by_key = by_user.clone();
        by_key.sort_unstable_by_key(|name| (key(name), name.group, name.intent));
        by_key.dedup_by_key(|name| (key(name), name.group));
        let is_twin = |pair: &[Name]| {
            let [one, other] = [&pair[0], &pair[1]];
            (user(one), key(one)) == (user(other), key(other))
        };
        let has_twins = by_user.windows(2).any(is_twin);
        Self { intents, by_user, by_key, acting, has_twins }
    }

    fn user(&self, name: &Name) -> &'a str {
        &self.intents[name.intent as usize].user
    }

    fn key(&self, name: &Name) -> &'a str {
        &self.intents[name.intent as usize].key
    }

    /// The group of a user and a key; the first one where a key was sent in several forms.
    pub fn group(&self, user: &str, key: &str) -> Option<usize> {
        let both = |name: &Name| (self.user(name), self.key(name));
        let at = self.by_user.partition_point(|name| both(name) < (user, key));
        let name = self.by_user.get(at).filter(|name| both(name) == (user, key))?;
        Some(name.group as usize)
    }

    /// Whether every user and key has one group.
    pub const fn has_no_twins(&self) -> bool {
        !self.has_twins
    }

    /// A user of the run and what it placed; nothing for one who only acts on orders.
    pub fn of_user(&self, user: &str) -> Option<(&'a str, &[Name])> {
        let begin = self.by_user.partition_point(|name| self.user(name) < user);
        let end = begin + self.by_user[begin..].partition_point(|name| self.user(name) == user);
        match &self.by_user[begin..end] {
            [] => self.acting.get(user).map(|&user| (user, &[][..])),
            names => Some((self.user(&names[0]), names)),
        }
    }

    /// The names of a key string.
    pub fn of_key(&self, key: &str) -> &[Name] {
        let begin = self.by_key.partition_point(|name| self.key(name) < key);
        let end = begin + self.by_key[begin..].partition_point(|name| self.key(name) == key);
        &self.by_key[begin..end]
    }

    pub fn has_user(&self, user: &str) -> bool {
        self.of_user(user).is_some()
    }

    pub fn has_key(&self, key: &str) -> bool {
        !self.of_key(key).is_empty()
    }

    /// User by user.
    pub fn users(&self) -> impl Iterator<Item = &[Name]> {
        self.by_user.chunk_by(|one, other| self.user(one) == self.user(other))
    }

    /// Key string by key string.
    pub fn keys(&self) -> impl Iterator<Item = &[Name]> {
        self.by_key.chunk_by(|one, other| self.key(one) == self.key(other))
    }
}
