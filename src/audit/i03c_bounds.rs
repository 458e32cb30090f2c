//! I03c: what was sold lies between what was acknowledged and what was asked for.
//!
//! Each key counts once: at least with the smallest quantity among its meanings that may have won, at
//! most with the largest; requests without a good key count once for each attempt. Where the orders
//! give product and quantity, an order too few or too many is named by I02, I03, I05, I13 or I18, so
//! the sum is only shown; where they don't, the stock is all there is, and the sum is the finding.

use std::collections::BTreeMap;

use crate::codes::{I03C, Severity};
use crate::history::Outcome;

use super::bench::Bench;
use super::index::{KeyGroup, Variant, may_have_acted};
use super::rows::Place;
use super::ruling::Ruling;
use super::subject::Subject;
use super::words::{after_share, plural, share, thousands, verb};
use super::{Evidence, Finding, Witness};

#[derive(Clone, Copy, Debug, Default)]
struct Bounds {
    least: i128,
    most: i128,
}

struct Sums {
    product: i64,
    bounds: Bounds,
    sold: i128,
}

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    if bench.case.profile.audit.stock.is_none() {
        return Ruling::not_judged(&I03C, "no stock table in the profile");
    }
    let Some(rows) = &bench.rows else {
        return Ruling::not_judged(&I03C, "no rows were read after the load");
    };
    if !(bench.columns.said.product && bench.columns.said.quantity) {
        return Ruling::not_judged(&I03C, "the requests don't say product and quantity");
    }
    if !bench.knows_every_attempt() {
        return Ruling::not_known(&I03C);
    }
    let bounds = bounds(bench);
    let sums: Vec<Sums> = bounds
        .into_iter()
        .filter_map(|(product, bounds)| {
            let name = product.to_string();
            let initial = bench.case.baseline.stock.get(name.as_str())?.available;
            let available = rows.snapshot.stock.get(name.as_str())?.available;
            let sold = i128::from(initial) - i128::from(available);
            Some(Sums { product, bounds, sold })
        })
        .collect();
    let of = sums.len() as u64;
    let is_outside = |sums: &Sums| !(sums.bounds.least..=sums.bounds.most).contains(&sums.sold);
    let wrong: Vec<Sums> = sums.into_iter().filter(is_outside).collect();
    let count = wrong.len() as u64;
    let products = share(count, of, "product", "products");
    let detail = format!("{products} {}", after_share(count, of, "doesn't fit", "don't fit"));
    let is_explained = bench.columns.product.is_some() && bench.columns.quantity.is_some();
    if is_explained && count > 0 {
        return Ruling::not_judged(&I03C, "I02, I05, I13 and I18 look at the very orders");
    }
    let unsure = why_unsure(bench);
    match unsure.filter(|_| count > 0) {
        None => Ruling::of(&I03C, detail, finding(&wrong).into_iter().collect()),
        Some(why) => Ruling::not_judged(&I03C, detail).doubting(
            &I03C,
            format!("what was sold isn't what was asked for, but {why}"),
            "audit again when the database is at rest and nobody else moves this stock",
        ),
    }
}

