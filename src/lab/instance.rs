//! The instances of the shop, each a process of its own.
//!
//! An instance chooses its ports and says them in one line of JSON on stdout, before anything
//! else it writes there. That line is read from its log: a pipe would have to be emptied by us for
//! as long as the instance lives, and would hold it up whenever we are late.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use crate::guard::{Kind, ProcessId};

use super::error::LabError;
use super::logs;
use super::server::{Server, Started};
use super::servers::Addresses;
use super::site::Site;

const READY_LIMIT: Duration = Duration::from_secs(20);

/// An instance that serves orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// `shop-0`, `shop-1`; its log has that name.
    pub name: String,
    pub address: SocketAddr,
    /// Where it tells how many `POST /orders` arrived.
    pub counter: SocketAddr,
    pub process: ProcessId,
}

/// The instance's first line.
#[derive(Debug, Deserialize, PartialEq, Eq)]
struct Greeting {
    listening: SocketAddr,
    counter: SocketAddr,
}

/// Starts all of them at once, each with its view of the servers, then waits for each.
pub(super) async fn start_all(
    site: &Site<'_>,
    addresses: impl Fn(u16) -> Addresses,
) -> Result<Vec<(Started, Instance)>, LabError> {
    let numbers = 0..site.spec.instances;
    let started = numbers.map(|number| spawn(site, number, &addresses(number)));
    let mut instances = Vec::new();
    for mut started in started.collect::<Result<Vec<_>, _>>()? {
        let log = started.log.clone();
        let greeting =
            started.until_ready(READY_LIMIT, || std::future::ready(greeting(&log))).await?;
        let instance = Instance {
            name: started.server.to_string(),
            address: greeting.listening,
            counter: greeting.counter,
            process: started.guarded.process,
        };
        instances.push((started, instance));
    }
    Ok(instances)
}

fn spawn(site: &Site<'_>, number: u16, servers: &Addresses) -> Result<Started, LabError> {
    let server = Server::Instance(number);
    let (log, file) = logs::create(&site.spec.logs, &server.to_string())?;
    let mut command = site
        .guard
        .command(Kind::Shop, site.guard.exe())
        .args(["shop", "--listen", "127.0.0.1:0", "--counter-listen", "127.0.0.1:0"])
        .args(["--database-url", &servers.postgres_url(), "--redis-url", &servers.redis_url()])
        .args(["--instance", &number.to_string()]);
    if !site.spec.defects.is_empty() {
        command = command.args(["--defects", &site.spec.defects.join(",")]);
    }
    if let Some(payments) = servers.payments_url() {
        command = command.args(["--payments-url", &payments]);
    }
    let command = command.args(&site.spec.shop_flags).stdout(file).stderr(logs::append(&log)?);
    Started::spawn(site, server, command, log)
}

/// The first whole line that is a greeting; lines of stderr may come before it.
fn greeting(log: &Path) -> Option<Greeting> {
    let text = fs::read_to_string(log).ok()?;
    let whole = text.rsplit_once('\n')?.0;
    whole.lines().find_map(|line| serde_json::from_str(line).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_greeting_is_none_and_a_warning_before_it_does_not_matter() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("shop-0.log");
        assert_eq!(greeting(&log), None);
        let line = r#"{"listening":"127.0.0.1:4000","counter":"127.0.0.1:4001"}"#;
        fs::write(&log, format!("a warning\n{line}")).unwrap();
        assert_eq!(greeting(&log), None);
        fs::write(&log, format!("a warning\n{line}\n")).unwrap();
        assert_eq!(greeting(&log).unwrap().counter.port(), 4001);
    }
}
