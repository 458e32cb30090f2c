//! I01: no product has fewer than zero units.
//!
//! Both audits are looked at: what was committed below zero stays a proof, also if a repair or a
//! delivery has healed it since. It needs no database at rest.

use std::collections::BTreeMap;

use crate::codes::I01;
use crate::history::RunTime;

use super::bench::Bench;
use super::ruling::Ruling;
use super::words::{after_share, plural, share, thousands};
use super::{Evidence, Finding, Witness};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    if bench.case.profile.audit.stock.is_none() {
        return Ruling::not_judged(&I01, "no stock table in the profile");
    }
    if bench.rows.is_none() {
        return Ruling::not_judged(&I01, "no rows were read after the load");
    }
    let mut below: BTreeMap<&str, (i64, &str, RunTime)> = BTreeMap::new();
    for (when, snapshot) in bench.snapshots() {
        for (product, row) in snapshot.stock.iter().filter(|(_, row)| row.available < 0) {
            below.insert(product, (row.available, when, snapshot.taken));
        }
    }
    let count = below.len() as u64;
    let of = bench.index.products.len() as u64;
    let detail = format!(
        "{} {} below zero",
        share(count, of, "product", "products"),
        after_share(count, of, "is", "are")
    );
    let findings = if below.is_empty() { Vec::new() } else { vec![finding(bench, &below)] };
    Ruling::of(&I01, detail, findings)
}

fn finding(bench: &Bench<'_>, below: &BTreeMap<&str, (i64, &str, RunTime)>) -> Finding {
    let baseline = |product: &str| {
        let row = bench.case.baseline.stock.get(product);
        row.map_or_else(|| "-".to_owned(), |row| thousands(row.available))
    };
    let mut evidence = Evidence::of(&["product", "at the baseline", "available", "seen"]);
    for (product, (available, when, _)) in below {
        let cells = [*product, &baseline(product), &thousands(*available), *when];
        evidence.rows.push(cells.map(str::to_owned).to_vec());
    }
    let lowest = below.iter().min_by_key(|(_, (available, ..))| *available);
    let (product, (available, _, taken)) = lowest.expect("a finding has at least one row");
    let count = below.len() as u64;
    let id = product.parse().ok();
    Finding {
        code: &I01,
        severity: crate::codes::Severity::Critical,
        title: format!(
            "{} below zero, the lowest at {}",
            plural(count, "product is", "products are"),
            thousands(*available)
        ),
        count,
        evidence,
        witness: Witness {
            heading: format!("how product {product} got below zero"),
            attempts: Vec::new(),
            orders: bench.orders_of_product(product, 2),
            product: id,
            ..Witness::default()
        },
        therefore: vec![format!(
            "more than there was has left the stock of product {product}, because it held {} at the \
             baseline and {} at {taken}",
            baseline(product),
            thousands(*available),
        )],
        help: "decrement with `... WHERE available >= n`, act on a row count of 0, and add CHECK \
               (available >= 0)."
            .to_owned(),
    }
}
