//! HTTP/1.1, both directions, as it is spoken in front of a downstream.
//!
//! Specification: RFC 9112, whose section 6.3 says where a message ends; methods, status codes and
//! `Expect` by RFC 9110. What isn't HTTP/1 (the preface of HTTP/2, an upgraded connection, a tunnel)
//! is opaque.

mod body;
mod framing;
mod message;
mod replies;
mod reply;
mod request;
mod requests;
mod talk;
mod track;

pub use message::Message;
pub use replies::Replies;
pub use reply::Reply;
pub use request::Request;
pub use requests::Requests;
pub(super) use talk::HttpTalk;
