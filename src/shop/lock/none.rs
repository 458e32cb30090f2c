//! No lock: everybody enters, and the database alone decides.
//!
//! A service without one is as correct and does more work in vain. It has no fence either, since
//! nobody is granted anything.

use redis::Script;

use super::{Bid, Lock, Taken};
use crate::shop::{state::Shop, strategy::Going, transaction::OrderConnection};

pub struct None;

impl Lock for None {
    fn take<'a>(
        &'a self,
        _: &'a Shop,
        _: &'a Bid,
        _: &'a mut Option<OrderConnection>,
    ) -> Going<'a, Taken> {
        Box::pin(async { Ok(Taken::Granted(Option::None)) })
    }

    fn release<'a>(
        &'a self,
        _: &'a Shop,
        _: &'a Bid,
        _: &'a mut Option<OrderConnection>,
    ) -> Going<'a, bool> {
        Box::pin(async { Ok(true) })
    }

    fn renewal(&self) -> Option<&'static Script> {
        Option::None
    }
}
