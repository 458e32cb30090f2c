//! Applications, each with a driver of its own: here, or in a process of its own.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use tokio::process::Command;
use tokio::runtime::Builder;
use tokio::task::JoinHandle;

use super::{redis_rs, sqlx, tokio_postgres};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    Sqlx,
    TokioPostgres,
    Psycopg,
    Asyncpg,
    NodePg,
    RedisPy,
    Ioredis,
    Multiplexed,
    ConnectionManager,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Plain,
    /// Statements are sent together.
    Pipeline,
    /// Nobody listens to the errors of connections.
    Deaf,
}

/// Through what it asks, and for what.
#[derive(Clone, Debug)]
pub struct Scene {
    pub port: u16,
    pub key: String,
    pub way: Way,
    pub patience: Option<Duration>,
}

/// What an application was told.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    pub driver: String,
    pub version: String,
    /// What each attempt came to.
    pub attempts: Vec<String>,
    /// The same of what was asked of the pool afterwards.
    pub after: Vec<String>,
}

/// What it printed, or why it ended without that.
pub type Running = JoinHandle<Result<Told, String>>;

impl Driver {
    pub fn start(self, scene: Scene) -> Running {
        match self {
            Self::Sqlx => here(|| sqlx::orders(scene)),
            Self::TokioPostgres => here(|| tokio_postgres::orders(scene)),
            Self::Multiplexed => here(|| redis_rs::multiplexed(scene)),
            Self::ConnectionManager => here(|| redis_rs::managed(scene)),
            Self::Psycopg => tokio::spawn(run(python("psycopg_orders.py"), scene)),
            Self::Asyncpg => tokio::spawn(run(python("asyncpg_orders.py"), scene)),
            Self::RedisPy => tokio::spawn(run(python("redis_unlocks.py"), scene)),
            Self::NodePg => tokio::spawn(run(node("postgres_orders.js"), scene)),
            Self::Ioredis => tokio::spawn(run(node("redis_unlocks.js"), scene)),
        }
    }
}

/// On a thread and a runtime of its own, as a process would be.
fn here<F: Future<Output = Told>>(scene: impl FnOnce() -> F + Send + 'static) -> Running {
    tokio::task::spawn_blocking(|| {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        Ok(runtime.block_on(scene()))
    })
}

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name)
}

/// With the packages of the environment that `make drivers` has made.
fn python(name: &str) -> Command {
    let python = std::env::var("PYTHON").expect("PYTHON: one that has the packages");
    let mut command = Command::new(python);
    command.arg(program(name));
    command
}

fn node(name: &str) -> Command {
    assert!(std::env::var("NODE_PACKAGES").is_ok(), "NODE_PACKAGES: the folder that has them");
    let mut command = Command::new("node");
    command.arg(program(name));
    command
}

async fn run(mut command: Command, scene: Scene) -> Result<Told, String> {
    let port = scene.port.to_string();
    command.env("PGHOST", "127.0.0.1").env("PGUSER", "postgres").env("PGDATABASE", "postgres");
    command.env("PGPORT", &port).env("REDIS_PORT", &port).env("KEY", &scene.key);
    match scene.way {
        Way::Plain => {}
        Way::Pipeline => drop(command.env("WAY", "pipeline")),
        Way::Deaf => drop(command.env("WAY", "deaf")),
    }
    if let Some(patience) = scene.patience {
        command.env("PATIENCE", patience.as_secs_f64().to_string());
    }
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = command.output().await.unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{}: {complaints}", output.status));
    }
    let line = String::from_utf8_lossy(&output.stdout);
    Ok(serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}\n{complaints}")))
}

/// Attempts until one is certain, and what they came to. What can be repeated at once has been.
pub async fn until_certain(mut attempt: impl AsyncFnMut() -> Vec<String>) -> Vec<String> {
    let mut attempts = Vec::new();
    let all = async {
        loop {
            attempts.extend(attempt().await);
            if matches!(attempts.last().map(String::as_str), Some("placed" | "23505" | "0" | "1")) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let _ = tokio::time::timeout(crate::ends::LIMIT, all).await;
    attempts
}
