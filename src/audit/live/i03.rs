//! I03 where the movements are a ledger: stock is the sum of all that was ever moved.
//!
//! A ledger that began later than the stock adds up for no product. Unless it does for at least half of
//! them it isn't taken for one.

use crate::codes::{I03B, Severity};
use crate::history::Survey;

use super::super::ruling::Ruling;
use super::super::words::{after_share, plural, share, thousands, verb};
use super::super::{Evidence, Finding, Witness};

pub(super) fn check(survey: &Survey) -> Ruling {
    let Some(sums) = &survey.ledger else {
        return Ruling::not_judged(&I03B, "no ledger of stock movements in the profile");
    };
    let (count, of) = (sums.differ.total, sums.differ.total + sums.agree);
    let detail = format!(
        "{} {} from the sum of {} movements",
        share(count, of, "product", "products"),
        after_share(count, of, "differs", "differ"),
        after_share(count, of, "its", "their")
    );
    let Some(first) = sums.differ.shown.first() else { return Ruling::held(&I03B, detail) };
    if sums.agree < sums.differ.total {
        return Ruling::not_judged(&I03B, "the movements are no ledger from the beginning");
    }
    let mut evidence = Evidence::of(&["product", "available", "sum of movements", "difference"]);
    for line in &sums.differ.shown {
        evidence.rows.push(vec![
            line.product.clone(),
            thousands(line.available),
            thousands(line.moved),
            thousands(i128::from(line.available) - i128::from(line.moved)),
        ]);
    }
    let total = sums.differ.total;
    let finding = Finding {
        code: &I03B,
        severity: Severity::Critical,
        title: format!("stock and ledger of {} disagree", plural(total, "product", "products")),
        count: total,
        evidence,
        witness: Witness {
            heading: format!("what the ledger says of product {}", first.product),
            product: first.product.parse().ok(),
            ..Witness::default()
        },
        therefore: vec![format!(
            "one of stock and ledger was changed without the other, because product {} has {} and its \
             movements add up to {}, while {} {}",
            first.product,
            thousands(first.available),
            thousands(first.moved),
            plural(sums.agree, "product", "products"),
            verb(sums.agree, "agrees with its own", "agree with theirs")
        )],
        help: "write the movement in the transaction that changes the stock.".to_owned(),
    };
    Ruling::of(&I03B, detail, vec![finding])
}
