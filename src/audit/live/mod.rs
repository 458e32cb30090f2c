//! A live database judged by itself: what rows and schema show without any history.
//!
//! Far less than a drill can say. Nobody knows who was promised what, so only what contradicts itself
//! counts: two valid orders of one key, negative stock, an order without its movement, paid and
//! closed. One invariant, one file, as for runs.

mod i01;
mod i02;
mod i03;
mod i04;
mod i10;

use crate::codes::{G3, U01};
use crate::history::{Snapshot, Survey};
use crate::profile::{BusinessColumn, Profile};

use super::ruling::Ruling;
use super::words::plural;
use super::{Accounting, Judgement, l10_schema, summed_up, u01_own_checks};

/// Judges a live database.
pub fn judge_rows(profile: &Profile, survey: &Survey) -> Judgement {
    let rulings = [
        something_is_there(survey),
        i01::check(survey),
        i02::check(profile, survey),
        i03::check(survey),
        i04::check(profile, survey),
        i10::check(survey),
        own(profile, survey),
        schema(profile, survey),
    ];
    summed_up(rulings, Vec::new(), Accounting::default())
}

fn something_is_there(survey: &Survey) -> Ruling {
    match survey.orders {
        0 => Ruling::missed(
            &G3,
            "the table of orders is empty",
            "audit it after it has been used, or let `dupeproof run` use it",
        ),
        orders => Ruling::held(&G3, plural(orders, "order was read", "orders were read")),
    }
}

/// Without a baseline every row that a check returns counts.
fn own(profile: &Profile, survey: &Survey) -> Ruling {
    if profile.audit.sql.is_empty() {
        return Ruling::default();
    }
    if profile.audit.sql.len() != survey.custom.len() {
        return Ruling::not_judged(&U01, "the profile's own checks were not run");
    }
    let now = Snapshot { custom: survey.custom.clone(), ..Snapshot::default() };
    u01_own_checks::of(&profile.audit.sql, &Snapshot::default(), &now)
}

fn schema(profile: &Profile, survey: &Survey) -> Ruling {
    let orders = &profile.audit.orders;
    let column = |column: &BusinessColumn| match column {
        BusinessColumn::User => orders.user.as_deref(),
        BusinessColumn::Key => orders.key.as_deref(),
        BusinessColumn::Product => orders.product.as_deref(),
    };
    let columns: Option<Vec<&str>> = profile.contract.unique_by().iter().map(column).collect();
    let seen = Snapshot { constraints: survey.constraints.clone(), ..Snapshot::default() };
    l10_schema::of(profile, &seen, &columns.unwrap_or_default())
}
