//! Rows as they stood in the database at one moment.
//!
//! Values are text as PostgreSQL prints them, because their types are the target's business. A
//! snapshot is kept with the run, so that it can be judged again without the database.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{RunTime, Strings};

/// Everything that one audit reads, in one read-only transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    pub schema_version: u32,
    pub taken: RunTime,
    /// Orders that name a user, a key or a product of the run, in the order of their ids.
    pub orders: Vec<OrderRow>,
    /// Stock of the run's products, by product.
    pub stock: BTreeMap<String, StockRow>,
    /// What the schema itself forbids on the audited tables.
    pub constraints: Vec<Constraint>,
    /// Stock movements of the run's products, where the profile names their table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub movements: Option<Vec<MovementRow>>,
    /// Rows of the profile's own checks, in the order of the profile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub custom: Vec<CustomRows>,
    /// Inserts that a unique index refused since the run began, where the database's log is ours
    /// to read; absent elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_inserts: Option<Vec<RefusedInsert>>,
    /// What the payment provider has recorded; absent where there is no log of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payments: Option<Vec<PaymentLine>>,
}

/// One row of the orders table, through the profile's column names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderRow {
    pub id: Arc<str>,
    pub user: Option<Arc<str>>,
    pub key: Option<Arc<str>>,
    pub product: Option<Arc<str>>,
    pub quantity: Option<i64>,
    pub fingerprint: Option<Arc<str>>,
    pub status: Option<Arc<str>>,
    /// Microseconds since 1970, by the database's clock.
    pub created_us: Option<i64>,
    /// The same for paid and closed; absent: never, or not mapped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_us: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_us: Option<i64>,
}

impl Snapshot {
    /// Whether it shows the same as another one, whenever they were taken.
    pub fn shows_the_same(&self, other: &Self) -> bool {
        self.orders == other.orders
            && self.stock == other.stock
            && self.movements == other.movements
            && self.custom == other.custom
            && self.payments == other.payments
    }

    /// Lets rows share with each other, and with what else went through `strings`, the texts that many
    /// have; users, keys and fingerprints are mostly a row's own.
    pub(super) fn share(&mut self, strings: &mut Strings) {
        for row in &mut self.orders {
            strings.share(&mut row.id);
            let texts = [&mut row.product, &mut row.status];
            texts.into_iter().flatten().for_each(|text| strings.share(text));
        }
        for movement in self.movements.iter_mut().flatten() {
            strings.share(&mut movement.product);
            if let Some(order) = &mut movement.order {
                strings.share(order);
            }
        }
    }
}

/// One row of the stock table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StockRow {
    pub available: i64,
    pub fence: Option<i64>,
}

/// One stock movement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MovementRow {
    pub order: Option<Arc<str>>,
    pub product: Arc<str>,
    /// Negative for what was taken.
    pub delta: i64,
}

/// One line of a payment provider's log. What it has beside these is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentLine {
    /// Microseconds since 1970, by the provider's clock.
    pub at_us: i64,
    pub event: PaymentEvent,
    /// The payment request's id; of a refund, the charge's.
    pub id: Arc<str>,
    /// Whose charge it is; absent in lines about an id that an earlier line has explained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<i64>,
}

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PaymentEvent {
    ChargeRequest,
    /// Money was taken.
    Charge,
    /// It was refused for good; nothing was taken.
    Decline,
    StateRequest,
    RefundRequest,
    /// Money was given back.
    Refund,
}

/// What a check of the profile's own returned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustomRows {
    pub columns: Vec<String>,
    /// Values as PostgreSQL prints them; NULL is absent.
    pub rows: Vec<Vec<Option<String>>>,
    /// Why it has none: its statement failed or took too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// What kind of constraint it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConstraintKind {
    Unique,
    Check,
}

/// A unique index or a check constraint of an audited table (gate G7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constraint {
    pub table: String,
    pub name: String,
    pub kind: ConstraintKind,
    /// The columns of a unique index; empty for a check.
    pub columns: Vec<String>,
    /// The definition as PostgreSQL prints it.
    pub definition: String,
    /// A unique index with a WHERE clause lets rows escape.
    pub partial: bool,
    /// Columns of it that may be NULL: a unique index lets those rows escape.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nullable: Vec<String>,
}

/// An insert that a unique index refused, from PostgreSQL's own log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusedInsert {
    /// The index's name.
    pub constraint: String,
    /// The log's detail line: `Key (user_id)=(u-…-017) already exists.`
    pub detail: String,
}
