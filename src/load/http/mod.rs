//! An HTTP/1.1 client (RFC 9112) that sends exactly what it is told to: one attempt is one request
//! on the wire, with no retry, redirect or replay of its own, and it knows how much of it left.
//!
//! Pooled clients resend a request when its connection dies, and so hide the very thing that is
//! looked for here.

mod budget;
mod chunked;
mod connection;
mod get;
mod head;
mod reply;
mod tls;

pub use budget::ReplyBudget;
pub use get::get;
pub use reply::{Reply, ReplyFault, ReplyReader};
pub use tls::Tls;

pub(super) use connection::{Connection, Held};
