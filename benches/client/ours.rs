//! Our client: a steady load that is due at once, so that its places in flight are a closed loop.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use dupeproof::history::{
    Clock, Fact, InstanceId, PhaseId, Recorder, RunFacts, RunId, SCHEMA_VERSION,
};
use dupeproof::load::{Load, LoadSettings, Progress, TargetInstance};
use dupeproof::profile::{
    Actor, BodyTemplate, Burst, ClientSettings, Contract, Products, Rate, Request, Retries,
    TextTemplate,
};
use tokio_util::sync::CancellationToken;

use crate::peers::Nginx;
use crate::ruler::{Cost, measure as on_the_ruler, pinned};

const REQUESTS: u32 = 200_000;
const CONNECTIONS: usize = 64;

/// Runs the load in a process of its own.
pub fn measure(nginx: &Nginx) -> Cost {
    on_the_ruler(&mut ours(nginx), |said| said.contains("done").then_some(u64::from(REQUESTS)))
        .unwrap()
}

/// Where the time goes.
pub fn details(nginx: &Nginx) -> String {
    let output = ours(nginx).output().unwrap();
    String::from_utf8(output.stdout).unwrap().replace("done\n", "")
}

fn ours(nginx: &Nginx) -> std::process::Command {
    let mut command = pinned(std::env::current_exe().unwrap());
    command.args(["--ours", &nginx.address.to_string()]);
    command
}

/// The child's part.
pub fn run(words: &[String]) {
    let address: SocketAddr = words[0].parse().unwrap();
    // The runtime of the program itself.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(steady(address));
}

async fn steady(address: SocketAddr) {
    let folder = tempfile::tempdir().unwrap();
    let (recorder, writer) = Recorder::create(&folder.path().join("journal.jsonl")).unwrap();
    let mut load = load(address, recorder).await;
    let per_second = 100_000_000;
    let lasts = Duration::from_secs_f64(f64::from(REQUESTS) / f64::from(per_second));
    let rate = Rate { per_second, lasts, duplicate_share: 0.0, quantity: 1, request: 0 };
    let stop = CancellationToken::new();
    let summary = load.run_phase(PhaseId(0), &Burst::Rate(rate), None, &stop).await.unwrap();
    assert_eq!(summary.tally.acknowledged, u64::from(REQUESTS));
    let threads = threads();
    drop(load);
    writer.seal().unwrap();
    println!("done");
    println!("where it goes, by thread (CPU seconds for 100,000)");
    for (name, seconds) in threads {
        println!("  {name:<16} {:.3}", seconds * 100_000.0 / f64::from(REQUESTS));
    }
}

/// A load that writes its journal, as in any run.
async fn load(address: SocketAddr, recorder: Recorder) -> Load {
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
    Load::new(LoadSettings {
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
    })
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
