//! A hold that stands: ended from outside, and heard of by the link that it stops.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

use crate::history::FiringEnd;
use crate::wire::rule::HoldId;

use super::ArmedRule;

#[derive(Debug)]
pub(in crate::wire) struct Hold {
    pub(in crate::wire) id: HoldId,
    pub(super) rule: Rc<ArmedRule>,
    ended: Cell<Option<FiringEnd>>,
    waker: RefCell<Option<Waker>>,
}

impl Hold {
    pub(super) const fn new(id: HoldId, rule: Rc<ArmedRule>) -> Self {
        Self { id, rule, ended: Cell::new(None), waker: RefCell::new(None) }
    }

    /// The first reason is the one that counts.
    pub(super) fn end(&self, how: FiringEnd) {
        if self.ended.get().is_none() {
            self.ended.set(Some(how));
        }
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }

    /// How it ended; else the link is woken when it does.
    pub(in crate::wire) fn poll(&self, waker: &Waker) -> Option<FiringEnd> {
        let ended = self.ended.get();
        if ended.is_none() {
            self.waker.borrow_mut().replace(waker.clone());
        }
        ended
    }
}
