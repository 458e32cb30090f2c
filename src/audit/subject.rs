//! What the contract calls one thing: a key of a user, or a business key such as the user alone.
//!
//! Intents and rows are brought to the same form, so that attempts and orders of one thing meet.

use crate::history::{Intent, OrderRow};
use crate::profile::BusinessColumn;

use super::bench::Bench;
use super::words::list;

/// The values of the unique columns; a column that isn't part of it is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Subject<'a> {
    pub user: Option<&'a str>,
    pub key: Option<&'a str>,
    pub product: Option<i64>,
}

impl<'a> Subject<'a> {
    pub fn of_intent(intent: &'a Intent, unique_by: &[BusinessColumn]) -> Self {
        let has = |column| unique_by.contains(&column);
        Self {
            user: has(BusinessColumn::User).then_some(intent.user.as_str()),
            key: has(BusinessColumn::Key).then_some(intent.key.as_str()),
            product: has(BusinessColumn::Product).then_some(intent.product),
        }
    }

    pub fn of_row(row: &'a OrderRow, unique_by: &[BusinessColumn]) -> Self {
        let has = |column| unique_by.contains(&column);
        Self {
            user: row.user.as_deref().filter(|_| has(BusinessColumn::User)),
            key: row.key.as_deref().filter(|_| has(BusinessColumn::Key)),
            product: row
                .product
                .as_deref()
                .filter(|_| has(BusinessColumn::Product))
                .and_then(|id| id.parse().ok()),
        }
    }
}

/// Its words: `("key", "keys")`, `("user", "users")`, or a pair for several columns.
pub(super) fn name(unique_by: &[BusinessColumn]) -> (String, String) {
    match unique_by {
        [BusinessColumn::User, BusinessColumn::Key] => ("key".to_owned(), "keys".to_owned()),
        [column] => (column.word().to_owned(), format!("{}s", column.word())),
        columns => {
            let words: Vec<&str> = columns.iter().map(|column| column.word()).collect();
            let words = list(&words, 3);
            (format!("combination of {words}"), format!("combinations of {words}"))
        }
    }
}

/// The columns' names in the orders table; `None` if one of them isn't mapped.
pub(super) fn columns<'b>(bench: &'b Bench<'_>) -> Option<Vec<&'b str>> {
    let column = |wanted: &BusinessColumn| match wanted {
        BusinessColumn::User => bench.columns.user,
        BusinessColumn::Key => bench.columns.key,
        BusinessColumn::Product => bench.columns.product,
    };
    bench.contract().unique_by().iter().map(column).collect()
}
