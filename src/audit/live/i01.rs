//! I01 over the whole stock table.

use crate::codes::{I01, Severity};
use crate::history::Survey;

use super::super::ruling::Ruling;
use super::super::words::{plural, thousands};
use super::super::{Evidence, Finding, Witness};

pub(super) fn check(survey: &Survey) -> Ruling {
    let Some(below) = &survey.below_zero else {
        return Ruling::not_judged(&I01, "no stock table in the profile");
    };
    let detail = format!("{} below zero", plural(below.total, "product", "products"));
    let Some(lowest) = below.shown.first() else { return Ruling::held(&I01, detail) };
    let mut evidence = Evidence::of(&["product", "available"]);
    for one in &below.shown {
        evidence.rows.push(vec![one.product.clone(), thousands(one.available)]);
    }
    let finding = Finding {
        code: &I01,
        severity: Severity::Critical,
        title: format!(
            "{} below zero, the lowest at {}",
            plural(below.total, "product is", "products are"),
            thousands(lowest.available)
        ),
        count: below.total,
        evidence,
        witness: Witness {
            heading: format!("what product {} has", lowest.product),
            product: lowest.product.parse().ok(),
            ..Witness::default()
        },
        therefore: vec![format!(
            "more than there was has left the stock of product {}, because it has {} available",
            lowest.product,
            thousands(lowest.available)
        )],
        help: "decrement with `... WHERE available >= n`, act on a row count of 0, and add CHECK \
               (available >= 0)."
            .to_owned(),
    };
    Ruling::of(&I01, detail, vec![finding])
}
