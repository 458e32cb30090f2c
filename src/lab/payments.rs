//! The payment provider stub, a process like the instances that pay through it.
//!
//! Its ledger is a file beside the servers' logs: the evidence of what was charged outlives it.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::guard::{Kind, ProcessId};

use super::error::LabError;
use super::logs;
use super::server::{Server, Started};
use super::site::Site;

const READY_LIMIT: Duration = Duration::from_secs(20);

/// How the provider is started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PaymentsSpec {
    /// Flags such as `--drop-share=0.2`.
    pub flags: Vec<String>,
}

/// A provider that takes charges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payments {
    pub address: SocketAddr,
    /// Where the next charges can be ordered to fail.
    pub control: SocketAddr,
    pub process: ProcessId,
    /// Its requests and effects, one JSON line each.
    pub ledger: PathBuf,
}

/// The provider's first line.
#[derive(Debug, Deserialize)]
struct Greeting {
    listening: SocketAddr,
    control: SocketAddr,
}

impl Payments {
    pub fn url(&self) -> String {
        url(self.address)
    }
}

pub(super) fn url(address: SocketAddr) -> String {
    format!("http://{address}")
}

pub(super) async fn start(
    site: &Site<'_>,
    spec: &PaymentsSpec,
) -> Result<(Started, Payments), LabError> {
    let (log, file) = logs::create(&site.spec.logs, &Server::Payments.to_string())?;
    let ledger = site.spec.logs.join("payments.jsonl");
    // Another lab's ledger is another lab's evidence.
    fs::write(&ledger, "").map_err(|source| LabError::File {
        act: "write the ledger",
        path: ledger.clone(),
        source,
    })?;
    // The process works in `/`.
    let ledger = ledger.canonicalize().map_err(|source| LabError::File {
        act: "find the ledger",
        path: ledger.clone(),
        source,
    })?;
    let command = site
        .guard
        .command(Kind::Payments, site.guard.exe())
        .args(["payments", "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"])
        .arg("--log")
        .arg(&ledger)
        .args(&spec.flags)
        .stdout(file)
        .stderr(logs::append(&log)?);
    let mut started = Started::spawn(site, Server::Payments, command, log.clone())?;
    let greeting = started.until_ready(READY_LIMIT, || std::future::ready(greeting(&log))).await?;
    let payments = Payments {
        address: greeting.listening,
        control: greeting.control,
        process: started.guarded.process,
        ledger,
    };
    Ok((started, payments))
}

/// The first whole line that is a greeting.
fn greeting(log: &Path) -> Option<Greeting> {
    let text = fs::read_to_string(log).ok()?;
    let whole = text.rsplit_once('\n')?.0;
    whole.lines().find_map(|line| serde_json::from_str(line).ok())
}
