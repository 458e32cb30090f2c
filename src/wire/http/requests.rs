//! Cuts what a client sends over HTTP/1.1 into requests.

use httparse::EMPTY_HEADER;

use crate::wire::{Mark, Scanner};

use super::body::Body;
use super::framing::{MOST_FIELDS, announced};
use super::message::{Follows, Message, Messages};

/// The requests of one connection.
#[derive(Debug)]
pub struct Requests(Messages);

impl Requests {
    pub const fn new() -> Self {
        Self(Messages::new())
    }

    /// Says nothing any more: the server has agreed to another protocol.
    pub const fn give_up(&mut self) {
        self.0.give_up();
    }
}

impl Default for Requests {
    fn default() -> Self {
        Self::new()
    }
}

impl Scanner for Requests {
    type Frame<'a> = Message<'a>;

    fn scan(&mut self, bytes: &[u8], seen: &mut dyn FnMut(Mark<Message<'_>>)) {
        self.0.scan(bytes, &mut read, seen);
    }

    fn position(&self) -> u64 {
        self.0.position()
    }
}

fn read(head: &[u8]) -> Result<Follows, &'static str> {
    let mut fields = [EMPTY_HEADER; MOST_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    if !request.parse(head).is_ok_and(|status| status.is_complete()) {
        return Err("a head is no request of HTTP/1");
    }
    match announced(request.headers)? {
        // A server can't find its end either.
        Some(Body::UntilClose) => Err("a request does not say where it ends"),
        body => Ok(Follows::Body(body.unwrap_or(Body::Length(0)))),
    }
}
