//! What a downstream answered, read from a message.

use httparse::EMPTY_HEADER;

use super::framing::MOST_FIELDS;
use super::message::Message;

/// The first line of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// 1xx is an interim one: the request is still to be answered.
    pub status: u16,
}

impl Reply {
    /// None where the message is no reply.
    pub fn of(message: &Message<'_>) -> Option<Self> {
        let mut fields = [EMPTY_HEADER; MOST_FIELDS];
        let mut reply = httparse::Response::new(&mut fields);
        reply.parse(message.head).ok()?;
        Some(Self { status: reply.code? })
    }
}
