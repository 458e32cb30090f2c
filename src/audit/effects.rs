//! Orders that only rejected requests can have placed.
//!
//! A rejection must have had no effect. A row is held against one only if no attempt that may have had
//! an effect (acknowledged, pending, parked, unknown) asked for what it holds; where product and
//! quantity aren't mapped, every such attempt of the key may have. I08b and I18 share this and differ
//! in who rejected.

use crate::history::{Attempt, OrderRow, Outcome};

use super::bench::Bench;
use super::index::{KeyGroup, Variant};
use super::rows::Place;

/// A valid order, and the rejected attempt that it is the effect of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effect<'a> {
    pub row: &'a OrderRow,
    pub user: &'a str,
    pub key: &'a str,
    pub rejected: &'a Attempt,
    /// Whether the business rejected it; otherwise its key or its parameters were rejected.
    pub by_business: bool,
}

/// All of them, in the order of the rows.
pub(super) fn of_rejected<'a>(bench: &Bench<'a>) -> Vec<Effect<'a>> {
    // What wasn't recorded may have been let in.
    let Some(rows) = bench.rows.as_ref().filter(|_| bench.knows_every_attempt()) else {
        return Vec::new();
    };
    let mut effects = Vec::new();
    for placed in rows.fresh.iter().filter(|placed| placed.valid) {
        match placed.place {
            Place::Key(group) => effects.extend(effect(bench, &[group], placed.row)),
            Place::Keyless(user) if !bench.index.users_are_a_pool => {
                let groups: Vec<usize> = bench.index.placed_by(user).collect();
                effects.extend(effect(bench, &groups, placed.row));
            }
            Place::Keyless(_) | Place::Stray(_) | Place::Foreign => {}
        }
    }
    effects
}

fn effect<'a>(bench: &Bench<'a>, groups: &[usize], row: &'a OrderRow) -> Option<Effect<'a>> {
    let groups = || groups.iter().map(|&group| &bench.index.keys[group]);
    let asked = |variant: &&Variant<'_>| bench.asked_for(variant.intent, row);
    let excused =
        |key: &KeyGroup<'_>| key.variants.iter().filter(asked).any(Variant::may_have_acted);
    if groups().any(excused) {
        return None;
    }
    let mut guilty = groups().flat_map(|key| key.variants.iter().map(move |it| (key, it)));
    let (key, variant) = guilty.find(|(_, it)| it.was_sent() && asked(it))?;
    let refused = || variant.attempts.iter().filter(|it| it.outcome == Outcome::Refused);
    let by_business = refused().find(|it| it.refusal.as_deref() == Some("business"));
    let rejected = by_business.or(refused().next())?;
    let by_business = by_business.is_some();
    Some(Effect { row, user: &variant.intent.user, key: key.key, rejected, by_business })
}
