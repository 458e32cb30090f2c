//! Which groups place orders for a user, a key string, or both.
//!
//! Sorted rows instead of maps: a large run has as many users and keys as orders, and a row that is
//! looked up by bisection takes a third of the memory.

use std::collections::BTreeSet;

/// A user, a key that it sent, and their group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name<'a> {
    pub user: &'a str,
    pub key: &'a str,
    pub group: u32,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    by_user: Vec<Name<'a>>,
    /// Each group once for each key string.
    by_key: Vec<(&'a str, u32)>,
    /// Users that act on orders and place none.
    acting: BTreeSet<&'a str>,
    /// Whether some user sent a key in several forms.
    has_twins: bool,
}

impl<'a> Names<'a> {
    pub fn new(mut names: Vec<Name<'a>>, acting: BTreeSet<&'a str>) -> Self {
        names.sort_unstable();
        names.dedup();
        let mut by_key: Vec<(&str, u32)> =
            names.iter().map(|name| (name.key, name.group)).collect();
        by_key.sort_unstable();
        by_key.dedup();
        let is_twin =
            |pair: &[Name<'_>]| (pair[0].user, pair[0].key) == (pair[1].user, pair[1].key);
        let has_twins = names.windows(2).any(is_twin);
        Self { by_user: names, by_key, acting, has_twins }
    }

    /// The group of a user and a key; the first one where a key was sent in several forms.
    pub fn group(&self, user: &str, key: &str) -> Option<usize> {
        let at = self.by_user.partition_point(|name| (name.user, name.key) < (user, key));
        let name = self.by_user.get(at).filter(|name| (name.user, name.key) == (user, key))?;
        Some(name.group as usize)
    }

    /// Whether every user and key has one group.
    pub const fn has_no_twins(&self) -> bool {
        !self.has_twins
    }

    /// A user of the run and what it placed; nothing for one who only acts on orders.
    pub fn of_user(&self, user: &str) -> Option<(&'a str, &[Name<'a>])> {
        let begin = self.by_user.partition_point(|name| name.user < user);
        let end = begin + self.by_user[begin..].partition_point(|name| name.user == user);
        match &self.by_user[begin..end] {
            [] => self.acting.get(user).map(|&user| (user, &[][..])),
            names => Some((names[0].user, names)),
        }
    }

    /// The groups of a key string, with the string.
    pub fn of_key(&self, key: &str) -> &[(&'a str, u32)] {
        let begin = self.by_key.partition_point(|(name, _)| *name < key);
        let end = begin + self.by_key[begin..].partition_point(|(name, _)| *name == key);
        &self.by_key[begin..end]
    }

    pub fn has_user(&self, user: &str) -> bool {
        self.of_user(user).is_some()
    }

    pub fn has_key(&self, key: &str) -> bool {
        !self.of_key(key).is_empty()
    }

    /// User by user.
    pub fn users(&self) -> impl Iterator<Item = &[Name<'a>]> {
        self.by_user.chunk_by(|one, other| one.user == other.user)
    }

    /// Key string by key string.
    pub fn keys(&self) -> impl Iterator<Item = &[(&'a str, u32)]> {
        self.by_key.chunk_by(|one, other| one.0 == other.0)
    }
}
