//! What all links have in common: what they know, and where they say what they saw.
//!
//! They all run on the thread of the proxies, so that neither takes a lock. Events that nobody takes
//! are counted and not waited for: a link never stands still because of its observer.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

use tokio::sync::mpsc;

use crate::history::{Clock, InstanceId, IntentId, LinkId, Wire, WireFacts};

use super::counts::Counts;
use super::event::ProxyEvent;
use super::guide::Guide;
use super::ledger::Ledger;
use super::postgres::Texts;
use super::proxies::{ProxySpec, Watch};
use super::redis::Scripts;
use super::resent::Orphans;
use super::tokens::Tokens;

/// Words that are kept once for all steps; a further one is made anew each time.
const MOST_WORDS: usize = 20_000;

/// One proxy.
struct Door {
    wire: Wire,
    instance: Option<InstanceId>,
    counts: RefCell<Counts>,
}

pub(super) struct Observer {
    pub(super) clock: Clock,
    pub(super) guide: Guide,
    pub(super) ledger: Ledger,
    pub(super) tokens: RefCell<Tokens>,
    pub(super) scripts: RefCell<Scripts>,
    pub(super) orphans: RefCell<Orphans>,
    /// Intents whose order is committed.
    pub(super) committed: RefCell<foldhash::HashSet<IntentId>>,
    pub(super) texts: RefCell<Texts>,
    doors: Vec<Door>,
    links: Cell<u32>,
    words: RefCell<HashSet<Rc<str>, foldhash::fast::FixedState>>,
    events: mpsc::Sender<ProxyEvent>,
}

impl Observer {
    pub(super) fn new(specs: &[ProxySpec], watch: Watch, events: mpsc::Sender<ProxyEvent>) -> Self {
        let door = |spec: &ProxySpec| Door {
            wire: spec.wire,
            instance: spec.instance,
            counts: RefCell::default(),
        };
        Self {
            clock: watch.clock,
            guide: watch.guide,
            ledger: Ledger::new(watch.recorder),
            tokens: RefCell::default(),
            scripts: RefCell::default(),
            orphans: RefCell::default(),
            committed: RefCell::default(),
            texts: RefCell::default(),
            doors: specs.iter().map(door).collect(),
            links: Cell::new(0),
            words: RefCell::default(),
            events,
        }
    }

    pub(super) fn tell(&self, door: usize, event: ProxyEvent) {
        if self.events.try_send(event).is_err() {
            self.count(door, |counts| counts.untold += 1);
        }
    }

    pub(super) fn count(&self, door: usize, count: impl FnOnce(&mut Counts)) {
        count(&mut self.doors[door].counts.borrow_mut());
    }

    pub(super) fn counts(&self) -> Vec<Counts> {
        self.doors.iter().map(|door| door.counts.borrow().clone()).collect()
    }

    pub(super) fn wire(&self, door: usize) -> Wire {
        self.doors[door].wire
    }

    pub(super) fn instance(&self, door: usize) -> Option<InstanceId> {
        self.doors[door].instance
    }

    pub(super) fn next_link(&self) -> LinkId {
        LinkId(self.links.replace(self.links.get().wrapping_add(1)))
    }

    /// The word, shared with all steps that have it.
    pub(super) fn word(&self, text: &str) -> Rc<str> {
        let mut words = self.words.borrow_mut();
        if let Some(known) = words.get(text) {
            return Rc::clone(known);
        }
        let word: Rc<str> = text.into();
        if words.len() < MOST_WORDS {
            words.insert(Rc::clone(&word));
        }
        word
    }

    /// What each wire saw, its proxies together.
    pub(super) fn wires(&self) -> Vec<WireFacts> {
        let of = |wire| self.doors.iter().filter(move |door| door.wire == wire);
        let there = Wire::ALL.into_iter().filter(|wire| of(*wire).next().is_some());
        there
            .map(|wire| {
                let mut facts = Counts::default();
                of(wire).for_each(|door| facts.add(&door.counts.borrow()));
                facts.of_wire(wire)
            })
            .collect()
    }
}
