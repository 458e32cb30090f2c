//! The load of one run: its settings, and the numbers that run over all of its phases.
//!
//! Bursts and resolving borrow it mutably, so that they can't overlap: the numbers of bodies and
//! attempts are then right without any of them knowing of the others.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::history::{Clock, Intent, IntentId, Recorder, RunId};
use crate::profile::{Actor, ClientSettings, Contract, Products, Request};

use super::bodies::Bodies;
use super::cast::Cast;
use super::desk::{CONNECTS_IN_FLIGHT, Desk, REPLY_BYTES};
use super::dice::Dice;
use super::error::LoadError;
use super::files::Room;
use super::herald::Herald;
use super::http::ReplyBudget;
use super::letter::Letter;
use super::meanings::Meanings;
use super::progress::Progress;
use super::scribe::{Account, Scribe, Tally};
use super::session::Sessions;
use super::sketch::Parts;
use super::steady::Stream;
use super::target::TargetInstance;
use super::witness::Witness;

/// Requests of a steady load that are in flight at most, unless somebody says otherwise.
pub const MOST_IN_FLIGHT: usize = 512;

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
    /// Who sends them: pools of users and products, and how users log in.
    pub actor: Actor,
    /// Requests of a steady load that are in flight at most; [`MOST_IN_FLIGHT`] does for most.
    pub most_in_flight: usize,
    pub progress: Arc<Progress>,
}

/// The load of one run.
#[derive(Debug)]
pub struct Load {
    pub(super) settings: LoadSettings,
    pub(super) cast: Cast,
    pub(super) dice: Dice,
    pub(super) sessions: Sessions,
    pub(super) next_intent: u32,
    pub(super) first_product: u32,
    pub(super) next_attempt: Arc<AtomicU32>,
    pub(super) next_variant: u32,
    pub(super) meanings: Arc<Meanings>,
    pub(super) herald: Option<Arc<dyn Herald>>,
    pub(super) witness: Option<Arc<dyn Witness>>,
    /// Files that others in this process may open meanwhile.
    pub(super) files_of_others: u64,
    bodies: Arc<Mutex<Bodies>>,
    /// Intents without a definite outcome so far, with what asks for them.
    undecided: Vec<(Intent, Kept)>,
    acknowledged: BTreeSet<Arc<str>>,
    longest_handling: Duration,
}

/// What an intent can be asked for again with.
#[derive(Clone, Debug)]
pub(super) enum Kept {
    Letter(Arc<Letter>),
    Stream(Arc<Stream>),
}

impl Kept {
    /// The original bytes.
    pub fn letter(&self, intent: &Intent) -> Result<Arc<Letter>, LoadError> {
        match self {
            Self::Letter(letter) => Ok(Arc::clone(letter)),
            Self::Stream(stream) => stream.letter(intent).map(Arc::new),
        }
    }
}

impl Load {
    pub fn new(settings: LoadSettings) -> Self {
        Self {
            cast: Cast::new(settings.run, &settings.actor, &settings.contract.key),
            dice: Dice::new(settings.seed, settings.run),
            meanings: Arc::new(Meanings::of(&settings.contract)),
            settings,
            sessions: Sessions::new(),
            next_intent: 0,
            first_product: 0,
            next_attempt: Arc::default(),
            next_variant: 0,
            herald: None,
            witness: None,
            files_of_others: 0,
            bodies: Arc::default(),
            undecided: Vec::new(),
            acknowledged: BTreeSet::new(),
            longest_handling: Duration::ZERO,
        }
    }

    /// The same, which tells of its intents before anything of them leaves.
    #[must_use]
    pub fn heralded_by(self, herald: Arc<dyn Herald>) -> Self {
        Self { herald: Some(herald), ..self }
    }

    /// The same, which tells of its attempts while they last.
    #[must_use]
    pub fn witnessed_by(self, witness: Arc<dyn Witness>) -> Self {
        Self { witness: Some(witness), ..self }
    }

    /// The same, which leaves others in this process so many files to open.
    #[must_use]
    pub fn leaving_files(self, files_of_others: u64) -> Self {
        Self { files_of_others, ..self }
    }

    /// From now on buyers are dealt the products from this index on. A product that only a few
    /// intents have had tells whose step is done to it.
    pub const fn deal_from(&mut self, product: u32) {
        self.first_product = product;
    }

    /// Intents of all phases so far that no attempt has brought a definite outcome for, and that it
    /// makes sense to ask for again.
    pub fn undecided(&self) -> Vec<Intent> {
        self.undecided.iter().map(|(intent, _)| intent.clone()).collect()
    }

    /// Order ids that bursts have been told so far. Those of a steady load aren't kept: the run's
    /// users and keys lead to its rows.
    pub fn acknowledged(&self) -> impl Iterator<Item = String> {
        self.acknowledged.iter().map(ToString::to_string)
    }

    /// The longest time from an attempt's release to its end so far, time-outs included.
    pub const fn longest_handling(&self) -> Duration {
        self.longest_handling
    }

    /// Remembers intents until they are decided.
    pub(super) fn remember(&mut self, intents: impl IntoIterator<Item = (Intent, Kept)>) {
        self.undecided.extend(intents);
    }

    /// Takes over what a scribe remembers of the attempts that it wrote down.
    pub(super) fn book(&mut self, account: &Account) -> Tally {
        self.undecided.retain(|(intent, _)| !account.decided.contains(intent.id));
        self.acknowledged.extend(account.acknowledged.iter().cloned());
        self.longest_handling = self.longest_handling.max(account.longest);
        account.tally
    }

    /// What an undecided intent can be asked for again with.
    pub(super) fn kept(&self, intent: IntentId) -> Option<Kept> {
        let at = self.undecided.binary_search_by_key(&intent, |(intent, _)| intent.id).ok()?;
        Some(self.undecided[at].1.clone())
    }

    pub(super) fn targets(&self) -> &[TargetInstance] {
        &self.settings.targets
    }

    pub(super) fn request(&self, index: usize) -> Result<&Request, LoadError> {
        self.settings.requests.get(index).ok_or(LoadError::NoRequest { index })
    }

    /// What phases are sketched from.
    pub(super) fn parts(&self) -> Parts<'_> {
        Parts {
            seed: self.settings.seed,
            products: self.settings.products,
            first_product: self.first_product,
            contract: &self.settings.contract,
            requests: &self.settings.requests,
        }
    }

    /// Sets up what the clients share; names are looked up here.
    pub(super) async fn desk(
        &self,
        room: Room,
        stop: &CancellationToken,
        stream: Option<Arc<Stream>>,
    ) -> (Arc<Desk>, Scribe) {
        let settings = &self.settings;
        let mut peers = Vec::with_capacity(settings.targets.len());
        for target in &settings.targets {
            peers.push(target.resolve(settings.client.connect_timeout).await);
        }
        let bodies = Arc::clone(&self.bodies);
        let (scribe, ended) = Scribe::start(settings.recorder.clone(), bodies, stream);
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
            meanings: Arc::clone(&self.meanings),
            progress: Arc::clone(&settings.progress),
            stop: stop.clone(),
            room,
            ended,
            witness: self.witness.clone(),
        };
        (Arc::new(desk), scribe)
    }
}
