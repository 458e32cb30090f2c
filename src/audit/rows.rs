//! Whose order is it? The rows of a snapshot, laid beside the keys of the run.
//!
//! Rows that stood there at the baseline don't count. Users and keys are matched as exact strings,
//! never by prefix. A row of somebody else's user and key that merely names a product of ours is
//! foreign: it counts in the stock, and nobody is blamed for it. Users of a pool lived before the run
//! and may be somebody else's too: their rows are ours by key, by acknowledged id, or where the user
//! had no order at the baseline (rule S09).

use std::sync::Arc;

use std::borrow::Cow;
use std::cell::OnceCell;

use foldhash::{HashMap, HashSet, HashSetExt};

use crate::history::{OrderRow, Snapshot};

use super::Case;
use super::columns::Columns;
use super::index::{Few, Index, same_id};
use super::names::Name;

/// Where a row belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place<'a> {
    /// To a key of the run.
    Key(usize),
    /// To a user of the run, with an empty key or none.
    Keyless(&'a str),
    /// To the run, but to no key of it; why it counts as ours.
    Stray(&'static str),
    Foreign,
}

/// Of a row that stood there at the baseline.
const OLD: u32 = u32::MAX;

/// A row since the baseline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'a> {
    pub row: &'a OrderRow,
    pub place: Place<'a>,
    /// Whether its state holds stock and counts as an order.
    pub valid: bool,
}

#[derive(Debug)]
pub(super) struct Rows<'a> {
    pub snapshot: &'a Snapshot,
    /// In the snapshot's order.
    pub fresh: Vec<Placed<'a>>,
    /// Rows of each key group, as indices into `fresh`.
    of_key: Vec<Few>,
    /// By id, the place in the snapshot; made when it is first asked for, which a clean run never does.
    by_id: OnceCell<HashMap<Cow<'a, str>, u32>>,
    /// By place in the snapshot, the place in `fresh`; `OLD` for what stood there at the baseline.
    fresh_at: Vec<u32>,
}

impl<'a> Rows<'a> {
    pub fn new(
        case: &Case<'a>,
        index: &Index<'a>,
        columns: &Columns<'a>,
        snapshot: &'a Snapshot,
    ) -> Self {
        let old: HashSet<&str> = case.baseline.orders.iter().map(|row| &*row.id).collect();
        let sold = &case.profile.audit.orders.sold;
        let is_valid = |row: &OrderRow| {
            sold.is_empty()
                || row.status.as_deref().is_some_and(|status| sold.iter().any(|it| it == status))
        };
        let mut of_key = vec![Few::None; index.keys.len()];
        let busy: HashSet<&str> = if index.users_are_a_pool {
            case.baseline.orders.iter().filter_map(|row| given(&row.user)).collect()
        } else {
            HashSet::new()
        };
        let mut fresh = Vec::with_capacity(snapshot.orders.len());
        let mut fresh_at = Vec::with_capacity(snapshot.orders.len());
        for row in &snapshot.orders {
            let is_old = old.contains(&*row.id);
            fresh_at.push(if is_old { OLD } else { fresh.len() as u32 });
            if is_old {
                continue;
            }
            let place = place(row, index, columns, &busy);
            if let Place::Key(group) = place {
                of_key[group].push(fresh.len());
            }
            fresh.push(Placed { row, place, valid: is_valid(row) });
        }
        Self { snapshot, fresh, of_key, by_id: OnceCell::new(), fresh_at }
    }

    fn at(&self, id: &str) -> Option<usize> {
        let rows = || self.snapshot.orders.iter().zip(0..);
        let by_id =
            self.by_id.get_or_init(|| rows().map(|(row, at)| (same_id(&row.id), at)).collect());
        by_id.get(&same_id(id)).map(|&at| at as usize)
    }

