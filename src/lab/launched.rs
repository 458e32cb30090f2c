//! Instances of the user's own service, each a command with a port of its own.
//!
//! They are started one after the other: the first one makes the schema alone, where the service
//! does that by itself, as in a rolling release. An instance is up when it listens on ITS port (rule
//! S16) and whoever drives the lab says that it is ready; how that is asked isn't known here.

use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::guard::{Guard, Kind, ProcessId};

use super::error::LabError;
use super::listeners::{self, Holder};
use super::logs;
use super::ports::on_free_port;
use super::running::Lab;
use super::server::{Server, Started};
use super::servers::Addresses;

const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// A port that was lost to somebody else shows as the instance's own end, mostly; so it is given
/// this long to say so before the stranger is blamed.
const STRANGER_LIMIT: Duration = Duration::from_secs(1);

/// A command to be launched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchSpec {
    /// Program and arguments. `{port}`, `{postgres.url}` and `{redis.url}` are filled in.
    pub command: Vec<String>,
    /// Beside our own environment; filled in likewise.
    pub env: Vec<(String, String)>,
    pub folder: PathBuf,
    /// The folder for target-0.log and so on.
    pub logs: PathBuf,
    /// How long an instance may take until it is ready.
    pub ready_within: Duration,
}

/// An instance of the user's service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchedInstance {
    /// `target-0`, `target-1`; its log has that name.
    pub name: String,
    pub address: SocketAddr,
    /// The command's process; the service may be one that came of it.
    pub process: ProcessId,
}

/// Which instance is launched, and where it finds the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchPlace {
    pub number: u16,
    pub servers: Addresses,
}

/// What an instance needs while it is started.
struct Launch<'a> {
    lab: &'a Lab,
    guard: &'a Guard,
    spec: &'a LaunchSpec,
    server: Server,
    servers: Addresses,
}

impl Lab {
    /// Launches an instance and waits until it listens and `ready` says so, or why not.
    ///
    /// # Errors
    /// [`LabError::Died`], [`LabError::NotUp`] and [`LabError::Stranger`], each with what is known.
    pub async fn launch<F, Fut>(
        &mut self,
        guard: &Guard,
        spec: &LaunchSpec,
        place: LaunchPlace,
        ready: F,
    ) -> Result<LaunchedInstance, LabError>
    where
        F: Fn(SocketAddr) -> Fut,
        Fut: Future<Output = Result<(), String>>,
    {
        let server = Server::Launched(place.number);
        let launch = Launch { lab: self, guard, spec, server, servers: place.servers };
        let (started, address) = on_free_port(|port| launch.on_port(port, &ready)).await?;
        let process = started.guarded.process;
        self.watch(started);
        Ok(LaunchedInstance { name: server.to_string(), address, process })
    }
}

impl Launch<'_> {
    async fn on_port<F, Fut>(&self, port: u16, ready: &F) -> Result<(Started, SocketAddr), LabError>
    where
        F: Fn(SocketAddr) -> Fut,
        Fut: Future<Output = Result<(), String>>,
    {
        let mut started = self.spawn(port)?;
        let process = started.guarded.process;
        let said = std::sync::Mutex::new(format!("it does not listen on port {port}"));
        let strange_since = std::sync::Mutex::new(None);
        let look = || async {
            sleep(LOOK_AGAIN).await;
            let say = |what| *said.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = what;
            match listeners::holder(port, process) {
                Holder::Nobody => None,
                Holder::Ours(address) => match ready(address).await {
                    Ok(()) => Some(Ok(address)),
                    Err(what) => {
                        say(what);
                        None
                    }
                },
                Holder::Stranger(holder) => {
                    let mut since =
                        strange_since.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    let since: Instant = *since.get_or_insert_with(Instant::now);
                    let what = self.server.to_string();
                    (since.elapsed() >= STRANGER_LIMIT).then_some(Err(LabError::Stranger {
                        what,
                        port,
                        holder,
                    }))
                }
            }
        };
        let waited = started.until_ready(self.spec.ready_within, look).await;
        match waited {
            Ok(found) => found.map(|address| (started, address)),
            Err(LabError::NotReady { what, limit, log, tail }) => {
                let said = said.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
                let said = format!("{said}{}", elsewhere(port, process));
                Err(LabError::NotUp { what, limit, said, log, tail })
            }
            Err(error) => Err(error),
        }
    }

    fn spawn(&self, port: u16) -> Result<Started, LabError> {
        let (log, file) = logs::create(&self.spec.logs, &self.server.to_string())?;
        let fill = |text: &str| self.fill(text, port);
        let mut words = self.spec.command.iter().map(|word| fill(word));
        let program = words.next().unwrap_or_default();
        let mut command = self
            .guard
            .command(Kind::Target, Path::new(&program))
            .folder(&self.spec.folder)
            .args(words)
            .stdout(file)
            .stderr(logs::append(&log)?);
        for (name, value) in &self.spec.env {
            command = command.env(name, fill(value));
        }
        let spawned = command.spawn();
        let guarded =
            spawned.map_err(|source| LabError::Guard { act: "launch the target", source })?;
        self.lab.own(guarded.process);
        Ok(Started { server: self.server, guarded, log })
    }

    /// Fills the holes; what was put in is not looked into.
    fn fill(&self, text: &str, port: u16) -> String {
        let port = port.to_string();
        let (postgres, redis) = (self.servers.postgres_url(), self.servers.redis_url());
        let holes =
            [("{port}", port.as_str()), ("{postgres.url}", &postgres), ("{redis.url}", &redis)];
        let mut out = String::new();
        let mut rest = text;
        let next = |rest: &str| {
            let found =
                holes.iter().filter_map(|(hole, value)| Some((rest.find(hole)?, hole, value)));
            found.min_by_key(|(at, ..)| *at).map(|(at, hole, value)| (at, hole.len(), *value))
        };
        while let Some((at, length, value)) = next(rest) {
            out.push_str(&rest[..at]);
            out.push_str(value);
            rest = &rest[at + length..];
        }
        out + rest
    }
}

/// Where it listens instead: the commonest reason why it isn't there.
fn elsewhere(port: u16, process: ProcessId) -> String {
    let ports = listeners::ports_of(process);
    if ports.is_empty() || ports.contains(&port) {
        return String::new();
    }
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    format!(
        ", but on {}: give it its port by `{{port}}` in the command or the environment",
        ports.join(", ")
    )
}
