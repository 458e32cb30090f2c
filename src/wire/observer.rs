//! What the links of a proxy have in common: where they say what they saw.
//!
//! They all run on the thread of their proxy, so that saying something takes no lock. Events that
//! nobody takes are counted and not waited for: a link never stands still because of its observer.

use std::cell::RefCell;
use std::rc::Rc;

use tokio::sync::mpsc;

use super::counts::{Counts, Side};
use super::event::ProxyEvent;

pub(super) struct Observer {
    pub(super) counts: RefCell<Counts>,
    events: mpsc::Sender<ProxyEvent>,
}

impl Observer {
    pub(super) fn new(events: mpsc::Sender<ProxyEvent>) -> Self {
        Self { counts: RefCell::default(), events }
    }

    pub(super) fn tell(&self, event: ProxyEvent) {
        if self.events.try_send(event).is_err() {
            self.counts.borrow_mut().untold += 1;
        }
    }
}

/// What one link says.
pub(super) struct Notes {
    link: u64,
    observer: Rc<Observer>,
    has_stream: bool,
}

impl Notes {
    pub(super) fn new(link: u64, observer: Rc<Observer>) -> Self {
        Self { link, observer, has_stream: false }
    }

    pub(super) const fn link(&self) -> u64 {
        self.link
    }

    pub(super) fn count(&self, count: impl FnOnce(&mut Counts)) {
        count(&mut self.observer.counts.borrow_mut());
    }

    pub(super) fn tell(&self, event: ProxyEvent) {
        self.observer.tell(event);
    }

    pub(super) fn frame(&self, from: Side, kind: &'static str) {
        self.count(|counts| counts.frame(from, kind));
    }

    /// Nothing more is said about what comes from there.
    pub(super) fn opaque(&self, from: Side, at: u64, why: &'static str) {
        self.count(|counts| counts.opaque += 1);
        self.tell(ProxyEvent::Opaque { link: self.link, from, at, why });
    }

    /// The link carries a stream from now on.
    pub(super) fn stream(&mut self) {
        if !std::mem::replace(&mut self.has_stream, true) {
            self.count(|counts| counts.streams += 1);
        }
    }
}