    /// The row with this id, whether it is of the run or not.
    pub fn by_id(&self, id: &str) -> Option<&'a OrderRow> {
        self.at(id).map(|at| &self.snapshot.orders[at])
    }

    /// The row since the baseline with this id, and where it belongs.
    pub fn placed(&self, id: &str) -> Option<&Placed<'a>> {
        let at = self.fresh_at[self.at(id)?];
        self.fresh.get(at as usize)
    }

    /// Valid rows of a key group.
    pub fn valid_of(&self, group: usize) -> impl Iterator<Item = &'a OrderRow> {
        self.of(group).filter(|at| at.valid).map(|at| at.row)
    }

    /// The row with this id, if it is the first of a key group: as a rule it is, and then it takes no
    /// search.
    pub fn first_of(&self, group: usize, id: &str) -> Option<&'a OrderRow> {
        let first = self.of(group).next()?.row;
        (same_id(&first.id) == same_id(id)).then_some(first)
    }

    /// Rows of a key group.
    pub fn of(&self, group: usize) -> impl Iterator<Item = &Placed<'a>> {
        self.of_key[group].as_slice().iter().map(|&at| &self.fresh[at])
    }
}

/// A text that says something.
pub(super) fn given(text: &Option<Arc<str>>) -> Option<&str> {
    text.as_deref().filter(|text| !text.trim().is_empty())
}

fn place<'a>(
    row: &OrderRow,
    index: &Index<'a>,
    columns: &Columns<'_>,
    busy: &HashSet<&str>,
) -> Place<'a> {
    let user = given(&row.user).filter(|_| columns.user.is_some());
    let key = given(&row.key).filter(|_| columns.key.is_some());
    let told = index.told(&row.id);
    if let Some((user, key)) = user.zip(key) {
        // Mostly the row is of the very key that was told of it, and needs no search.
        let is_its_own =
            |group: &usize| index.names.has_no_twins() && index.is_of(*group, user, key);
        let own = told.filter(is_its_own).or_else(|| index.names.group(user, key));
        if let Some(group) = own {
            return Place::Key(group);
        }
    }
    let of_user = user.and_then(|user| index.names.of_user(user));
    let of_key = key.map_or(&[][..], |key| index.names.of_key(key));
    let by_answer = told.map(Place::Key);
    if user.is_some_and(|user| busy.contains(user)) {
        return by_answer.unwrap_or(Place::Foreign);
    }
    let by_columns = match (columns.user.is_some(), columns.key.is_some()) {
        (true, true) => by_user_and_key(index, of_user, key, of_key),
        (true, false) => match of_user {
            Some((_, [name])) => Some(Place::Key(name.group as usize)),
            _ => None,
        },
        (false, true) => match of_key {
            [name] => Some(Place::Key(name.group as usize)),
            _ => None,
        },
        (false, false) => None,
    };
    let nameless =
        user.is_none() && key.is_none() && (columns.user.is_some() || columns.key.is_some());
    let product = row.product.as_deref().filter(|_| columns.product.is_some());
    let is_ours = !index.products_are_a_pool
        && product
            .and_then(|id| id.parse().ok())
            .is_some_and(|id: i64| index.products.contains(&id));
    by_columns.or(by_answer).unwrap_or(if nameless && is_ours {
        Place::Stray("it names a product of the run, and neither a user nor a key")
    } else if is_ours && columns.is_private {
        Place::Stray("it names a product of the run, in a database that nobody else uses")
    } else {
        Place::Foreign
    })
}

fn by_user_and_key<'a>(
    index: &Index<'a>,
    of_user: Option<(&'a str, &[Name])>,
    key: Option<&str>,
    of_key: &[Name],
) -> Option<Place<'a>> {
    match (of_user, key) {
        (Some((user, names)), Some(_)) => Some(unnamed(index, user, names)),
        (Some((user, _)), None) => Some(Place::Keyless(user)),
        (None, _) => {
            let is_ours = !of_key.is_empty();
            is_ours.then_some(Place::Stray("its key is of the run, and its user never sent it"))
        }
    }
}

/// A row of our user under a key that it never sent. Of a malformed key anything may have been kept.
fn unnamed<'a>(index: &Index<'a>, user: &'a str, names: &[Name]) -> Place<'a> {
    let is_bad = |name: &Name| !index.keys[name.group as usize].form.is_good();
    match names {
        [] => Place::Foreign,
        [name] if is_bad(name) => Place::Key(name.group as usize),
        names if names.iter().any(is_bad) => Place::Keyless(user),
        _ => Place::Stray("its user is of the run, and never sent its key"),
    }
}
