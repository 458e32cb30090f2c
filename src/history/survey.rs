//! What the tables of a live database show by themselves, without any history.
//!
//! The database adds up; what comes over is the sums and at most so many examples of each kind.

use super::{Constraint, CustomRows, RunTime};

/// Some of the rows of a kind, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed<T> {
    pub shown: Vec<T>,
    pub total: u64,
}

/// Read in one read-only transaction; `None` where the profile doesn't name what it takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    pub taken: RunTime,
    pub orders: u64,
    /// Orders whose status counts as sold.
    pub valid: u64,
    pub below_zero: Option<Listed<Below>>,
    pub doubled: Option<Listed<Doubled>>,
    /// Valid orders without a value in one of the unique columns.
    pub nameless: u64,
    pub apart: Option<Listed<Apart>>,
    pub ledger: Option<LedgerSums>,
    pub paid_and_closed: Option<Listed<PaidAndClosed>>,
    pub constraints: Vec<Constraint>,
    /// In the order of the profile.
    pub custom: Vec<CustomRows>,
}

/// A product with less than nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Below {
    pub product: String,
    pub available: i64,
}

/// Values of the unique columns that several valid orders have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Doubled {
    /// In the order of the contract's columns.
    pub names: Vec<String>,
    pub orders: u64,
    /// The first ids.
    pub ids: Vec<String>,
}

/// An order and the movements of a product that name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Apart {
    pub order: String,
    pub product: String,
    /// What should have been moved; negative for what was to be taken.
    pub due: i64,
    pub moved: i64,
    /// Whether there is such an order at all.
    pub has_order: bool,
}

/// Stock against the sum of all movements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerSums {
    /// Products whose stock is the sum of their movements.
    pub agree: u64,
    pub differ: Listed<LedgerLine>,
}

/// A product whose stock isn't the sum of its movements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerLine {
    pub product: String,
    pub available: i64,
    pub moved: i64,
}

/// An order that is both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaidAndClosed {
    pub id: String,
    pub status: Option<String>,
    /// Microseconds since 1970, by the database's clock.
    pub paid_us: i64,
    pub closed_us: i64,
}
