//! What can go wrong with a proxy as a whole. What happens to one link is an event.

use std::io;
use std::net::SocketAddr;

#[derive(Debug, thiserror::Error)]
pub enum WireError {
    #[error("could not start the thread of the {protocol} proxy")]
    Thread { protocol: &'static str, source: io::Error },
    #[error("could not listen on {address} for the {protocol} proxy")]
    Listen { protocol: &'static str, address: SocketAddr, source: io::Error },
    #[error("the {protocol} proxy has ended by itself; this is a bug in dupeproof")]
    Ended { protocol: &'static str },
    #[error("{links} links of the {protocol} proxy panicked; this is a bug in dupeproof")]
    Panicked { protocol: &'static str, links: u64 },
}
