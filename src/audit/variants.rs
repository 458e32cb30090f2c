//! The meanings of a key: mostly one, which then needs no memory of its own.

use std::ops::{Deref, DerefMut};

use super::index::Variant;

/// At least one, in the order of the intents.
#[derive(Debug)]
pub(super) enum Variants<'a> {
    One([Variant<'a>; 1]),
    Many(Vec<Variant<'a>>),
}

impl<'a> Variants<'a> {
    pub const fn of(first: Variant<'a>) -> Self {
        Self::One([first])
    }

    pub fn push(&mut self, variant: Variant<'a>) {
        match self {
            Self::One([first]) => *self = Self::Many(vec![*first, variant]),
            Self::Many(all) => all.push(variant),
        }
    }
}

impl<'a> Deref for Variants<'a> {
    type Target = [Variant<'a>];

    fn deref(&self) -> &Self::Target {
        match self {
            Self::One(one) => one,
            Self::Many(all) => all,
        }
    }
}

impl DerefMut for Variants<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::One(one) => one,
            Self::Many(all) => all,
        }
    }
}

impl<'b, 'a> IntoIterator for &'b Variants<'a> {
    type Item = &'b Variant<'a>;
    type IntoIter = std::slice::Iter<'b, Variant<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
