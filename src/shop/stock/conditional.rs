//! Takes stock with one conditional UPDATE: the row count is the answer.
//!
//! Reading first and writing what was computed from it would lose an update between the two, so
//! both conditions, enough units and a newer fence, are part of the write. The shelf is read only
//! after the row count said no, to tell the reasons apart.

use super::{Sale, TakesStock, Taking, take_by};
use crate::shop::{strategy::Going, transaction::OrderConnection};

const TAKE: &str = include_str!("../sql/take_stock.sql");

pub struct Conditional;

impl TakesStock for Conditional {
    fn take<'a>(&'a self, connection: &'a mut OrderConnection, sale: Sale) -> Going<'a, Taking> {
        Box::pin(take_by(TAKE, sale.quantity, connection, sale))
    }
}
