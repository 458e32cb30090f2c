//! What one link says, and the steps that are open on it.

use std::rc::Rc;

use crate::history::{FiringEnd, InstanceId, LinkFacts, LinkId, RunTime};

use super::counts::{Counts, Side};
use super::event::ProxyEvent;
use super::exchanges::{Exchange, Exchanges};
use super::fate::{Fate, Silence};
use super::observer::Observer;
use super::orders::Orders;
use super::tokens::Named;

pub(super) struct Notes {
    pub(super) observer: Rc<Observer>,
    pub(super) exchanges: Exchanges,
    pub(super) orders: Orders,
    /// What the client says that it is.
    pub(super) driver: Option<String>,
    /// The process of PostgreSQL at the other end.
    pub(super) backend: Option<u32>,
    /// When the bytes that are looked at were read.
    pub(super) now: RunTime,
    /// Why what stood on the link is over when the link is.
    pub(super) left: FiringEnd,
    door: usize,
    /// What had become of the door when the connection was accepted.
    epoch: u32,
    link: LinkId,
    opened: RunTime,
    has_stream: bool,
    is_written: bool,
    is_orphaned: bool,
}

impl Notes {
    /// A connection was accepted at a door.
    pub(super) fn new(door: usize, observer: Rc<Observer>) -> Self {
        observer.count(door, |counts| {
            counts.links += 1;
            counts.open += 1;
        });
        let (link, opened) = (observer.next_link(), observer.clock.now());
        Self {
            exchanges: Exchanges::default(),
            orders: Orders::default(),
            left: FiringEnd::Healed,
            driver: None,
            backend: None,
            now: opened,
            door,
            epoch: observer.epoch(door),
            link,
            opened,
            has_stream: false,
            is_written: false,
            is_orphaned: false,
            observer,
        }
    }

    pub(super) const fn door(&self) -> usize {
        self.door
    }

    pub(super) fn is_of_this_epoch(&self) -> bool {
        self.epoch == self.observer.epoch(self.door)
    }

    /// The door has been cut off, or leads elsewhere now.
    pub(super) fn fate_of_the_door(&self) -> Fate {
        match self.observer.cut(self.door) {
            Some(cut) => {
                cut.broke_a_link();
                if cut.refuses() { Fate::Reset } else { Fate::Silent(Silence::Cut(cut)) }
            }
            None => Fate::Reset,
        }
    }

    pub(super) const fn link(&self) -> LinkId {
        self.link
    }

    pub(super) fn instance(&self) -> Option<InstanceId> {
        self.observer.instance(self.door)
    }

    pub(super) fn count(&self, count: impl FnOnce(&mut Counts)) {
        self.observer.count(self.door, count);
    }

    pub(super) fn tell(&self, event: ProxyEvent) {
        self.observer.tell(self.door, event);
    }

    pub(super) fn frame(&self, from: Side, kind: &'static str) {
        self.count(|counts| counts.frame(from, kind));
    }

    /// Nothing more is said about what comes from there.
    pub(super) fn opaque(&self, from: Side, at: u64, why: &'static str) {
        self.count(|counts| counts.opaque += 1);
        self.tell(ProxyEvent::Opaque { link: self.link, from, at, why });
    }

    /// The client wants an encrypted connection or none.
    pub(super) fn insists(&self) {
        self.count(|counts| counts.refused += 1);
        let (link, wire) = (self.link, self.observer.wire(self.door));
        self.tell(ProxyEvent::Encrypted { link, wire });
    }

    /// The link carries a stream from now on.
    pub(super) fn stream(&mut self) {
        if !std::mem::replace(&mut self.has_stream, true) {
            self.count(|counts| counts.streams += 1);
        }
    }

    /// An exchange that only keeps the connection going.
    pub(super) fn noise(&self) {
        self.count(|counts| counts.noise += 1);
    }

    /// Whose a step is that carries these texts.
    pub(super) fn name<'a>(&self, texts: impl Iterator<Item = &'a [u8]> + Clone) -> Named {
        let named = self.observer.tokens.borrow_mut().name(texts);
        if named.is_of_the_run {
            self.count(|counts| counts.of_the_run += 1);
        }
        named
    }

    /// A step of which nobody can say what it does.
    pub(super) fn unnamed(&self) {
        let driver = self.driver.as_deref().unwrap_or("an unknown client");
        self.count(|counts| match counts.unnamed.get_mut(driver) {
            Some(count) => *count += 1,
            None => {
                counts.unnamed.insert(driver.to_owned(), 1);
            }
        });
    }

    /// Bytes have been read.
    pub(super) fn read(&mut self) {
        self.now = self.observer.clock.now();
    }

    /// Everything up to this place has been passed on to the server.
    pub(super) fn passed_to_server(&mut self, to: u64) {
        self.orders.requests.passed = to;
        if self.exchanges.waits_to_be_forwarded(to) {
            self.exchanges.forwarded(to, self.observer.clock.now());
        }
    }

    /// Everything up to this place has been passed on to the client.
    pub(super) fn passed_to_client(&mut self, to: u64) {
        self.orders.replies.passed = to;
        if self.exchanges.waits_to_be_delivered(to) {
            self.exchanges.delivered(to, self.observer.clock.now());
            self.write_steps();
        }
    }

    /// The client won't hear any more what its requests came to: the same request on another connection
    /// is one that is asked again.
    pub(super) fn orphan(&mut self) {
        if !std::mem::replace(&mut self.is_orphaned, true) {
            let instance = self.observer.instance(self.door);
            self.observer.orphans.borrow_mut().add(instance, self.exchanges.undelivered());
        }
    }

    /// Writes the steps down that are over.
    fn write_steps(&mut self) {
        let (mut steps, mut lost) = (0, 0);
        let mut exchanges = std::mem::take(&mut self.exchanges);
        exchanges.close(|Exchange { step, is_noise, failing, .. }| {
            if let Some(failing) = failing {
                let is_told = step.delivered.is_some();
                self.has_not_failed(failing, if is_told { FiringEnd::AtOnce } else { self.left });
            }
            if !is_noise {
                self.write_link();
                self.observer.ledger.step(step, |count| lost += count);
                steps += 1;
            }
        });
        self.exchanges = exchanges;
        self.count(|counts| {
            counts.steps += steps;
            counts.lost += lost;
        });
    }

    fn write_link(&mut self) {
        if !std::mem::replace(&mut self.is_written, true) {
            self.observer.ledger.link(LinkFacts {
                id: self.link,
                wire: self.observer.wire(self.door),
                instance: self.observer.instance(self.door),
                driver: self.driver.clone(),
                backend: self.backend,
                opened: self.opened,
            });
        }
    }
}

impl Drop for Notes {
    /// The link is over, in whatever way.
    fn drop(&mut self) {
        self.observer.is_over(self.link);
        self.end_orders(self.left);
        self.orphan();
        self.exchanges.end();
        self.write_steps();
        self.write_link();
        self.count(|counts| counts.open -= 1);
    }
}
