//! TLS by rustls with verified certificates; there is no way to switch the check off.
//!
//! The records are driven by hand instead of through a stream: so the last byte of the last record
//! can be held back, and a burst over TLS leaves as one byte an attempt, as a plain one does.

use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use tokio::net::TcpStream;

use crate::load::error::LoadError;

/// How an instance proves who it is.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Tls({:?})", self.name)
    }
}

impl Tls {
    /// Trusts the system's roots and `extra` ones; `host` is the name that the certificate must be
    /// issued for. Instances of one target should share one `Tls::trusting` through
    /// [`Tls::for_host`], since reading the roots takes a while.
    pub fn trusting(host: &str, extra: &[CertificateDer<'static>]) -> Result<Self, LoadError> {
        let mut roots = RootCertStore::empty();
        let system = rustls_native_certs::load_native_certs();
        let (added, _) = roots.add_parsable_certificates(system.certs);
        for certificate in extra {
            roots.add(certificate.clone()).map_err(|error| certificates(&error))?;
        }
        if added == 0 && extra.is_empty() {
            let reason = "the system has no trusted roots".to_owned();
            return Err(LoadError::Certificates { reason });
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| certificates(&error))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config), name: name(host)? })
    }

    /// The same trust for another name.
    pub fn for_host(&self, host: &str) -> Result<Self, LoadError> {
        Ok(Self { config: Arc::clone(&self.config), name: name(host)? })
    }

    /// Shakes hands; gives the socket back with the session beside it.
    pub(super) async fn shake(&self, tcp: TcpStream) -> std::io::Result<(TcpStream, Session)> {
        let connector = tokio_rustls::TlsConnector::from(Arc::clone(&self.config));
        let (tcp, connection) = connector.connect(self.name.clone(), tcp).await?.into_inner();
        Ok((tcp, Session { connection: Box::new(connection), has_more: false }))
    }
}

fn name(host: &str) -> Result<ServerName<'static>, LoadError> {
    ServerName::try_from(host.trim_matches(['[', ']']).to_owned())
        .map_err(|_| LoadError::TlsName { host: host.to_owned() })
}

fn certificates(error: &rustls::Error) -> LoadError {
    LoadError::Certificates { reason: error.to_string() }
}

/// A TLS session without its socket.
#[derive(Debug)]
pub(super) struct Session {
    connection: Box<ClientConnection>,
    has_more: bool,
}

impl Session {
    /// Appends `plain` to `sealed` as records.
    pub fn seal(&mut self, plain: &[u8], sealed: &mut Vec<u8>) -> std::io::Result<()> {
        let mut rest = plain;
        while !rest.is_empty() {
            let taken = self.connection.writer().write(rest)?;
            rest = &rest[taken..];
            while self.connection.wants_write() {
                self.connection.write_tls(sealed)?;
            }
        }
        Ok(())
    }

    /// Takes bytes off the wire and hands the plain ones to `take`, until it has had enough. What
    /// rustls wants to answer (a key update) waits for the next request, since it must not come in
    /// front of a byte that is held back.
    pub fn open<T>(
        &mut self,
        mut sealed: &[u8],
        mut take: impl FnMut(&[u8]) -> Option<T>,
    ) -> std::io::Result<Option<T>> {
        let mut plain = [0; 4_096];
        while !sealed.is_empty() {
            self.connection.read_tls(&mut sealed)?;
            let state = self
                .connection
                .process_new_packets()
                .map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error))?;
            let ended = state.peer_has_closed();
            loop {
                match self.connection.reader().read(&mut plain) {
                    Ok(0) => break,
                    Ok(count) => {
                        if let Some(had) = take(&plain[..count]) {
                            self.has_more = !sealed.is_empty()
                                || self.connection.reader().read(&mut [0]).is_ok();
                            return Ok(Some(had));
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                }
            }
            if ended {
                break;
            }
        }
        Ok(None)
    }

    /// Whether something came behind what was taken, be it the end: it doesn't show on the socket,
    /// and the next request must not meet it.
    pub const fn has_more(&self) -> bool {
        self.has_more
    }

    /// Whether the peer has said that nothing more comes (close_notify).
    pub fn has_ended(&mut self) -> bool {
        matches!(self.connection.reader().read(&mut [0; 1]), Ok(0))
    }
}
