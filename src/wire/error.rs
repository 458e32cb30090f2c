//! What can go wrong with the proxies as a whole. What happens to one link is an event.

use std::io;
use std::net::SocketAddr;

#[derive(Debug, thiserror::Error)]
pub enum WireError {
    #[error("could not start the thread of the proxies")]
    Thread { source: io::Error },
    #[error("could not listen on {address} for the {wire} proxy")]
    Listen { wire: &'static str, address: SocketAddr, source: io::Error },
    #[error("the {wire} proxy would listen on {address}, where other machines reach it")]
    Exposed { wire: &'static str, address: SocketAddr },
    #[error("the certificates of the {wire} server can't be verified: {reason}")]
    Certificates { wire: &'static str, reason: String },
    #[error("`{host}` is no name that a certificate of the {wire} server could be issued for")]
    TlsName { wire: &'static str, host: String },
    #[error("the proxies have ended by themselves; this is a bug in dupeproof")]
    Ended,
    #[error("{links} links of the proxies panicked; this is a bug in dupeproof")]
    Panicked { links: u64 },
}
