//! Our client: a steady load that is due at once, so that its places in flight are a closed loop.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use dupeproof::history::{
    Clock, Fact, History, InstanceId, JournalWriter, Outcome, PhaseId, Recorder, RunFacts, RunId,
    RunTime, SCHEMA_VERSION,
};
use dupeproof::load::{Load, LoadSettings, Progress, TargetInstance};
use dupeproof::profile::{
    Actor, Arrival, BodyTemplate, Burst, ClientSettings, Contract, Crowd, Products, Rate, Release,
    Request, Retries, TextTemplate,
};
use tokio_util::sync::CancellationToken;

use crate::peers::Nginx;
use crate::ruler::{Cost, measure as on_the_ruler, pinned};

const REQUESTS: u32 = 200_000;
const CONNECTIONS: usize = 64;

/// Runs the load in a process of its own.
pub fn measure(nginx: &Nginx) -> Cost {
    let mut command = pinned(std::env::current_exe().unwrap());
    command.args(["--ours", "steady", &nginx.address.to_string()]);
    on_the_ruler(&mut command, |said| said.contains("done").then_some(u64::from(REQUESTS))).unwrap()
}

/// Where the time goes, and how exact a burst is.
pub fn details(nginx: &Nginx) -> String {
    let run = |what: &str| {
        let mut command = pinned(std::env::current_exe().unwrap());
        command.args(["--ours", what, &nginx.address.to_string()]);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let steady = run("steady").replace("done\n", "");
    format!("{steady}{}", run("burst"))
}

/// The child's part.
pub fn run(words: &[String]) {
    let address: SocketAddr = words[1].parse().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        match words[0].as_str() {
            "steady" => steady(address).await,
            _ => burst(address).await,
        }
    });
}

async fn steady(address: SocketAddr) {
    let mut load = Ours::at(address).await;
    let per_second = 100_000_000;
    let lasts = Duration::from_secs_f64(f64::from(REQUESTS) / f64::from(per_second));
    let rate = Rate { per_second, lasts, duplicate_share: 0.0, quantity: 1, request: 0 };
    let threads = load.play(Burst::Rate(rate)).await;
    println!("done");
    println!("where it goes, by thread (CPU seconds for 100,000)");
    for (name, seconds) in threads {
        println!("  {name:<16} {:.3}", seconds * 100_000.0 / f64::from(REQUESTS));
    }
}

async fn burst(address: SocketAddr) {
    let mut load = Ours::at(address).await;
    let crowd = Crowd {
        users: 200,
        threads: 20,
        quantity: 1,
        request: 0,
        release: Release::Loop,
        arrival: Arrival::AtOnce,
        overlap_share: 0.5,
    };
    load.play(Burst::SameKey(crowd)).await;
    let history = load.history();
    let facts = &history.bursts[0];
    println!("a burst of 200 keys x 20 from a loop");
    println!("  connected in         {} ms", facts.connecting_us / 1_000);
    println!("  twenty sends cost    {} us", facts.twenty_sends_us);
    println!(
        "  spread of a key      {} us at the median, {} us at worst",
        facts.spread_median_us, facts.spread_worst_us
    );
    let mut overlaps = overlaps(&history);
    overlaps.sort_unstable();
    println!(
        "  offered overlap      {} of 20 at the median, {} at worst",
        overlaps[overlaps.len() / 2],
        overlaps[0]
    );
}

/// How many attempts of each key had left before its first answer.
fn overlaps(history: &History) -> Vec<usize> {
    let mut keys: BTreeMap<_, (RunTime, Vec<RunTime>)> = BTreeMap::new();
    for one in &history.attempts {
        let key = keys.entry(one.intent).or_insert((RunTime(u64::MAX), Vec::new()));
        key.1.extend(one.released);
        key.0 = key.0.min(one.completed.unwrap_or(RunTime(u64::MAX)));
    }
    let before = |(first, left): &(RunTime, Vec<RunTime>)| {
        left.iter().filter(|&&left| left < *first).count()
    };
    keys.values().map(before).collect()
}

struct Ours {
    load: Option<Load>,
    writer: Option<JournalWriter>,
    folder: tempfile::TempDir,
}

impl Ours {
    async fn at(address: SocketAddr) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (recorder, writer) = Recorder::create(&folder.path().join("journal.jsonl")).unwrap();
        let (run, clock) = (RunId::fresh(), Clock::start());
        let facts = RunFacts {
            schema_version: SCHEMA_VERSION,
            run,
            seed: 42,
            version: "bench".to_owned(),
            profile: "bench".to_owned(),
            started: clock.wall_started(),
            defects: Vec::new(),
            environment: BTreeMap::new(),
        };
        recorder.record(Fact::Run(Box::new(facts))).await;
        let load = Load::new(LoadSettings {
            run,
            seed: 42,
            clock,
            recorder,
            targets: vec![TargetInstance::plain(InstanceId(0), address)],
            client: client(),
            contract: Contract::order_strict(),
            requests: vec![request()],
            products: Products { count: 3, stock: 100 },
            actor: Actor::default(),
            most_in_flight: CONNECTIONS,
            progress: Arc::new(Progress::default()),
        });
        Self { load: Some(load), writer: Some(writer), folder }
    }

    /// Plays a phase to the sealed journal; what each thread had used before it ended.
    async fn play(&mut self, burst: Burst) -> Vec<(String, f64)> {
        let mut load = self.load.take().unwrap();
        let stop = CancellationToken::new();
        let summary = load.run_phase(PhaseId(0), &burst, None, &stop).await.unwrap();
        assert_eq!(summary.tally.acknowledged, summary.planned);
        let threads = threads();
        drop(load);
        self.writer.take().unwrap().seal().unwrap();
        threads
    }

    fn history(&self) -> History {
        let history = History::read(&self.folder.path().join("journal.jsonl")).unwrap();
        assert!(history.attempts.iter().all(|one| one.outcome == Outcome::Acknowledged));
        history
    }
}

/// CPU seconds of each thread of this process that is alive.
fn threads() -> Vec<(String, f64)> {
    let mut threads: BTreeMap<String, f64> = BTreeMap::new();
    for task in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
        let read = |file: &str| std::fs::read_to_string(task.path().join(file)).unwrap();
        let nanos: f64 = read("schedstat").split(' ').next().unwrap().parse().unwrap();
        *threads.entry(read("comm").trim().to_owned()).or_default() += nanos / 1e9;
    }
    threads.into_iter().collect()
}

fn client() -> ClientSettings {
    ClientSettings {
        timeout: Duration::from_secs(600),
        connect_timeout: Duration::from_secs(10),
        longest_reply: 64 * 1024,
        retries: Retries {
            at_most: 0,
            first_wait: Duration::from_millis(100),
            longest_wait: Duration::from_secs(2),
        },
    }
}

fn request() -> Request {
    let text = |template: &str| TextTemplate::parse(template).unwrap();
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
        ])),
        order_id: "/orderId".to_owned(),
        ignored: Vec::new(),
        mutate: Vec::new(),
        defaults: Vec::new(),
        number_forms: false,
    }
}
