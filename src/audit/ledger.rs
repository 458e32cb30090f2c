//! The stock movements of a snapshot, added up: by order and product, and by product.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use crate::history::Snapshot;

use super::index::same_id;

/// Sums of movements. A movement without an order counts for its product only.
#[derive(Debug, Default)]
pub(super) struct Ledger<'a> {
    /// By order, what was moved of each product; mostly one.
    pub orders: BTreeMap<Cow<'a, str>, BTreeMap<&'a str, i128>>,
    pub products: HashMap<&'a str, i128>,
}

impl<'a> Ledger<'a> {
    /// `None` where the profile names no table of movements.
    pub fn of(snapshot: &'a Snapshot) -> Option<Self> {
        let mut ledger = Self::default();
        for movement in snapshot.movements.as_ref()? {
            let delta = i128::from(movement.delta);
            *ledger.products.entry(&movement.product).or_default() += delta;
            if let Some(order) = movement.order.as_deref().filter(|it| !it.trim().is_empty()) {
                let of_order = ledger.orders.entry(same_id(order)).or_default();
                *of_order.entry(&movement.product).or_default() += delta;
            }
        }
        Some(ledger)
    }

    pub fn of_product(&self, product: &str) -> i128 {
        self.products.get(product).copied().unwrap_or(0)
    }
}
