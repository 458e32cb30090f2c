//! What all links have in common: what they know, and where they say what they saw.
//!
//! They all run on the thread of the proxies, so that neither takes a lock. Events that nobody takes
//! are counted and not waited for: a link never stands still because of its observer.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::task::Waker;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::history::{
    Clock, FaultEvent, FaultFacts, FaultId, Firing, FiringEnd, InstanceId, IntentId, LinkId, Proof,
    Wire, WireFacts,
};

use super::accept::Partitioned;
use super::counts::Counts;
use super::cuts::CutOff;
use super::event::ProxyEvent;
use super::guide::Guide;
use super::ledger::Ledger;
use super::postgres::Texts;
use super::proxies::{ProxySpec, Watch};
use super::redis::Scripts;
use super::resent::Orphans;
use super::rule::Notice;
use super::rules::Rules;
use super::tokens::Tokens;

/// Words that are kept once for all steps; a further one is made anew each time.
const MOST_WORDS: usize = 20_000;

/// One proxy.
struct Door {
    wire: Wire,
    instance: Option<InstanceId>,
    counts: RefCell<Counts>,
    /// Changes whenever its links have to look what has become of it.
    epoch: Cell<u32>,
    cut: RefCell<Option<Rc<CutOff>>>,
    /// Somebody has connected to the server that took the place of the first one: who wants to know.
    swapped: Cell<Option<(FaultId, u32)>>,
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
    pub(super) rules: Rules,
    doors: Vec<Door>,
    /// Links that run, to be woken when something becomes of their door.
    wakers: RefCell<foldhash::HashMap<LinkId, Waker>>,
    links: Cell<u32>,
    words: RefCell<HashSet<Rc<str>, foldhash::fast::FixedState>>,
    events: mpsc::Sender<ProxyEvent>,
}

impl Observer {
    pub(super) fn new(
        specs: &[ProxySpec],
        watch: Watch,
        events: mpsc::Sender<ProxyEvent>,
        notices: mpsc::Sender<Notice>,
    ) -> Self {
        let door = |spec: &ProxySpec| Door {
            wire: spec.wire,
            instance: spec.instance,
            counts: RefCell::default(),
            epoch: Cell::new(0),
            cut: RefCell::default(),
            swapped: Cell::new(None),
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
            rules: Rules::new(notices),
            doors: specs.iter().map(door).collect(),
            wakers: RefCell::default(),
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

    /// A link at this door runs; it is woken by what becomes of the door.
    pub(super) fn runs(&self, link: LinkId, waker: &Waker) {
        self.wakers.borrow_mut().insert(link, waker.clone());
    }

    pub(super) fn is_over(&self, link: LinkId) {
        self.wakers.borrow_mut().remove(&link);
    }

    pub(super) fn epoch(&self, door: usize) -> u32 {
        self.doors[door].epoch.get()
    }

    /// The partition that stands at this door.
    pub(super) fn cut(&self, door: usize) -> Option<Rc<CutOff>> {
        let cut = self.doors[door].cut.borrow();
        cut.as_ref().filter(|cut| !cut.is_healed()).cloned()
    }

    /// Cuts an instance, or all of them, off.
    pub(super) fn cut_off(&self, of: Partitioned, token: CancellationToken) {
        let cut = CutOff::begin(of, token, &self.rules, self.clock.now());
        let is_cut = |door: &&Door| {
            door.wire == of.wire && of.instance.is_none_or(|it| door.instance == Some(it))
        };
        for door in self.doors.iter().filter(is_cut) {
            *door.cut.borrow_mut() = Some(Rc::clone(&cut));
            door.epoch.set(door.epoch.get() + 1);
        }
        self.wake_all();
    }

    /// Tells what the partitions met that are healed, and forgets them.
    pub(super) fn sweep(&self) {
        for door in &self.doors {
            let healed = door.cut.borrow().as_ref().is_some_and(|cut| cut.is_healed());
            if healed && let Some(cut) = door.cut.borrow_mut().take() {
                cut.tell(&self.rules, self.clock.now());
            }
        }
        self.rules.sweep();
        self.wake_all();
    }

    /// The doors of a wire lead elsewhere from now on.
    pub(super) fn swap(&self, fault: FaultId, wire: Wire) {
        let (rules, now) = (&self.rules, self.clock.now());
        let number = rules.next_firing(fault);
        let fired =
            Firing { number, decided: now, step: None, instance: None, also_hit: Vec::new() };
        let facts = FaultFacts { fault, at: now, event: FaultEvent::Fired(fired) };
        rules.tell(Notice { facts, hold: None, lease: None, keys: Vec::new() });
        for door in self.doors.iter().filter(|door| door.wire == wire) {
            door.swapped.set(Some((fault, number)));
            door.epoch.set(door.epoch.get() + 1);
        }
        self.wake_all();
    }

    /// A link has reached its server.
    pub(super) fn has_connected(&self, door: usize) {
        let Some((fault, firing)) = self.doors[door].swapped.take() else { return };
        self.doors.iter().for_each(|door| {
            door.swapped.set(door.swapped.get().filter(|(other, _)| *other != fault));
        });
        let now = self.clock.now();
        self.rules.effect(fault, firing, now, Proof::Swapped { links: 1 });
        self.rules.ended(fault, firing, now, FiringEnd::AtOnce);
    }

    fn wake_all(&self) {
        self.wakers.borrow().values().for_each(Waker::wake_by_ref);
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
