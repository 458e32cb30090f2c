//! The lab's PostgreSQL: initdb, then a server on loopback only.
//!
//! initdb is over 80 % of a lab's start, and most of that would be fsync. Settings go on the
//! server's command line, because initdb of version 15 takes none and because there they win over
//! ALTER SYSTEM. fsync is off (the machine doesn't crash in a drill) and synchronous_commit is on:
//! a commit that was acknowledged survives every kill of a process.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection};

use crate::guard::{GuardedCommand, Kind};

use super::error::LabError;
use super::logs;
use super::ports::on_free_port;
use super::server::{Server, Started};
use super::site::Site;

const INITDB_LIMIT: Duration = Duration::from_secs(60);
const READY_LIMIT: Duration = Duration::from_secs(20);

const STOCK: &str = include_str!("sql/stock.sql");

/// Defaults; what the lab's owner sets comes after them and wins. `mmap` keeps dynamic shared
/// memory in the data folder, so that a kill leaves none of it in /dev/shm.
const SETTINGS: [(&str, &str); 11] = [
    ("fsync", "off"),
    ("synchronous_commit", "on"),
    ("full_page_writes", "off"),
    ("max_connections", "300"),
    ("dynamic_shared_memory_type", "mmap"),
    ("logging_collector", "off"),
    ("log_destination", "stderr"),
    ("log_line_prefix", "%m [%p] "),
    ("log_min_duration_statement", "-1"),
    ("log_lock_waits", "on"),
    ("log_timezone", "UTC"),
];

#[derive(Debug)]
pub(super) struct Postgres {
    pub(super) started: Started,
    pub(super) address: SocketAddr,
}

/// The superuser's, without a password and without encryption.
pub(super) fn url(address: SocketAddr) -> String {
    format!("postgres://postgres@{address}/postgres?sslmode=disable")
}

/// Makes a cluster and serves it.
pub(super) async fn start(site: &Site<'_>) -> Result<Postgres, LabError> {
    let (log, _) = logs::create(&site.spec.logs, "postgres")?;
    let data = site.make_folder("postgres")?;
    initialise(site, &data, &log).await?;
    on_free_port(|port| serve(site, &data, &log, port)).await
}

async fn initialise(site: &Site<'_>, data: &Path, log: &Path) -> Result<(), LabError> {
    let command = command(site, Kind::Initdb, &site.programs.initdb, log)?
        .args(["-U", "postgres", "-A", "trust", "--no-sync", "--locale=C", "-E", "UTF8", "-D"])
        .arg(data);
    let mut guarded = site.spawn(command)?;
    let what = "initdb".to_owned();
    let Ok(waited) = tokio::time::timeout(INITDB_LIMIT, guarded.child.wait()).await else {
        let tail = logs::tail(log);
        return Err(LabError::NotReady { what, limit: INITDB_LIMIT, log: log.to_owned(), tail });
    };
    match waited {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            let (status, tail) = (status.to_string(), logs::tail(log));
            Err(LabError::Died { what, status, log: log.to_owned(), tail })
        }
        Err(source) => Err(LabError::Wait { what, source }),
    }
}

async fn serve(site: &Site<'_>, data: &Path, log: &Path, port: u16) -> Result<Postgres, LabError> {
    let port_text = port.to_string();
    let ours =
        [("listen_addresses", "127.0.0.1"), ("port", &port_text), ("unix_socket_directories", "")];
    let wanted =
        site.spec.postgres_settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut command =
        command(site, Kind::Postgres, &site.programs.postgres, log)?.arg("-D").arg(data);
    for (name, value) in SETTINGS.into_iter().chain(wanted).chain(ours) {
        command = command.arg("-c").arg(format!("{name}={value}"));
    }
    let mut started = Started::spawn(site, Server::Postgres, command, log.to_owned())?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let url = url(address);
    let data = data.display().to_string();
    started
        .until_ready(READY_LIMIT, || async {
            serves(&url, &data).await.unwrap_or(false).then_some(())
        })
        .await?;
    Ok(Postgres { started, address })
}

/// An empty environment: what PGDATA, LC_ALL and their kin say out there must not matter here.
fn command(
    site: &Site<'_>,
    kind: Kind,
    program: &Path,
    log: &Path,
) -> Result<GuardedCommand, LabError> {
    let guarded = site.guard.command(kind, program).account(site.account);
    let guarded = guarded.env_clear().env("LC_ALL", "C").env("PATH", "/usr/bin:/bin");
    Ok(guarded.stdout(logs::append(log)?).stderr(logs::append(log)?))
}

/// Whether the server there answers, and is the one with this data folder.
async fn serves(url: &str, data: &str) -> Result<bool, sqlx::Error> {
    let mut connection = connect(url).await?;
    let answer: String = sqlx::query_scalar("SELECT current_setting('data_directory')")
        .fetch_one(&mut connection)
        .await?;
    connection.close().await?;
    Ok(answer == data)
}

async fn connect(url: &str) -> Result<PgConnection, sqlx::Error> {
    PgConnectOptions::from_str(url)?.connect().await
}

/// Puts products on sale, or sets how many of them are available.
pub(super) async fn stock(url: &str, products: &[(i64, i32)]) -> Result<(), sqlx::Error> {
    let (ids, available): (Vec<i64>, Vec<i32>) = products.iter().copied().unzip();
    let mut connection = connect(url).await?;
    sqlx::query(STOCK).bind(ids).bind(available).execute(&mut connection).await?;
    connection.close().await
}
