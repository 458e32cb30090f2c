//! To which other key does an acknowledged order belong?
//!
//! An order that one key was told of may be another key's: by its row, or because the other one was
//! told of it first. That is I09's matter between users and I16's between keys of one user; I05 leaves
//! such an order to them.

use crate::history::Attempt;

use super::bench::Bench;
use super::index::Variant;
use super::rows::Place;

/// An acknowledgement that names an order of another key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Borrowed<'a> {
    pub told: &'a Attempt,
    pub group: usize,
    pub owner: usize,
}

/// The group, other than `group`, that an acknowledged order belongs to.
pub(super) fn other_owner(bench: &Bench<'_>, order: &str, group: usize) -> Option<usize> {
    let rows = bench.rows.as_ref();
    if rows.is_some_and(|rows| rows.first_of(group, order).is_some()) {
        return None;
    }
    let place = rows.and_then(|rows| rows.placed(order));
    if let Some(placed) = place
        && let Place::Key(owner) = placed.place
    {
        let mut variants = bench.index.keys[owner].variants.iter();
        let has_asked = variants.any(|it| it.was_sent() && bench.asked_for(it.intent, placed.row));
        return (owner != group && has_asked).then_some(owner);
    }
    bench.index.told(order).filter(|&owner| owner != group)
}

/// The first such acknowledgement of each placing group.
pub(super) fn borrowed<'a>(bench: &Bench<'a>) -> Vec<Borrowed<'a>> {
    let mut found = Vec::new();
    for (group, key) in bench.index.placing() {
        let mut last = None;
        let told = key.variants.iter().flat_map(Variant::acknowledged).find_map(|told| {
            let order = told.order.as_deref()?;
            if last.replace(order) == Some(order) {
                return None; // Most keys are told of one order all the time.
            }
            let owner = other_owner(bench, order, group)?;
            Some(Borrowed { told, group, owner })
        });
        found.extend(told);
    }
    found
}
