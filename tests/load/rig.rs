//! A load with a journal of its own, and a burst for it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dupeproof::history::{
    Attempt, Clock, Fact, History, InstanceId, Intent, IntentId, JournalWriter, PhaseId, Recorder,
    RunFacts, RunId, SCHEMA_VERSION,
};
use dupeproof::load::{
    self, Freezer, Load, LoadSettings, PhaseSummary, Planned, Progress, TargetInstance,
};
use dupeproof::profile::{
    Actor, BodyTemplate, Burst, ClientSettings, Contract, Crowd, Products, Release, Request,
    Retries, TextTemplate,
};
use tokio_util::sync::CancellationToken;

pub fn text(template: &str) -> TextTemplate {
    TextTemplate::parse(template).unwrap()
}

/// `POST /orders` as the default contract has it.
pub fn request() -> Request {
    let field = |name: &str, template| (name.to_owned(), BodyTemplate::Text(text(template)));
    Request {
        name: "place".to_owned(),
        method: "POST",
        path: text("/orders"),
        headers: vec![
            ("Idempotency-Key".to_owned(), text("{key}")),
            ("X-User-Id".to_owned(), text("{user}")),
        ],
        body: Some(BodyTemplate::Object(vec![
            field("userId", "{user}"),
            field("productId", "{product}"),
            field("quantity", "{quantity}"),
            field("traceId", "{uuid}"),
        ])),
        order_id: "/orderId".to_owned(),
        ignored: vec!["/traceId".to_owned()],
        mutate: Vec::new(),
        defaults: Vec::new(),
        number_forms: false,
    }
}

pub fn client() -> ClientSettings {
    ClientSettings {
        timeout: Duration::from_secs(20),
        connect_timeout: Duration::from_secs(10),
        longest_reply: 64 * 1024,
        retries: Retries {
            at_most: 0,
            first_wait: Duration::from_millis(2),
            longest_wait: Duration::from_millis(20),
        },
    }
}

/// A patience for replies that never come.
pub fn hasty() -> ClientSettings {
    ClientSettings { timeout: Duration::from_millis(300), ..client() }
}

pub fn burst(users: u32, threads: u32) -> Crowd {
    let release = Release::Loop;
    Crowd {
        arrival: dupeproof::profile::Arrival::AtOnce,
        users,
        threads,
        quantity: 1,
        request: 0,
        release,
        overlap_share: 0.5,
    }
}

const PRODUCTS: Products = Products { count: 3, stock: 100 };

/// What a rig is made from.
pub struct Setup {
    pub targets: Vec<TargetInstance>,
    pub client: ClientSettings,
    pub run: RunId,
    pub contract: Contract,
    pub requests: Vec<Request>,
    pub actor: Actor,
    pub most_in_flight: usize,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            targets: Vec::new(),
            client: client(),
            run: RunId::fresh(),
            contract: Contract::order_strict(),
            requests: vec![request()],
            actor: Actor::default(),
            most_in_flight: load::MOST_IN_FLIGHT,
        }
    }
}

/// A load at work.
pub struct Rig {
    pub load: Load,
    pub progress: Arc<Progress>,
    pub stop: CancellationToken,
    pub clock: Clock,
    parts: (Contract, Vec<Request>),
    folder: tempfile::TempDir,
    writer: JournalWriter,
    phases: u16,
}

impl Rig {
    pub async fn new(targets: Vec<TargetInstance>, client: ClientSettings) -> Self {
        Self::with(targets, client, RunId::fresh()).await
    }

    pub async fn with(targets: Vec<TargetInstance>, client: ClientSettings, run: RunId) -> Self {
        Self::set_up(Setup { targets, client, run, ..Setup::default() }).await
    }

