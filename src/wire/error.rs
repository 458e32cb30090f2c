//! What can go wrong with the proxies as a whole. What happens to one link is an event.

use std::io;
use std::net::SocketAddr;

#[derive(Debug, thiserror::Error)]
pub enum WireError {
    #[error("could not start the thread of the proxies")]
    Thread { source: io::Error },
    #[error("could not listen on {address} for the {wire} proxy")]
    Listen { wire: &'static str, address: SocketAddr, source: io::Error },
    #[error("the proxies have ended by themselves; this is a bug in dupeproof")]
    Ended,
    #[error("{links} links of the proxies panicked; this is a bug in dupeproof")]
    Panicked { links: u64 },
}