fn why_unsure(bench: &Bench<'_>) -> Option<&'static str> {
    let rows = bench.rows.as_ref()?;
    if let Some(why) = bench.unrest() {
        return Some(why);
    }
    if bench.index.products_are_a_pool {
        return Some("the products existed before the run, and others may buy them");
    }
    let is_foreign = rows.fresh.iter().any(|placed| placed.place == Place::Foreign);
    is_foreign.then_some("somebody else placed orders too")
}

fn bounds(bench: &Bench<'_>) -> BTreeMap<i64, Bounds> {
    let mut bounds: BTreeMap<i64, Bounds> = BTreeMap::new();
    let unique_by = bench.contract().unique_by();
    let mut least: BTreeMap<(Subject<'_>, i64), i128> = BTreeMap::new();
    for key in bench.index.keys.iter().filter(|key| key.places()) {
        for variant in &key.variants {
            bounds.entry(variant.intent.product).or_default();
        }
        if !key.is_keyed {
            for variant in &key.variants {
                let open = variant.attempts.iter().filter(|it| may_have_acted(it)).count();
                let quantity = i128::from(variant.intent.quantity);
                bounds.entry(variant.intent.product).or_default().most += quantity * open as i128;
            }
            continue;
        }
        for (product, quantity) in most_of(key) {
            bounds.entry(product).or_default().most += quantity;
        }
        let is_its_own =
            bench.contract().one_order_per.is_empty() && bench.contract().window.is_none();
        if let Some((product, quantity, variant)) = least_of(key) {
            if is_its_own {
                bounds.entry(product).or_default().least += quantity;
                continue;
            }
            // Keys that share an order under the contract count once together.
            let subject = match bench.contract().window {
                Some(_) => Subject { user: Some(key.user), key: None, product: None },
                None => Subject::of_intent(variant.intent, unique_by),
            };
            let of = least.entry((subject, product)).or_insert(quantity);
            *of = (*of).min(quantity);
        }
    }
    let mut products: BTreeMap<Subject<'_>, u32> = BTreeMap::new();
    for (subject, _) in least.keys() {
        *products.entry(*subject).or_default() += 1;
    }
    for ((subject, product), quantity) in least {
        if products[&subject] == 1 {
            bounds.entry(product).or_default().least += quantity;
        }
    }
    bounds
}

/// The most that a key can have bought of each product.
fn most_of(key: &KeyGroup<'_>) -> BTreeMap<i64, i128> {
    let mut most = BTreeMap::new();
    for variant in key.variants.iter().filter(|variant| variant.may_have_acted()) {
        let quantity = i128::from(variant.intent.quantity);
        let of = most.entry(variant.intent.product).or_insert(quantity);
        *of = (*of).max(quantity);
    }
    most
}

/// The least that an acknowledged key must have bought, if it is known of which product.
fn least_of<'b, 'a>(key: &'b KeyGroup<'a>) -> Option<(i64, i128, &'b Variant<'a>)> {
    let told = |variant: &Variant<'_>| {
        variant.attempts.iter().any(|attempt| attempt.outcome == Outcome::Acknowledged)
    };
    if !key.variants.iter().any(told) {
        return None;
    }
    let open = || key.variants.iter().filter(|variant| variant.may_have_acted());
    let least = open().min_by_key(|variant| variant.intent.quantity)?;
    let product = least.intent.product;
    let is_one = open().all(|variant| variant.intent.product == product);
    is_one.then(|| (product, i128::from(least.intent.quantity), least))
}

fn finding(wrong: &[Sums]) -> Option<Finding> {
    let off = |sums: &Sums| (sums.sold - sums.bounds.most).max(sums.bounds.least - sums.sold);
    let worst = wrong.iter().max_by_key(|sums| (off(sums), -i128::from(sums.product)))?;
    let mut evidence = Evidence::of(&["product", "acknowledged", "sold", "asked for"]);
    for sums in wrong {
        evidence.rows.push(vec![
            sums.product.to_string(),
            thousands(sums.bounds.least),
            thousands(sums.sold),
            thousands(sums.bounds.most),
        ]);
    }
    let count = wrong.len() as u64;
    let units = |count| plural(count, "unit", "units");
    Some(Finding {
        code: &I03C,
        severity: Severity::Critical,
        title: format!(
            "sales of {} don't fit what was asked for",
            plural(count, "product", "products")
        ),
        count,
        evidence,
        witness: Witness {
            heading: format!("what was sold of product {}", worst.product),
            product: Some(worst.product),
            ..Witness::default()
        },
        therefore: vec![if worst.sold > worst.bounds.most {
            format!(
                "{} of product {} left the stock for nobody, because {} left, and all intents that may \
                 have had an effect, each counted once, wanted {}",
                units(worst.sold - worst.bounds.most),
                worst.product,
                thousands(worst.sold),
                thousands(worst.bounds.most)
            )
        } else {
            format!(
                "{} of product {} {} promised and never left the stock, because acknowledged intents, \
                 each counted once, hold {}, and {} left",
                units(worst.bounds.least - worst.sold),
                worst.product,
                verb((worst.bounds.least - worst.sold).unsigned_abs() as u64, "was", "were"),
                thousands(worst.bounds.least),
                thousands(worst.sold)
            )
        }],
        help: "map product and quantity in `[audit] orders`, and run again: then the orders are named."
            .to_owned(),
    })
}
