//! Whose order is it? The rows of a snapshot, laid beside the keys of the run.
//!
//! Rows that stood there at the baseline don't count. Users and keys are matched as exact strings,
//! never by prefix. A row of somebody else's user and key that merely names a product of ours is
//! foreign: it counts in the stock, and nobody is blamed for it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::history::{OrderRow, Snapshot};

use super::Case;
use super::columns::Columns;
use super::index::{Index, same_id};

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
    pub of_key: Vec<Vec<usize>>,
    by_id: HashMap<Cow<'a, str>, &'a OrderRow>,
}

impl<'a> Rows<'a> {
    pub fn new(
        case: &Case<'a>,
        index: &Index<'a>,
        columns: &Columns<'a>,
        snapshot: &'a Snapshot,
    ) -> Self {
        let old: HashSet<&str> = case.baseline.orders.iter().map(|row| row.id.as_str()).collect();
        let sold = &case.profile.audit.orders.sold;
        let is_valid = |row: &OrderRow| {
            sold.is_empty() || row.status.as_ref().is_some_and(|status| sold.contains(status))
        };
        let mut of_key = vec![Vec::new(); index.keys.len()];
        let mut fresh = Vec::with_capacity(snapshot.orders.len());
        for row in snapshot.orders.iter().filter(|row| !old.contains(row.id.as_str())) {
            let place = place(row, index, columns);
            if let Place::Key(group) = place {
                of_key[group].push(fresh.len());
            }
            fresh.push(Placed { row, place, valid: is_valid(row) });
        }
        let by_id = snapshot.orders.iter().map(|row| (same_id(&row.id), row)).collect();
        Self { snapshot, fresh, of_key, by_id }
    }

    /// The row with this id, whether it is of the run or not.
    pub fn by_id(&self, id: &str) -> Option<&'a OrderRow> {
        self.by_id.get(&same_id(id)).copied()
    }

    /// Valid rows of a key group.
    pub fn valid_of(&self, group: usize) -> impl Iterator<Item = &'a OrderRow> {
        self.of_key[group].iter().map(|&at| &self.fresh[at]).filter(|at| at.valid).map(|at| at.row)
    }
}

/// A text that says something.
pub(super) fn given(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.trim().is_empty())
}

fn place<'a>(row: &OrderRow, index: &Index<'a>, columns: &Columns<'_>) -> Place<'a> {
    let user = given(&row.user).filter(|_| columns.user.is_some());
    let key = given(&row.key).filter(|_| columns.key.is_some());
    let of_user = user.and_then(|user| index.users.get_key_value(user));
    let of_key = key.and_then(|key| index.key_strings.get(key));
    let by_columns = match (columns.user.is_some(), columns.key.is_some()) {
        (true, true) => by_user_and_key(index, of_user, key, of_key),
        (true, false) => of_user.and_then(|(_, groups)| only(groups)).map(Place::Key),
        (false, true) => of_key.and_then(|groups| only(groups)).map(Place::Key),
        (false, false) => None,
    };
    let by_answer = || index.acknowledged.get(&same_id(&row.id)).map(|&group| Place::Key(group));
    let nameless =
        user.is_none() && key.is_none() && (columns.user.is_some() || columns.key.is_some());
    let product = row.product.as_deref().filter(|_| columns.product.is_some());
    let is_ours =
        product.and_then(|id| id.parse().ok()).is_some_and(|id: i64| index.products.contains(&id));
    by_columns.or_else(by_answer).unwrap_or(if nameless && is_ours {
        Place::Stray("it names a product of the run, and neither a user nor a key")
    } else {
        Place::Foreign
    })
}

fn by_user_and_key<'a>(
    index: &Index<'a>,
    of_user: Option<(&&'a str, &Vec<usize>)>,
    key: Option<&str>,
    of_key: Option<&Vec<usize>>,
) -> Option<Place<'a>> {
    match (of_user, key) {
        (Some((user, _)), Some(key)) => {
            Some(
                index.by_name.get(&(*user, key)).map_or(
                    Place::Stray("its user is of the run, and never sent its key"),
                    |&group| Place::Key(group),
                ),
            )
        }
        (Some((user, _)), None) => Some(Place::Keyless(user)),
        (None, _) => {
            of_key.map(|_| Place::Stray("its key is of the run, and its user never sent it"))
        }
    }
}

fn only(groups: &[usize]) -> Option<usize> {
    match groups {
        [group] => Some(*group),
        _ => None,
    }
}