    pub async fn set_up(setup: Setup) -> Self {
        let Setup { targets, client, run, contract, requests, actor, most_in_flight } = setup;
        let parts = (contract.clone(), requests.clone());
        let folder = tempfile::tempdir().unwrap();
        let (recorder, writer) = Recorder::create(&folder.path().join("journal.jsonl")).unwrap();
        let clock = Clock::start();
        let facts = RunFacts {
            schema_version: SCHEMA_VERSION,
            run,
            seed: 42,
            version: "test".to_owned(),
            profile: "test".to_owned(),
            started: clock.wall_started(),
            defects: Vec::new(),
            environment: BTreeMap::new(),
        };
        recorder.record(Fact::Run(Box::new(facts))).await;
        let progress = Arc::new(Progress::default());
        let load = Load::new(LoadSettings {
            run,
            seed: 42,
            clock,
            recorder,
            targets,
            client,
            contract,
            requests,
            products: PRODUCTS,
            actor,
            most_in_flight,
            progress: Arc::clone(&progress),
        });
        let stop = CancellationToken::new();
        Self { load, progress, stop, clock, parts, folder, writer, phases: 0 }
    }

    pub async fn run(&mut self, burst: &Crowd) -> PhaseSummary {
        self.run_with(burst, None).await
    }

    pub async fn run_with(
        &mut self,
        burst: &Crowd,
        freezer: Option<Arc<dyn Freezer>>,
    ) -> PhaseSummary {
        let burst = Burst::SameKey(burst.clone());
        self.phase(&burst, freezer).await.unwrap()
    }

    /// Runs a phase of any kind; what was announced must be what was planned.
    pub async fn play(&mut self, burst: &Burst) -> PhaseSummary {
        let planned = self.planned(burst);
        let summary = self.phase(burst, None).await.unwrap();
        assert_eq!(summary.planned, planned.attempts);
        summary
    }

    pub async fn phase(
        &mut self,
        burst: &Burst,
        freezer: Option<Arc<dyn Freezer>>,
    ) -> Result<PhaseSummary, load::LoadError> {
        let phase = PhaseId(self.phases);
        self.phases += 1;
        self.load.run_phase(phase, burst, freezer, &self.stop).await
    }

    /// What the next phase would need and do.
    pub fn planned(&self, burst: &Burst) -> Planned {
        let (contract, requests) = &self.parts;
        let parts =
            load::Parts { seed: 42, products: PRODUCTS, first_product: 0, contract, requests };
        load::planned(PhaseId(self.phases), burst, parts).unwrap()
    }

    /// The run's intents, as soon as the journal holds all `count` of them.
    pub fn intents(&self, count: usize) -> Vec<Intent> {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let written = History::read(&self.folder.path().join("journal.jsonl"));
            match written {
                Ok(history) if history.intents.len() == count => return history.intents,
                _ => assert!(Instant::now() < deadline, "the journal does not get there"),
            }
        }
    }

    /// What stands in the journal; the load is over.
    pub fn history(self) -> History {
        drop(self.load);
        self.writer.seal().unwrap();
        let history = History::read(&self.folder.path().join("journal.jsonl")).unwrap();
        assert!(history.sealed);
        history
    }
}

/// Plain targets at these addresses.
pub fn targets(addresses: &[std::net::SocketAddr]) -> Vec<TargetInstance> {
    (0..)
        .zip(addresses)
        .map(|(id, &address)| TargetInstance::plain(InstanceId(id), address))
        .collect()
}

/// The attempts of each intent.
pub fn by_intent(history: &History) -> BTreeMap<IntentId, Vec<&Attempt>> {
    let mut intents: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for attempt in &history.attempts {
        intents.entry(attempt.intent).or_default().push(attempt);
    }
    intents
}

/// The one attempt of a history, as one client sees one server.
pub async fn single(target: TargetInstance, client: ClientSettings) -> (Attempt, History) {
    let mut rig = Rig::new(vec![target], client).await;
    rig.run(&burst(1, 1)).await;
    let history = rig.history();
    assert_eq!(history.attempts.len(), 1);
    (history.attempts[0].clone(), history)
}
