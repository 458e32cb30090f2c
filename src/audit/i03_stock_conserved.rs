//! I03: what left the stock is what the orders hold, per product.
//!
//! All orders of a product since the baseline count, other people's too. Three things make a
//! difference a doubt instead of a finding: a database that wasn't at rest, an order of somebody else
//! on the product (who may have moved stock by other ways as well), a quantity that isn't there.

use crate::codes::{I03, Severity};
use crate::history::OrderRow;

use super::bench::Bench;
use super::rows::{Place, Rows};
use super::ruling::Ruling;
use super::words::{after_share, list, plural, share, thousands, verb};
use super::{Evidence, Finding, Witness};

/// The sums of one product.
struct Sums<'a> {
    product: i64,
    initial: i64,
    available: i64,
    sold: i128,
    orders: Vec<&'a OrderRow>,
    /// Why nothing can be claimed about it.
    unsure: Option<&'static str>,
}

impl Sums<'_> {
    fn taken(&self) -> i128 {
        i128::from(self.initial) - i128::from(self.available)
    }

    /// Units sold beyond those that left the stock; negative if more left than was sold.
    fn excess(&self) -> i128 {
        self.sold - self.taken()
    }
}

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    if bench.case.profile.audit.stock.is_none() {
        return Ruling::not_judged(&I03, "no stock table in the profile");
    }
    if !bench.columns.sums {
        return Ruling::not_judged(&I03, "no product and quantity columns in the profile");
    }
    let Some(rows) = &bench.rows else {
        return Ruling::not_judged(&I03, "no rows were read after the load");
    };
    let sums = sums(bench, rows);
    let of = sums.len() as u64;
    let (unsure, wrong): (Vec<_>, Vec<_>) = sums
        .into_iter()
        .filter(|sums| sums.excess() != 0)
        .partition(|sums| sums.unsure.is_some() || !bench.at_rest);
    let count = wrong.len() as u64;
    let detail = format!(
        "{} {}",
        share(count, of, "product", "products"),
        after_share(count, of, "disagrees", "disagree")
    );
    let findings = if wrong.is_empty() { Vec::new() } else { vec![finding(bench, &wrong)] };
    let mut ruling = Ruling::of(&I03, detail, findings);
    if let Some(first) = unsure.first() {
        let why = first.unsure.or(bench.unrest()).unwrap_or_default();
        ruling = ruling.doubting(
            &I03,
            format!(
                "stock and orders differ for {} (product {}: {} left the stock, {} sold), but {why}",
                plural(unsure.len() as u64, "product", "products"),
                first.product,
                thousands(first.taken()),
                thousands(first.sold)
            ),
            "audit again when the database is at rest and nobody else moves this stock",
        );
    }
    ruling
}

fn sums<'a>(bench: &Bench<'a>, rows: &Rows<'a>) -> Vec<Sums<'a>> {
    let mut sums: Vec<Sums<'_>> = bench
        .index
        .products
        .iter()
        .filter_map(|&product| {
            let name = product.to_string();
            let initial = bench.case.baseline.stock.get(&name)?.available;
            let now = rows.snapshot.stock.get(&name);
            Some(Sums {
                product,
                initial,
                available: now.map_or(0, |row| row.available),
                sold: 0,
                orders: Vec::new(),
                unsure: now.is_none().then_some("its stock row is gone"),
            })
        })
        .collect();
    for placed in &rows.fresh {
        let Some(product) = placed.row.product.as_ref().and_then(|id| id.parse::<i64>().ok())
        else {
            continue;
        };
        let Ok(at) = sums.binary_search_by_key(&product, |sums| sums.product) else { continue };
        let of = &mut sums[at];
        if placed.place == Place::Foreign {
            of.unsure = Some("somebody else placed orders for it too");
        }
        if placed.valid {
            match placed.row.quantity {
                Some(quantity) => of.sold += i128::from(quantity),
                None => of.unsure = Some("an order has no quantity"),
            }
            of.orders.push(placed.row);
        }
    }
    sums
}

fn finding(bench: &Bench<'_>, wrong: &[Sums<'_>]) -> Finding {
    let mut evidence = Evidence::of(&[
        "product",
        "at the baseline",
        "available",
        "left the stock",
        "sold",
        "orders",
        "difference",
    ]);
    for sums in wrong {
        evidence.rows.push(vec![
            sums.product.to_string(),
            thousands(sums.initial),
            thousands(sums.available),
            thousands(sums.taken()),
            thousands(sums.sold),
            thousands(sums.orders.len() as u64),
            thousands(sums.excess()),
        ]);
    }
    let worst = wrong.iter().max_by_key(|sums| (sums.excess().abs(), -i128::from(sums.product)));
    let worst = worst.expect("a finding has at least one product");
    let units = wrong.iter().map(|sums| sums.excess().unsigned_abs()).sum::<u128>() as u64;
    let count = wrong.len() as u64;
    let ids: Vec<String> = worst.orders.iter().take(3).map(|row| row.id.to_string()).collect();
    Finding {
        code: &I03,
        severity: Severity::Critical,
        title: format!(
            "stock and orders of {} disagree by {}",
            plural(count, "product", "products"),
            plural(units, "unit", "units")
        ),
        count,
        evidence,
        witness: Witness {
            heading: format!("what became of the stock of product {}", worst.product),
            attempts: bench.told_of(&ids),
            orders: ids,
            product: Some(worst.product),
            ..Witness::default()
        },
        therefore: vec![therefore(worst)],
        help:
            "change stock and order in one transaction, by a conditional decrement whose row count \
               must be 1."
                .to_owned(),
    }
}

fn therefore(sums: &Sums<'_>) -> String {
    let ids: Vec<&str> = sums.orders.iter().map(|row| &*row.id).collect();
    let because = format!(
        "because stock went from {} to {} while {} ({}) {} {}",
        thousands(sums.initial),
        thousands(sums.available),
        plural(sums.orders.len() as u64, "valid order", "valid orders"),
        if ids.is_empty() { "none".to_owned() } else { list(&ids, 3) },
        verb(ids.len() as u64, "holds", "hold"),
        plural(sums.sold, "unit", "units"),
    );
    let units = |count| plural(count, "unit", "units");
    let product = sums.product;
    if sums.excess() > 0 {
        let count = units(sums.excess());
        let were = verb(sums.excess().unsigned_abs() as u64, "was", "were");
        format!("{count} of product {product} {were} sold without leaving the stock, {because}")
    } else {
        let count = units(-sums.excess());
        format!("{count} of product {product} left the stock without an order, {because}")
    }
}
