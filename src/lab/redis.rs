//! The lab's Redis: in memory only, on loopback only.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{Client, RedisResult};

use crate::guard::Kind;

use super::error::LabError;
use super::logs;
use super::ports::on_free_port;
use super::server::{Server, Started};
use super::site::Site;

const READY_LIMIT: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(super) struct Redis {
    pub(super) started: Started,
    pub(super) address: SocketAddr,
}

pub(super) fn url(address: SocketAddr) -> String {
    format!("redis://{address}/")
}

/// Starts one; `server` says which of the two it is.
pub(super) async fn start(site: &Site<'_>, server: Server) -> Result<Redis, LabError> {
    let (log, _) = logs::create(&site.spec.logs, &server.to_string())?;
    let folder = site.make_folder(&server.to_string())?;
    on_free_port(|port| serve(site, server, &folder, &log, port)).await
}

async fn serve(
    site: &Site<'_>,
    server: Server,
    folder: &Path,
    log: &Path,
    port: u16,
) -> Result<Redis, LabError> {
    let command = site
        .guard
        .command(Kind::Redis, &site.programs.redis)
        .account(site.account)
        .env_clear()
        .env("LC_ALL", "C")
        .args(["--bind", "127.0.0.1", "--port", &port.to_string()])
        .args(["--save", "", "--appendonly", "no", "--maxclients", "10000"])
        .arg("--dir")
        .arg(folder)
        .stdout(logs::append(log)?)
        .stderr(logs::append(log)?);
    let mut started = Started::spawn(site, server, command, log.to_owned())?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let url = url(address);
    let pid = started.guarded.process.pid;
    started
        .until_ready(READY_LIMIT, || async {
            serves(&url, pid).await.unwrap_or(false).then_some(())
        })
        .await?;
    Ok(Redis { started, address })
}

/// Whether the server there answers, and is this process.
async fn serves(url: &str, pid: u32) -> RedisResult<bool> {
    let mut connection: MultiplexedConnection =
        Client::open(url)?.get_multiplexed_async_connection().await?;
    let _: String = redis::cmd("PING").query_async(&mut connection).await?;
    let info: String = redis::cmd("INFO").arg("server").query_async(&mut connection).await?;
    Ok(info.lines().any(|line| line == format!("process_id:{pid}")))
}
