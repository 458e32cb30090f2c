//! What happens on a proxy's links that somebody should hear of.

use std::fmt;

use crate::history::{LinkId, Wire};

use super::counts::Side;

/// Why the target may not encrypt.
const NO_TLS: &str = "the target wants an encrypted connection, but dupeproof can not read what is \
    encrypted; let the target connect without encryption";

/// What to do about it.
const fn without_tls(wire: Wire) -> &'static str {
    match wire {
        Wire::Postgres => "with sslmode=disable and gssencmode=disable in its database URL",
        Wire::Redis => "with redis:// in place of rediss:// in its URL of Redis",
        Wire::Http => "with http:// in place of https:// in its URL of the service",
    }
}

/// The same for the target itself.
pub(super) fn no_tls(wire: Wire) -> String {
    format!("{NO_TLS}, {}", without_tls(wire))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProxyEvent {
    /// The link was reset, because its upstream couldn't be reached.
    Unreached { link: LinkId, upstream: String, why: String, cure: &'static str },
    /// The link was refused, or given up by the target, because that wants it encrypted.
    Encrypted { link: LinkId, wire: Wire },
    /// The target left when PostgreSQL asked it to prove who it is.
    Unproven { link: LinkId },
    /// Nothing is known of what comes from this side, from this byte on. It passes.
    Opaque { link: LinkId, from: Side, at: u64, why: &'static str },
    /// A connection couldn't be accepted; the next try follows.
    NotAccepted { why: String },
}

impl fmt::Display for ProxyEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreached { link, upstream, why, cure } => {
                let what = "was reset, because its server";
                write!(f, "connection {link} {what} {upstream} could not be reached: {why}; {cure}")
            }
            Self::Encrypted { link, wire } => {
                write!(f, "connection {link} was refused: {}", no_tls(*wire))
            }
            Self::Unproven { link } => write!(
                f,
                "connection {link} was given up by the target when PostgreSQL asked who it is: it \
                 has no password, or it insists on channel binding, which nothing can offer that \
                 reads what crosses; take channel_binding=require out of its database URL"
            ),
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
