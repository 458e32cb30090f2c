//! Which lines of a finding's evidence are about some intents of the run.
//!
//! A line names a user and a key, or an order, or a product. What names a product alone is about every
//! intent that wanted it. A finding whose lines name none of these is about the intents of its witness.

use std::collections::HashSet;

use crate::history::IntentId;

use super::bench::Bench;
use super::{Finding, same_id};

/// Some intents, and what they are known by.
#[derive(Debug, Default)]
pub(super) struct Circle<'a> {
    intents: HashSet<IntentId>,
    names: HashSet<(&'a str, &'a str)>,
    users: HashSet<&'a str>,
    products: HashSet<String>,
    orders: HashSet<String>,
}

impl<'a> Circle<'a> {
    pub fn of(bench: &Bench<'a>, intents: impl IntoIterator<Item = IntentId>) -> Self {
        let history = bench.case.history;
        let mut circle = Self::default();
        for id in intents.into_iter().filter(|id| (id.0 as usize) < history.intents.len()) {
            let intent = history.intent(id);
            circle.intents.insert(id);
            circle.names.insert((&intent.user, &intent.key));
            circle.users.insert(&intent.user);
            circle.products.insert(intent.product.to_string());
            circle.orders.extend(intent.entity.as_deref().map(|it| same_id(it).into_owned()));
        }
        let own = history.attempts.iter().filter(|it| circle.intents.contains(&it.intent));
        let told = own.filter_map(|it| it.order.as_deref()).map(|id| same_id(id).into_owned());
        circle.orders.extend(told.collect::<Vec<_>>());
        let rows = bench.rows.as_ref().map_or(&[][..], |rows| &rows.snapshot.orders);
        for row in rows {
            if let (Some(user), Some(key)) = (row.user.as_deref(), row.key.as_deref())
                && circle.names.contains(&(user, key))
            {
                circle.orders.insert(same_id(&row.id).into_owned());
            }
        }
        circle
    }

    pub fn is_empty(&self) -> bool {
        self.intents.is_empty()
    }

    /// Lines of a finding that are about these intents, by place.
    pub fn lines(&self, bench: &Bench<'_>, finding: &Finding) -> HashSet<usize> {
        let evidence = &finding.evidence;
        let column = |name: &str| evidence.columns.iter().position(|column| column == name);
        let (user, key) = (column("user"), column("key"));
        let (order, product) = (column("order"), column("product"));
        let has = |row: &Vec<String>| {
            let cell =
                |column: Option<usize>| column.and_then(|at| row.get(at)).map(String::as_str);
            match (cell(user), cell(key), cell(order), cell(product)) {
                (Some(user), Some(key), ..) => self.names.contains(&(user, key)),
                (_, _, Some(order), _) => self.orders.contains(&*same_id(order)),
                (Some(user), None, None, _) => self.users.contains(user),
                (_, _, _, Some(product)) => self.products.contains(product),
                _ => self.is_witness(bench, finding),
            }
        };
        let rows = evidence.rows.iter().enumerate();
        rows.filter(|(_, row)| has(row)).map(|(place, _)| place).collect()
    }

    fn is_witness(&self, bench: &Bench<'_>, finding: &Finding) -> bool {
        let witness = &finding.witness;
        let attempts = bench.case.history.attempts.iter();
        let mut own = attempts.filter(|it| witness.attempts.contains(&it.id));
        let of_product =
            || witness.product.is_some_and(|id| self.products.contains(&id.to_string()));
        match witness.attempts.is_empty() {
            true => of_product(),
            false => own.any(|it| self.intents.contains(&it.intent)),
        }
    }
}
