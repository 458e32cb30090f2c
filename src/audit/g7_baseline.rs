//! G7: the state before the load is known, and the schema was looked at.
//!
//! The detail lists what the schema itself forbids, because it decides how a clean result reads:
//! held by the service, or held by the last unique index.

use std::collections::HashSet;

use crate::codes::G7;
use crate::history::{Cause, Constraint, ConstraintKind, IntentId, RunTime};
use crate::profile::Burst;

use super::bench::Bench;
use super::rows::given;
use super::ruling::Ruling;
use super::schema::bare;
use super::words::{list, plural, thousands};

const CURE: &str = "finish the setup before the baseline is read, and check the names in `[audit]`";

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let troubles = troubles(bench);
    let mut ruling = if troubles.is_empty() {
        Ruling::held(&G7, forbids(&bench.case.baseline.constraints))
    } else {
        Ruling::missed(&G7, list(&troubles, 3), CURE)
    };
    ruling.doubts.extend(bench.columns.doubts.iter().cloned());
    ruling
}

/// A last unit that isn't the last one: with plenty on the shelf nobody is turned away, and nothing is
/// proved.
fn wrong_shelf(bench: &Bench<'_>) -> Option<String> {
    let (profile, baseline) = (bench.case.profile, bench.case.baseline);
    profile.audit.stock.as_ref()?;
    // What a probe buys is another product.
    let attempts = bench.case.history.attempts.iter();
    let probes = attempts.filter(|it| it.cause == Cause::Probe).map(|it| it.intent);
    let probes: HashSet<IntentId> = probes.collect();
    for (phase, place) in profile.phases.iter().zip(0..) {
        let Burst::LastUnit(burst) = &phase.burst else { continue };
        let intents = bench.case.history.intents.iter();
        let of_phase = intents.filter(|it| it.phase.0 == place && !probes.contains(&it.id));
        let mut products = of_phase.map(|it| it.product);
        let wrong = products.find_map(|product| {
            let available = baseline.stock.get(product.to_string().as_str())?.available;
            (available != i64::from(burst.stock)).then_some((product, available))
        });
        if let Some((product, available)) = wrong {
            return Some(format!(
                "phase `{}` wants {} of product {product} at the baseline, and there {} {}: fill the \
                 shelves by `unnest({{products}}, {{stocks}})` in `[setup]`",
                phase.name,
                plural(burst.stock, "unit", "units"),
                if available == 1 { "is" } else { "are" },
                thousands(available)
            ));
        }
    }
    None
}

fn troubles(bench: &Bench<'_>) -> Vec<String> {
    let baseline = bench.case.baseline;
    let mut troubles = Vec::new();
    let attempts = &bench.case.history.attempts;
    let first = attempts.iter().filter_map(|attempt| attempt.first_byte).min();
    if baseline.taken > first.unwrap_or(RunTime(u64::MAX)) {
        troubles.push("the baseline was read after the first request had left".to_owned());
    }
    if bench.case.profile.audit.stock.is_some() {
        let products = &bench.index.products;
        let unknown =
            products.iter().filter(|id| !baseline.stock.contains_key(&id.to_string())).count();
        if unknown > 0 {
            troubles.push(format!(
                "{} of {} had no stock at the baseline",
                unknown,
                plural(products.len() as u64, "product", "products")
            ));
        }
    }
    troubles.extend(wrong_shelf(bench));
    let sold = &bench.case.profile.audit.orders.sold;
    let sums = &bench.accounting;
    // Where requests act on orders, all of them may have been closed.
    let acts = bench.case.history.intents.iter().any(|intent| intent.entity.is_some());
    if !sold.is_empty()
        && !acts
        && sums.acknowledged > 0
        && sums.orders > 0
        && sums.intents_with_none == sums.intents
    {
        troubles.push(format!(
            "orders were acknowledged and {} stood there at the end, but none in a state that \
             `sold` names",
            plural(sums.orders, "order", "orders")
        ));
    }
    let used = baseline.orders.iter().filter(|row| {
        let user = !bench.index.users_are_a_pool
            && given(&row.user).is_some_and(|user| bench.index.names.has_user(user));
        let key = given(&row.key).is_some_and(|key| bench.index.names.has_key(key));
        user || key
    });
    match used.count() as u64 {
        0 => {}
        count => troubles.push(format!(
            "{} of the run's users or keys stood there before the load",
            plural(count, "order", "orders")
        )),
    }
    troubles
}

fn forbids(constraints: &[Constraint]) -> String {
    let of = |kind| constraints.iter().filter(move |constraint| constraint.kind == kind);
    let unique: Vec<String> = of(ConstraintKind::Unique)
        .map(|constraint| {
            let partial = if constraint.partial { ", partial" } else { "" };
            format!("{} ({}{partial})", bare(&constraint.table), constraint.columns.join(", "))
        })
        .collect();
    let checks: Vec<&str> =
        of(ConstraintKind::Check).map(|constraint| constraint.name.as_str()).collect();
    let named = |kind: &str, names: String| match names.as_str() {
        "" => format!("{kind}: none"),
        _ => format!("{kind}: {names}"),
    };
    format!("{}; {}", named("unique", list(&unique, 4)), named("checks", list(&checks, 4)))
}
