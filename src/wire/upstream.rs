//! A server of the target: where it is, and whether the connection to it is encrypted.
//!
//! The target speaks in plain to a proxy, which must read what crosses; what the proxy says to the
//! server may be encrypted all the same. Certificates are verified unless the settings say in so many
//! words that they aren't.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A server of the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// A name or an address, without brackets. A name is looked up for each connection.
    pub host: String,
    pub port: u16,
    /// Absent: in plain.
    pub tls: Option<ServerTls>,
}

/// How a server is spoken to in secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerTls {
    pub trust: Trust,
    /// The name that its certificate is issued for, where that isn't the host.
    pub server_name: Option<String>,
}

/// Whose word is taken that a server is the one that is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// The authorities that the system trusts.
    #[default]
    System,
    /// Those in a PEM file, and no others.
    File(PathBuf),
    /// Nobody's is needed: encrypted, perhaps with somebody in between.
    Anyone,
}

impl From<SocketAddr> for Upstream {
    fn from(address: SocketAddr) -> Self {
        Self { host: address.ip().to_string(), port: address.port(), tls: None }
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}
