//! What happens on a proxy's links that somebody should hear of.

use std::fmt;
use std::net::SocketAddr;

use crate::history::LinkId;

use super::counts::Side;

/// Why the target may not encrypt, and what to do about it.
pub(super) const NO_TLS: &str = "the target asked for an encrypted connection and the server \
    agreed, but dupeproof can not read what is encrypted; let the target connect without \
    encryption, such as with sslmode=disable and gssencmode=disable in its database URL";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProxyEvent {
    /// The link was reset, because its upstream couldn't be reached.
    Unreached { link: LinkId, upstream: SocketAddr, why: String },
    /// The link was refused, because it was about to be encrypted.
    Encrypted { link: LinkId },
    /// Nothing is known of what comes from this side, from this byte on. It passes.
    Opaque { link: LinkId, from: Side, at: u64, why: &'static str },
    /// A connection couldn't be accepted; the next try follows.
    NotAccepted { why: String },
}

impl fmt::Display for ProxyEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreached { link, upstream, why } => {
                write!(f, "connection {link} was reset: {upstream} could not be reached ({why})")
            }
            Self::Encrypted { link } => write!(f, "connection {link} was refused: {NO_TLS}"),
            Self::Opaque { link, from, at, why } => {
                let from = match from {
                    Side::Client => "target",
                    Side::Server => "server",
                };
                write!(f, "connection {link} passes unread from byte {at} of the {from} on: {why}")
            }
            Self::NotAccepted { why } => write!(f, "a connection could not be accepted: {why}"),
        }
    }
}
