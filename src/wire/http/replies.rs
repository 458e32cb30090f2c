//! Cuts what a downstream answers over HTTP/1.1 into replies.
//!
//! Whether a reply has a body depends on the method that it answers: the reply to a HEAD has none,
//! whatever its fields say, and behind the one to a CONNECT comes something else. So it has to be told
//! what was asked.

use std::collections::VecDeque;

use httparse::EMPTY_HEADER;

use crate::wire::{Mark, Scanner};

use super::body::Body;
use super::framing::{MOST_FIELDS, announced};
use super::message::{Follows, Message, Messages};

/// Requests that may wait for a reply. Clients hardly send the second before the first is answered.
const MOST_OWED: usize = 1024;

/// What matters about a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Head,
    Connect,
    Other,
}

/// The replies of one connection.
#[derive(Debug)]
pub struct Replies {
    messages: Messages,
    owed: VecDeque<Method>,
}

impl Replies {
    pub const fn new() -> Self {
        Self { messages: Messages::new(), owed: VecDeque::new() }
    }

    /// The client has sent a request with this method; to be said before it can be answered. False
    /// when that is one too many, and nothing is said any more.
    #[must_use]
    pub fn owe(&mut self, method: &str) -> bool {
        if self.messages.is_opaque() {
            return true;
        }
        if self.owed.len() == MOST_OWED {
            self.messages.give_up();
            return false;
        }
        self.owed.push_back(match method {
            "HEAD" => Method::Head,
            "CONNECT" => Method::Connect,
            _ => Method::Other,
        });
        true
    }
}

impl Default for Replies {
    fn default() -> Self {
        Self::new()
    }
}

impl Scanner for Replies {
    type Frame<'a> = Message<'a>;

    fn scan(&mut self, bytes: &[u8], seen: &mut dyn FnMut(Mark<Message<'_>>)) {
        let owed = &mut self.owed;
        self.messages.scan(bytes, &mut |head| read(head, owed), seen);
    }

    fn ended(&mut self, seen: &mut dyn FnMut(Mark<Message<'_>>)) {
        self.messages.ended(seen);
    }

    fn position(&self) -> u64 {
        self.messages.position()
    }
}

fn read(head: &[u8], owed: &mut VecDeque<Method>) -> Result<Follows, &'static str> {
    let mut fields = [EMPTY_HEADER; MOST_FIELDS];
    let mut reply = httparse::Response::new(&mut fields);
    if !reply.parse(head).is_ok_and(|status| status.is_complete()) {
        return Err("a head is no reply of HTTP/1");
    }
    let status = reply.code.unwrap_or_default();
    if status == 101 {
        return Ok(Follows::Other);
    }
    if status < 200 {
        return Ok(Follows::Body(Body::Length(0)));
    }
    // A server that gives up on a client answers before it has heard it out.
    match owed.pop_front().unwrap_or(Method::Other) {
        Method::Connect if status < 300 => Ok(Follows::Other),
        Method::Head => Ok(Follows::Body(Body::Length(0))),
        _ if matches!(status, 204 | 304) => Ok(Follows::Body(Body::Length(0))),
        _ => Ok(Follows::Body(announced(reply.headers)?.unwrap_or(Body::UntilClose))),
    }
}
