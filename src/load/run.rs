//! The load of one run: its settings, and the numbers that run over all of its phases.
//!
//! Bursts and resolving borrow it mutably, so that they can't overlap: the numbers of bodies and
//! attempts are then right without any of them knowing of the others.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::history::{Clock, Intent, PhaseId, Recorder, RunId};
use crate::profile::{ClientSettings, Contract, Products, Request, SameKey};

use super::bodies::Bodies;
use super::desk::{CONNECTS_IN_FLIGHT, Desk, REPLY_BYTES};
use super::dice::Dice;
use super::error::LoadError;
use super::files::Room;
use super::http::ReplyBudget;
use super::plan::{self, Ground, Plan};
use super::progress::Progress;
use super::scribe::{Account, Scribe, Tally};
use super::target::TargetInstance;

/// What a load needs to know of its run.
#[derive(Clone, Debug)]
pub struct LoadSettings {
    pub run: RunId,
    pub seed: u64,
    pub clock: Clock,
    pub recorder: Recorder,
    /// In the order of their ids.
    pub targets: Vec<TargetInstance>,
    pub client: ClientSettings,
    pub contract: Contract,
    /// As in the profile; a burst names one by its place.
    pub requests: Vec<Request>,
    pub products: Products,
    pub progress: Arc<Progress>,
}

/// The load of one run.
#[derive(Debug)]
pub struct Load {
    pub(super) settings: LoadSettings,
    dice: Dice,
    bodies: Arc<Mutex<Bodies>>,
    next_intent: u32,
    next_attempt: Arc<AtomicU32>,
    /// Which request a phase sent.
    sent: HashMap<PhaseId, usize>,
    /// Intents without a definite outcome so far.
    undecided: Vec<Intent>,
    longest_handling: Duration,
}

impl Load {
    pub fn new(settings: LoadSettings) -> Self {
        Self {
            dice: Dice::new(settings.seed, settings.run),
            settings,
            bodies: Arc::default(),
            next_intent: 0,
            next_attempt: Arc::default(),
            sent: HashMap::new(),
            undecided: Vec::new(),
            longest_handling: Duration::ZERO,
        }
    }

    /// Intents of all bursts so far that no attempt has brought a definite outcome for.
    pub fn undecided(&self) -> Vec<Intent> {
        self.undecided.clone()
    }

    /// The longest time from an attempt's release to its end so far, time-outs included.
    pub const fn longest_handling(&self) -> Duration {
        self.longest_handling
    }

    /// Takes over what a scribe remembers, after it has written down attempts of these new intents
    /// or of those that were undecided before.
    pub(super) fn book(&mut self, intents: &[Intent], account: &Account) -> Tally {
        self.undecided.extend_from_slice(intents);
        self.undecided.retain(|intent| !account.decided.contains(&intent.id));
        self.longest_handling = self.longest_handling.max(account.longest);
        account.tally
    }

    pub(super) fn targets(&self) -> &[TargetInstance] {
        &self.settings.targets
    }

    pub(super) fn request(&self, index: usize) -> Result<&Request, LoadError> {
        self.settings.requests.get(index).ok_or(LoadError::NoRequest { index })
    }

    /// The place of the request that a phase sent; the first one for a phase that sent none.
    pub(super) fn request_of(&self, phase: PhaseId) -> usize {
        self.sent.get(&phase).copied().unwrap_or(0)
    }

    /// Plans a burst and takes its numbers.
    pub(super) fn plan(&mut self, phase: PhaseId, burst: &SameKey) -> Result<Plan, LoadError> {
        let ground = Ground {
            run: self.settings.run,
            phase,
            products: self.settings.products,
            dice: &self.dice,
            targets: &self.settings.targets,
            first_intent: self.next_intent,
            first_attempt: self.next_attempt.load(Ordering::Relaxed),
        };
        let plan = plan::same_key(&ground, burst, self.request(burst.request)?)?;
        self.next_intent += plan.intents.len() as u32;
        self.next_attempt.fetch_add(plan.attempts.len() as u32, Ordering::Relaxed);
        self.sent.insert(phase, burst.request);
        Ok(plan)
    }

    /// Sets up what the clients share; names are looked up here.
    pub(super) async fn desk(&self, room: Room, stop: &CancellationToken) -> (Arc<Desk>, Scribe) {
        let settings = &self.settings;
        let mut peers = Vec::with_capacity(settings.targets.len());
        for target in &settings.targets {
            peers.push(target.resolve(settings.client.connect_timeout).await);
        }
        let (scribe, ended) = Scribe::start(settings.recorder.clone(), Arc::clone(&self.bodies));
        let desk = Desk {
            clock: settings.clock,
            client: settings.client,
            contract: settings.contract.clone(),
            requests: settings.requests.clone(),
            peers,
            dice: self.dice.clone(),
            budget: ReplyBudget::new(REPLY_BYTES),
            connects: Semaphore::new(CONNECTS_IN_FLIGHT),
            next_attempt: Arc::clone(&self.next_attempt),
            progress: Arc::clone(&settings.progress),
            stop: stop.clone(),
            room,
            ended,
        };
        (Arc::new(desk), scribe)
    }
}
