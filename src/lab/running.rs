//! A lab that is up, from its start to its stop.

use std::net::SocketAddr;
use std::path::Path;

use tokio::sync::mpsc;

use crate::guard::{Guard, ProcessId};

use super::error::LabError;
use super::events::{LabEvent, Watchers};
use super::instance::Instance;
use super::payments::Payments;
use super::postgres;
use super::server::{Server, Started};
use super::servers::{Addresses, Servers};
use super::site::Belongings;
use super::spec::LabSpec;

/// A private PostgreSQL, a private Redis, and instances of the shop. Dropping it ends all of them
/// too, and blocks for a moment; [`stop`](Lab::stop) says whether that worked.
#[derive(Debug)]
pub struct Lab {
    /// The superuser's, without a password, on loopback.
    pub postgres_url: String,
    pub redis_url: String,
    /// Where the servers are themselves.
    pub addresses: Addresses,
    pub postgres: ProcessId,
    pub redis: ProcessId,
    /// Where the second, empty Redis is, if there is one.
    pub spare_redis: Option<SocketAddr>,
    pub payments: Option<Payments>,
    pub instances: Vec<Instance>,
    events: Option<mpsc::Receiver<LabEvent>>,
    watchers: Watchers,
    belongings: Belongings,
}

impl Lab {
    /// Starts a lab, in about a second. Needs a tokio runtime.
    ///
    /// Whatever it had started is ended when it fails or is cancelled.
    ///
    /// # Errors
    /// [`LabError::Missing`] for a program that isn't installed, [`LabError::Died`] and
    /// [`LabError::NotReady`], with the end of its log, for a server that doesn't come up.
    pub async fn start(spec: LabSpec, guard: &Guard) -> Result<Self, LabError> {
        let servers = Servers::start(spec, guard).await?;
        let addresses = servers.addresses();
        servers.start_instances(|_| addresses).await
    }

    /// The lab that servers and instances make.
    pub(super) fn of(servers: Servers<'_>, shops: Vec<(Started, Instance)>) -> Self {
        let addresses = servers.addresses();
        let Servers { site, postgres, redis, spare_redis, payments } = servers;
        let (mut watchers, events) = Watchers::new(site.guard.journal().clone());
        let (postgres_id, redis_id) =
            (postgres.started.guarded.process, redis.started.guarded.process);
        watchers.watch(postgres.started);
        watchers.watch(redis.started);
        let spare_redis = spare_redis.map(|spare| {
            watchers.watch(spare.started);
            spare.address
        });
        let payments = payments.map(|(started, payments)| {
            watchers.watch(started);
            payments
        });
        let mut instances = Vec::new();
        for (started, instance) in shops {
            watchers.watch(started);
            instances.push(instance);
        }
        Self {
            postgres_url: addresses.postgres_url(),
            redis_url: addresses.redis_url(),
            addresses,
            postgres: postgres_id,
            redis: redis_id,
            spare_redis,
            payments,
            instances,
            events: Some(events),
            watchers,
            belongings: site.into_belongings(),
        }
    }

    /// Puts products (id, available) on sale, or sets how many of them are available.
    ///
    /// # Errors
    /// [`LabError::Stock`], also when no instance has made the table yet.
    pub async fn stock_products(&self, products: &[(i64, i32)]) -> Result<(), LabError> {
        if products.is_empty() {
            return Ok(());
        }
        let stocked = postgres::stock(&self.postgres_url, products).await;
        stocked.map_err(|source| LabError::Stock { products: products.len(), source })
    }

    /// The temporary folder, with all that is this lab's but the logs.
    pub fn folder(&self) -> &Path {
        self.belongings.folder()
    }

    /// What happens to the servers, from the start on. There is one receiver: `None` the second
    /// time.
    pub fn events(&mut self) -> Option<mpsc::Receiver<LabEvent>> {
        self.events.take()
    }

    /// The process of a server; `None` for an instance that this lab doesn't have, for one that
    /// was launched (whoever did so has it), and for the spare Redis.
    pub fn process(&self, server: Server) -> Option<ProcessId> {
        match server {
            Server::Postgres => Some(self.postgres),
            Server::Redis => Some(self.redis),
            Server::Payments => self.payments.as_ref().map(|payments| payments.process),
            Server::Instance(number) => {
                self.instances.get(usize::from(number)).map(|instance| instance.process)
            }
            Server::SpareRedis | Server::Launched(_) => None,
        }
    }

    /// Waits for a server's end from now on.
    pub(super) fn watch(&mut self, started: Started) {
        self.watchers.watch(started);
    }

    /// This process ends with the lab.
    pub(super) fn own(&self, process: ProcessId) {
        self.belongings.add(process);
    }

    /// Ends every process, removes shared memory and folder, and tells the guard. The logs stay.
    ///
    /// # Errors
    /// [`LabError::Guard`] with what is left; the guard tries again when dupeproof ends.
    pub async fn stop(self) -> Result<(), LabError> {
        let Self { watchers, mut belongings, .. } = self;
        watchers.begin_stop();
        let ended = tokio::task::spawn_blocking(move || belongings.end()).await;
        watchers.join().await;
        ended
            .map_err(|source| LabError::StopPanicked { source })?
            .map_err(|source| LabError::Guard { act: "end the lab", source })
    }
}
