//! Profiles built by hand, drills run in this process, and a look at what is left afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dupeproof::drill::{self, DrillError, Event, Order, Outcome, Watcher};
use dupeproof::guard::Guard;
use dupeproof::lab::{Lab, LabSpec};
use dupeproof::profile::{Attached, Launched, Postgres, Profile, Secret, Target, parse};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub const EXE: &str = env!("CARGO_BIN_EXE_dupeproof");

/// A small same-key burst; the target is put in by the tests.
const PROFILE: &str = r#"
[request.place]
post = "/orders"
headers = { Idempotency-Key = "{key}", X-User-Id = "{user}", Authorization = "Bearer ${TOKEN}" }
body = { productId = "{product}", quantity = "{quantity}" }
order-id = "/orderId"

[client]
timeout = "2s"
connect-timeout = "1s"
retries = { at-most = 1, first-wait = "20ms", longest-wait = "50ms" }

[contract]
recovery-limit = "1s"

[audit]
orders = { table = "orders", id = "order_id", user = "user_id", key = "idempotency_key" }

[[phase]]
name = "double click"
burst.same-key = { users = 4, threads = 5, release = "frozen" }
"#;

/// What every request of these profiles carries, and nobody may read anywhere.
pub const TOKEN: &str = "planted-s3cret-token";

/// The tables of a service that has none of its own.
pub const TABLES: &str = "CREATE TABLE orders (order_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY \
                          KEY, user_id text, idempotency_key text)";

pub fn profile(target: Target) -> Profile {
    profile_with(target, "")
}

/// The same with more sections.
pub fn profile_with(target: Target, sections: &str) -> Profile {
    let env = |name: &str| (name == "TOKEN").then(|| TOKEN.to_owned());
    let text = format!("{PROFILE}{sections}");
    let mut profile = parse(Path::new("orders.toml"), &text, &env).unwrap();
    profile.audit.stock = None;
    profile.target = target;
    profile
}

pub fn attached(url: &str, ready: Option<&str>) -> Target {
    Target::Attached(Attached { urls: vec![Secret::plain(url)], ready: ready.map(str::to_owned) })
}

/// A Python program as a target, one instance.
pub fn python(program: &str) -> Launched {
    Launched {
        command: ["python3", "-u", "-c", program, "{port}"].map(str::to_owned).to_vec(),
        instances: 1,
        env: Vec::new(),
        folder: Some("/".to_owned()),
        ready: Some("/ready".to_owned()),
        ready_within: Duration::from_secs(20),
        proxies: true,
    }
}

/// A drill in a results folder of its own.
pub struct Rig {
    pub results: TempDir,
    pub stop: CancellationToken,
    seen: Arc<Mutex<Vec<String>>>,
}

struct Seeing(Arc<Mutex<Vec<String>>>);

impl Watcher for Seeing {
    fn see(&self, event: Event) {
        self.0.lock().unwrap().push(format!("{event:?}"));
    }
}

impl Rig {
    pub fn new() -> Self {
        Self {
            results: tempfile::tempdir().unwrap(),
            stop: CancellationToken::new(),
            seen: Arc::default(),
        }
    }

    pub async fn drill(&self, profile: Profile) -> Result<Outcome, DrillError> {
        let order = Order {
            profile,
            exe: EXE.into(),
            results: self.results.path().to_owned(),
            stop: self.stop.clone(),
        };
        let drilled = drill::run(order, Arc::new(Seeing(Arc::clone(&self.seen)))).await;
        drilled.map_err(|broken| *broken.error)
    }

    /// All that a watcher was told.
    pub fn seen(&self) -> String {
        self.seen.lock().unwrap().join("\n")
    }

    /// Every file of all results folders, with its text.
    pub fn files(&self) -> Vec<(PathBuf, String)> {
        let mut files = Vec::new();
        let mut folders = vec![self.results.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                match entry.file_type().unwrap() {
                    kind if kind.is_dir() => folders.push(entry.path()),
                    kind if kind.is_file() => {
                        let bytes = fs::read(entry.path()).unwrap();
                        files.push((entry.path(), String::from_utf8_lossy(&bytes).into_owned()));
                    }
                    _ => {}
                }
            }
        }
        files
    }

    /// The text of the files with this name.
    pub fn text(&self, name: &str) -> String {
        let files = self.files();
        let found = files.iter().find(|(path, _)| path.ends_with(name));
        found.unwrap_or_else(|| panic!("no {name} in {files:?}")).1.clone()
    }
}

/// An error with everything behind it.
pub fn full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!("\nbecause: {cause}"));
        source = cause.source();
    }
    text
}

/// A PostgreSQL that stands for the user's own.
pub struct Database {
    pub url: String,
    /// Of the Redis beside it.
    pub redis_url: String,
    lab: Lab,
    guard: Guard,
    _logs: TempDir,
}

impl Database {
    pub async fn start() -> Self {
        let logs = tempfile::tempdir().unwrap();
        let guard = Guard::start(Path::new(EXE)).await.unwrap();
        let spec = LabSpec { instances: 0, ..LabSpec::new(logs.path().to_owned()) };
        let lab = Lab::start(spec, &guard).await.unwrap();
        Self {
            url: lab.postgres_url.clone(),
            redis_url: lab.redis_url.clone(),
            lab,
            guard,
            _logs: logs,
        }
    }

    pub fn as_profile(&self) -> Option<Postgres> {
        Some(Postgres { url: Secret::plain(&self.url), proxy: None })
    }

    /// The first column of the first row, as text.
    pub async fn ask(&self, query: &'static str) -> String {
        use sqlx::Connection;
        let mut connection = sqlx::PgConnection::connect(&self.url).await.unwrap();
        let answer: String = sqlx::query_scalar(query).fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        answer
    }

    pub async fn stop(self) {
        self.lab.stop().await.unwrap();
        self.guard.finish().await.unwrap();
    }
}

/// Processes whose command line or environment has this text. Ourselves are none of them.
pub fn processes_with(text: &str) -> Vec<u32> {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has = |pid: &u32| {
        ["cmdline", "environ"].iter().any(|file| {
            let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            bytes.windows(text.len()).any(|window| window == text.as_bytes())
        })
    };
    pids.filter(|pid| *pid != std::process::id()).filter(has).collect()
}

/// Waits until nothing with this text runs any more.
pub async fn until_gone(text: &str) {
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let left = processes_with(text);
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "still there: {left:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
