//! The servers of a lab, up before any instance: the first half of a start.
//!
//! Whoever starts a lab may put something between servers and instances; so the second half is told,
//! instance by instance, where its servers are to be found.

use std::net::SocketAddr;

use crate::guard::Guard;

use super::error::LabError;
use super::instance;
use super::payments::{self, Payments};
use super::postgres::{self, Postgres};
use super::programs::Programs;
use super::redis::{self, Redis};
use super::running::Lab;
use super::server::{Server, Started};
use super::site::Site;
use super::spec::LabSpec;

/// A private PostgreSQL, a private Redis and perhaps a payment provider, with nobody who uses them.
/// Dropping them ends them.
#[derive(Debug)]
pub struct Servers<'a> {
    pub(super) site: Site<'a>,
    pub(super) postgres: Postgres,
    pub(super) redis: Redis,
    pub(super) spare_redis: Option<Redis>,
    pub(super) payments: Option<(Started, Payments)>,
}

/// Where an instance finds the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses {
    pub postgres: SocketAddr,
    pub redis: SocketAddr,
    /// Absent where there is no payment provider.
    pub payments: Option<SocketAddr>,
}

impl Addresses {
    /// The superuser's, without a password and without encryption.
    pub fn postgres_url(&self) -> String {
        postgres::url(self.postgres)
    }

    pub fn redis_url(&self) -> String {
        redis::url(self.redis)
    }

    pub fn payments_url(&self) -> Option<String> {
        self.payments.map(payments::url)
    }
}

impl<'a> Servers<'a> {
    /// Starts the servers, in about a second. Needs a tokio runtime.
    ///
    /// # Errors
    /// As [`Lab::start`] does.
    pub async fn start(spec: LabSpec, guard: &'a Guard) -> Result<Self, LabError> {
        let programs = Programs::find().await?;
        let site = Site::new(guard, spec, programs)?;
        let (postgres, redis) =
            tokio::try_join!(postgres::start(&site), redis::start(&site, Server::Redis))?;
        let spare_redis = match site.spec.spare_redis {
            true => Some(redis::start(&site, Server::SpareRedis).await?),
            false => None,
        };
        let payments = match &site.spec.payments {
            Some(payments) => Some(payments::start(&site, payments).await?),
            None => None,
        };
        Ok(Self { site, postgres, redis, spare_redis, payments })
    }

    /// Where the servers are themselves.
    pub fn addresses(&self) -> Addresses {
        Addresses {
            postgres: self.postgres.address,
            redis: self.redis.address,
            payments: self.payments.as_ref().map(|(_, payments)| payments.address),
        }
    }

    /// How many instances the lab is to have.
    pub const fn instances(&self) -> u16 {
        self.site.spec.instances
    }

    /// Starts the instances, each with its own view of the servers, and puts the products on sale.
    ///
    /// # Errors
    /// As [`Lab::start`] does; what was started is ended then, the servers included.
    pub async fn start_instances(
        self,
        addresses: impl Fn(u16) -> Addresses,
    ) -> Result<Lab, LabError> {
        let shops = instance::start_all(&self.site, addresses).await?;
        let products = self.site.spec.products.clone();
        let lab = Lab::of(self, shops);
        lab.stock_products(&products).await?;
        Ok(lab)
    }
}
