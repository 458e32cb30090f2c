//! The Redis protocol: RESP2, RESP3 and inline commands, both directions.
//!
//! Specification: <https://redis.io/docs/latest/develop/reference/protocol-spec/> and
//! <https://github.com/antirez/RESP3/blob/master/spec.md> (streamed types).

mod capture;
mod commands;
mod fail;
mod inline;
mod meaning;
mod reply;
mod reply_scan;
mod request;
mod request_scan;
mod script;
mod talk;
mod track;
mod values;

pub use reply::{Aggregate, Answer, Reply};
pub use reply_scan::Replies;
pub use request::{Request, SetOptions};
pub use request_scan::Requests;
pub(super) use script::Scripts;
pub(super) use talk::RedisTalk;
