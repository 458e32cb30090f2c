//! What a client asks of a downstream, read from a message.

use httparse::EMPTY_HEADER;

use super::framing::MOST_FIELDS;
use super::message::Message;

/// The first line of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    pub method: &'a str,
    /// As it was sent: path and query, mostly.
    pub target: &'a str,
}

impl<'a> Request<'a> {
    /// None where the message is no request.
    pub fn of(message: &Message<'a>) -> Option<Self> {
        let mut fields = [EMPTY_HEADER; MOST_FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        request.parse(message.head).ok()?;
        Some(Self { method: request.method?, target: request.path? })
    }
}
