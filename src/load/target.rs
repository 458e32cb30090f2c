//! The instances that requests go to.
//!
//! A name is resolved once at the start of a burst, not once an attempt: 4,000 lookups would be
//! load on somebody else's service. A name that doesn't resolve is no error of the burst; its
//! attempts are not sent, and say why.

use std::net::SocketAddr;
use std::time::Duration;

use crate::history::InstanceId;

use super::http::Tls;

/// One instance of the target.
#[derive(Clone, Debug)]
pub struct TargetInstance {
    pub id: InstanceId,
    /// `host:port`; an IPv6 address in brackets.
    pub address: String,
    pub tls: Option<Tls>,
    /// What the `Host` header says.
    pub host: String,
    /// Put in front of every request's path; empty, or `/api` without a slash at its end.
    pub base_path: String,
}

impl TargetInstance {
    /// An instance that speaks plain HTTP at this address.
    pub fn plain(id: InstanceId, address: SocketAddr) -> Self {
        let address = address.to_string();
        Self { id, host: address.clone(), address, tls: None, base_path: String::new() }
    }

    /// Looks the name up.
    pub(super) async fn resolve(&self, patience: Duration) -> Peer {
        let looking = tokio::time::timeout(patience, tokio::net::lookup_host(&self.address));
        let addresses = match looking.await {
            Ok(Ok(found)) => Ok(found.collect()),
            Ok(Err(error)) => Err(format!("cannot look up {}: {error}", self.address)),
            Err(_) => Err(format!("cannot look up {} within {patience:?}", self.address)),
        };
        Peer { id: self.id, name: self.address.clone(), addresses, tls: self.tls.clone() }
    }
}

/// An instance whose name has been looked up.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    pub id: InstanceId,
    pub name: String,
    /// In the resolver's order, or why there are none.
    pub addresses: Result<Vec<SocketAddr>, String>,
    pub tls: Option<Tls>,
}
