//! The way to a server: its name looked up, its addresses tried in turn, and TLS where it is wanted.
//!
//! PostgreSQL is asked for encryption before the handshake, as its protocol has it; Redis and HTTP
//! begin with it. A certificate is compared with the name that the settings give, not with the address
//! that it led to.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::history::Wire;

use super::error::WireError;
use super::postgres::SSL_REQUEST;
use super::proxies::ProxySpec;
use super::stream::ServerStream;
use super::trust;
use super::upstream::Upstream;

/// A server that hasn't taken a connection by then won't.
const PATIENCE: Duration = Duration::from_secs(10);

const START: &str = "start the server, or correct its host and port";
const NAME: &str = "correct the host of its URL, or see that this machine can look it up";
const SLOW: &str = "see that a firewall lets connections through to it";
const PLAIN: &str = "connect to it without encryption where that is meant (sslmode=disable in its \
    database URL), or let the server take TLS";
const BROKEN: &str = "see that the server speaks TLS at this port";
const AUTHORITY: &str = "name the file of the authority that signed the server's certificate, and the \
    server by the name in it";

/// Why a server couldn't be spoken to, and what to do about it.
#[derive(Debug)]
pub(super) struct Unreached {
    pub(super) why: String,
    pub(super) cure: &'static str,
}

/// A server, and all that connecting to it takes.
pub(super) struct Route {
    pub(super) wire: Wire,
    pub(super) upstream: Upstream,
    tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
}

impl Route {
    pub(super) fn new(spec: &ProxySpec) -> Result<Self, WireError> {
        Self::to(spec.wire, spec.upstream.clone())
    }

    pub(super) fn to(wire: Wire, upstream: Upstream) -> Result<Self, WireError> {
        let tls = match &upstream.tls {
            None => None,
            Some(tls) => {
                let host = tls.server_name.as_ref().unwrap_or(&upstream.host);
                let name = ServerName::try_from(host.clone())
                    .map_err(|_| WireError::TlsName { wire: wire.name(), host: host.clone() })?;
                let config = trust::config(wire, &tls.trust)
                    .map_err(|reason| WireError::Certificates { wire: wire.name(), reason })?;
                Some((Arc::new(config), name))
            }
        };
        Ok(Self { wire, upstream, tls })
    }

    /// Whether the server may offer what only the two ends of one TLS connection can use.
    pub(super) fn offers_binding(&self) -> bool {
        self.wire == Wire::Postgres && self.tls.is_some()
    }

    pub(super) async fn connect(&self) -> Result<ServerStream, Unreached> {
        let connecting = async {
            let tcp = self.reach().await?;
            let Some((config, name)) = &self.tls else { return Ok(ServerStream::Plain(tcp)) };
            self.encrypt(tcp, config, name).await
        };
        let why = || format!("no connection within {PATIENCE:?}");
        timeout(PATIENCE, connecting).await.map_err(|_| Unreached { why: why(), cure: SLOW })?
    }

    /// A connection to the first of its addresses that takes one.
    async fn reach(&self) -> Result<TcpStream, Unreached> {
        let addresses = self.addresses().await.map_err(|error| Unreached {
            why: format!("its name could not be looked up: {error}"),
            cure: NAME,
        })?;
        let mut failure = Unreached { why: "its name has no address".to_owned(), cure: NAME };
        // One that doesn't answer at all must leave time for the others.
        let each = PATIENCE / u32::try_from(addresses.len().max(1)).unwrap_or(u32::MAX);
        for address in addresses {
            failure = match timeout(each, TcpStream::connect(address)).await {
                Ok(Ok(tcp)) => return Ok(tcp),
                Ok(Err(error)) => Unreached { why: error.to_string(), cure: START },
                Err(_) => Unreached { why: format!("no answer within {each:?}"), cure: SLOW },
            };
        }
        Err(failure)
    }

    async fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        let Upstream { host, port, .. } = &self.upstream;
        // The system is asked on a thread of its own, which an address has no need of.
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![(address, *port).into()]);
        }
        Ok(tokio::net::lookup_host((host.as_str(), *port)).await?.collect())
    }

    async fn encrypt(
        &self,
        mut tcp: TcpStream,
        config: &Arc<ClientConfig>,
        name: &ServerName<'static>,
    ) -> Result<ServerStream, Unreached> {
        if self.wire == Wire::Postgres {
            ask_for_encryption(&mut tcp).await?;
        }
        match TlsConnector::from(Arc::clone(config)).connect(name.clone(), tcp).await {
            Ok(stream) => Ok(stream.into()),
            Err(error) => Err(Unreached {
                why: format!("TLS failed: {error}"),
                cure: if trust::is_refused(&error) { AUTHORITY } else { BROKEN },
            }),
        }
    }
}

async fn ask_for_encryption(tcp: &mut TcpStream) -> Result<(), Unreached> {
    let asked = async {
        tcp.write_all(&[[0, 0, 0, 8], SSL_REQUEST.to_be_bytes()].concat()).await?;
        tcp.read_u8().await
    };
    let refused = |why: &str| Err(Unreached { why: why.to_owned(), cure: PLAIN });
    match asked.await {
        Ok(b'S') => Ok(()),
        Ok(b'N') => refused("the server declines encryption"),
        Ok(_) => refused("the server does not know what encryption is"),
        Err(error) => {
            Err(Unreached { why: format!("asked for encryption: {error}"), cure: BROKEN })
        }
    }
}
