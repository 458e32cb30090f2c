//! What is measured: loads of pgbench and redis-benchmark.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::peers::Way;

/// The programs that this bench needs.
pub struct Tools {
    pub pgbench: PathBuf,
    pub redis_benchmark: PathBuf,
    pub haproxy: PathBuf,
}

impl Tools {
    /// What is missing is told with its package.
    pub fn find() -> Result<Self, String> {
        let or = |program: &str, package: &str| {
            find(program).ok_or_else(|| format!("{program}: apt-get install {package}"))
        };
        Ok(Self {
            pgbench: or("pgbench", "postgresql")?,
            redis_benchmark: or("redis-benchmark", "redis-tools")?,
            haproxy: or("haproxy", "haproxy")?,
        })
    }
}

/// A program on the path, or where packages put such things.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    folders.extend(versions.map(|version| version.path().join("bin")));
    folders.into_iter().map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// One load; each takes about a second, since many short rounds say more than few long ones.
pub struct Case {
    pub name: &'static str,
    load: Load,
}

enum Load {
    /// `pgbench -S`, transactions of each client.
    Pgbench { mode: &'static str, clients: u32, each: u32 },
    /// `redis-benchmark -t get`, requests in all.
    Redis { clients: u32, pipeline: u32, requests: u32 },
}

pub const CASES: [Case; 8] = [
    pgbench("pg simple, 1 client", "simple", 1, 10_000),
    pgbench("pg simple, 16 clients", "simple", 16, 1_600),
    pgbench("pg prepared, 1 client", "prepared", 1, 13_000),
    pgbench("pg prepared, 16 clients", "prepared", 16, 2_300),
    redis("redis, 1 client", 1, 1, 25_000),
    redis("redis, 50 clients", 50, 1, 60_000),
    redis("redis, 50 x 16 pipelined", 50, 16, 800_000),
    redis("redis, 1 x 16 pipelined", 1, 16, 250_000),
];

const fn pgbench(name: &'static str, mode: &'static str, clients: u32, each: u32) -> Case {
    Case { name, load: Load::Pgbench { mode, clients, each } }
}

const fn redis(name: &'static str, clients: u32, pipeline: u32, requests: u32) -> Case {
    Case { name, load: Load::Redis { clients, pipeline, requests } }
}

/// What one run of a case came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    pub per_second: f64,
    exchanges: f64,
    /// Of the proxy's process.
    seconds: f64,
}

impl Run {
    /// CPU seconds of the proxy for 100,000 exchanges.
    pub fn cpu(&self) -> f64 {
        self.seconds * 100_000.0 / self.exchanges
    }
}

impl Case {
    pub fn run(&self, tools: &Tools, way: &Way) -> Run {
        let before = way.cpu_seconds();
        let (exchanges, per_second) = match self.load {
            Load::Pgbench { mode, clients, each } => {
                let mut command = Command::new(&tools.pgbench);
                command.args(["-h", "127.0.0.1", "-U", "postgres", "-n", "-S", "-M", mode]);
                command.args(["-p", &way.postgres.to_string(), "-c", &clients.to_string()]);
                let said = said_by(command.args(["-t", &each.to_string(), "postgres"]));
                (clients * each, rate_of_pgbench(&said).unwrap_or_else(|| panic!("{said}")))
            }
            Load::Redis { clients, pipeline, requests } => {
                let mut command = Command::new(&tools.redis_benchmark);
                command.args(["-t", "get", "--csv", "-p", &way.redis.to_string()]);
                command.args(["-c", &clients.to_string(), "-P", &pipeline.to_string()]);
                let said = said_by(command.args(["-n", &requests.to_string()]));
                (requests, rate_of_redis(&said).unwrap_or_else(|| panic!("{said}")))
            }
        };
        Run { per_second, exchanges: exchanges.into(), seconds: way.cpu_seconds() - before }
    }
}

/// Makes the table that `pgbench -S` reads.
pub fn fill(pgbench: &Path, port: u16) {
    let mut command = Command::new(pgbench);
    command.args(["-h", "127.0.0.1", "-U", "postgres", "-i", "-q", "-p", &port.to_string()]);
    said_by(command.arg("postgres"));
}

fn said_by(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed: {said}{complaint}");
    said
}

/// `tps = 12194.1 (without initial connection time)`.
fn rate_of_pgbench(said: &str) -> Option<f64> {
    let rate = said.lines().find_map(|line| line.strip_prefix("tps = "))?;
    rate.split(' ').next()?.parse().ok()
}

/// `"GET","57720.0","0.5",...`.
fn rate_of_redis(said: &str) -> Option<f64> {
    let row = said.lines().find_map(|line| line.strip_prefix("\"GET\",\""))?;
    row.split('"').next()?.parse().ok()
}
