//! I04 over all orders and movements. Movements that name an order nobody has (any more), and orders
//! from before the movements were kept, can't be told from a defect without a run; so a table that is
//! mostly apart is a doubt.

use crate::codes::{I04, Severity};
use crate::history::Survey;
use crate::profile::Profile;

use super::super::ruling::Ruling;
use super::super::words::{after_share, share, thousands, times};
use super::super::{Evidence, Finding, Witness};

pub(super) fn check(profile: &Profile, survey: &Survey) -> Ruling {
    let Some(apart) = &survey.apart else {
        return Ruling::not_judged(&I04, "no table of stock movements in the profile");
    };
    let (count, of) = (apart.total, survey.orders);
    let detail = format!(
        "{} {} apart from {} movements",
        share(count, of, "order", "orders"),
        after_share(count, of, "is", "are"),
        after_share(count, of, "its", "their")
    );
    let Some(first) = apart.shown.iter().find(|it| it.has_order).or(apart.shown.first()) else {
        return Ruling::held(&I04, detail);
    };
    let unsure =
        if profile.contract.settles_within.is_some() && profile.audit.orders.created.is_none() {
            Some("a saga may still be at work, and no column tells how old an order is")
        } else if apart.total.saturating_mul(2) > survey.orders {
            Some("this is so for most orders, so the movements may have been kept for some only")
        } else {
            None
        };
    if let Some(why) = unsure {
        return Ruling::not_judged(&I04, detail.clone()).doubting(
            &I04,
            format!("{detail}, but {why}"),
            "compare a few of them by hand; a drill knows what was there before",
        );
    }
    let mut evidence = Evidence::of(&["order", "product", "due", "moved", "order exists"]);
    for it in &apart.shown {
        evidence.rows.push(vec![
            it.order.clone(),
            it.product.clone(),
            thousands(it.due),
            thousands(it.moved),
            if it.has_order { "yes" } else { "no" }.to_owned(),
        ]);
    }
    let finding = Finding {
        code: &I04,
        severity: Severity::Critical,
        title: format!("an order and its stock movement don't match{}", times(apart.total)),
        count: apart.total,
        evidence,
        witness: Witness {
            heading: format!("what was moved for order {}", first.order),
            orders: vec![first.order.clone()],
            product: first.product.parse().ok(),
            ..Witness::default()
        },
        therefore: vec![format!(
            "stock and order weren't changed together, because order {} calls for a movement of {} of \
             product {}, and {} {} moved for it",
            first.order,
            thousands(first.due),
            first.product,
            thousands(first.moved),
            if first.moved == 1 { "was" } else { "were" }
        )],
        help:
            "change stock, movement and order in one transaction; correct the listed ones by hand."
                .to_owned(),
    };
    Ruling::of(&I04, detail, vec![finding])
}
