//! I03b: stock at the baseline plus what the ledger moved since is the stock now.
//!
//! All movements of a product count, other people's too, so that a foreign writer needs no excuse: what
//! it moved is in the ledger, or the ledger is wrong.

use crate::codes::{I03B, Severity};

use super::bench::Bench;
use super::ledger::Ledger;
use super::ruling::Ruling;
use super::words::{after_share, plural, share, thousands, verb};
use super::{Evidence, Finding, Witness};

struct Sums {
    product: String,
    initial: i128,
    moved: i128,
    available: i128,
}

impl Sums {
    const fn excess(&self) -> i128 {
        self.available - self.initial - self.moved
    }
}

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let tables = &bench.case.profile.audit;
    if tables.movements.is_none() || tables.stock.is_none() {
        return Ruling::not_judged(&I03B, "no ledger of stock movements in the profile");
    }
    let Some(rows) = &bench.rows else {
        return Ruling::not_judged(&I03B, "no rows were read after the load");
    };
    let (Some(before), Some(after)) = (Ledger::of(bench.case.baseline), Ledger::of(rows.snapshot))
    else {
        return Ruling::not_judged(&I03B, "the movements were not read");
    };
    let sums: Vec<Sums> = bench
        .index
        .products
        .iter()
        .filter_map(|product| {
            let product = product.to_string();
            let initial = bench.case.baseline.stock.get(product.as_str())?.available;
            let available = rows.snapshot.stock.get(product.as_str())?.available;
            let moved = after.of_product(&product) - before.of_product(&product);
            let (initial, available) = (i128::from(initial), i128::from(available));
            Some(Sums { product, initial, moved, available })
        })
        .collect();
    let of = sums.len() as u64;
    let wrong: Vec<Sums> = sums.into_iter().filter(|sums| sums.excess() != 0).collect();
    let count = wrong.len() as u64;
    let detail = format!(
        "{} {}",
        share(count, of, "product", "products"),
        after_share(count, of, "disagrees", "disagree")
    );
    let Some(why) = bench.unrest() else {
        return Ruling::of(&I03B, detail, finding(&wrong).into_iter().collect());
    };
    let ruling = Ruling::of(&I03B, detail, Vec::new());
    if wrong.is_empty() {
        return ruling;
    }
    ruling.doubting(
        &I03B,
        format!("stock and movements differ, but {why}"),
        "audit again when the database is at rest",
    )
}

fn finding(wrong: &[Sums]) -> Option<Finding> {
    let worst = wrong.iter().max_by_key(|sums| (sums.excess().abs(), &sums.product))?;
    let mut evidence =
        Evidence::of(&["product", "at the baseline", "moved", "available", "difference"]);
    for sums in wrong {
        evidence.rows.push(vec![
            sums.product.clone(),
            thousands(sums.initial),
            thousands(sums.moved),
            thousands(sums.available),
            thousands(sums.excess()),
        ]);
    }
    let count = wrong.len() as u64;
    Some(Finding {
        code: &I03B,
        severity: Severity::Critical,
        title: format!("stock and ledger of {} disagree", plural(count, "product", "products")),
        count,
        evidence,
        witness: Witness {
            heading: format!("what the ledger says of product {}", worst.product),
            product: worst.product.parse().ok(),
            ..Witness::default()
        },
        therefore: vec![format!(
            "one of stock and ledger was changed without the other, because product {} had {}, the \
             ledger moved {} since, and {} {} left",
            worst.product,
            thousands(worst.initial),
            thousands(worst.moved),
            thousands(worst.available),
            verb(worst.available.unsigned_abs() as u64, "is", "are")
        )],
        help: "write the movement in the transaction that changes the stock.".to_owned(),
    })
}
