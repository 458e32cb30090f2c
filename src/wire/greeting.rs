//! The first bytes of a client, which may ask for what a proxy can't give: an encrypted connection.
//!
//! A proxy answers PostgreSQL's requests for encryption by itself, with a no, and passes nothing of
//! them on. So a driver that would rather have encryption but does without (`sslmode=prefer`, the
//! default of most) works in front of a server that has it, too. Beside what `offer.rs` takes out, this is
//! the only place where a proxy doesn't pass on what it is sent. Whoever insists is refused: a hello of TLS, which Redis, HTTP and
//! newer drivers of PostgreSQL begin with, and a client that leaves after the no.

use crate::history::Wire;

use super::postgres::{GSS_REQUEST, SSL_REQUEST};

/// A request for encryption: its length, and its code.
const REQUEST: usize = 8;
/// How a record of TLS begins: a handshake, of any version 3.
const HELLO: [u8; 2] = [0x16, 0x03];

/// What comes before the first message that is passed on.
#[derive(Debug)]
pub(super) struct Greeting {
    wire: Wire,
    is_over: bool,
    /// A request was declined, and nothing has come behind it.
    is_declined: bool,
    /// Noes that are still to be written.
    noes: Vec<u8>,
}

/// What became of some first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    /// So many were answered and go nowhere.
    pub(super) answered: usize,
    /// What stands behind them says nothing yet.
    pub(super) is_unclear: bool,
}

/// The client won't speak in plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Insists;

impl Greeting {
    pub(super) const fn of(wire: Wire) -> Self {
        Self { wire, is_over: false, is_declined: false, noes: Vec::new() }
    }

    pub(super) const fn wire(&self) -> Wire {
        self.wire
    }

    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Looks at all first bytes that have come and weren't answered. `is_all`: no others will.
    /// `asked` is told the name of each request for encryption.
    pub(super) fn take(
        &mut self,
        bytes: &[u8],
        is_all: bool,
        asked: &mut dyn FnMut(&'static str),
    ) -> Result<Taken, Insists> {
        let mut rest = bytes;
        while let Some(name) = self.request(rest) {
            asked(name);
            rest = &rest[REQUEST..];
            self.is_declined = true;
            self.noes.push(b'N');
        }
        if rest.starts_with(&HELLO) {
            return Err(Insists);
        }
        self.is_over = !rest.is_empty() && (is_all || !self.may_become_one(rest));
        self.is_declined &= !self.is_over;
        let answered = bytes.len() - rest.len();
        Ok(Taken { answered, is_unclear: !rest.is_empty() && !self.is_over })
    }

    /// What is still to be said to the client.
    pub(super) fn unsaid(&self) -> &[u8] {
        &self.noes
    }

    pub(super) fn said(&mut self, count: usize) {
        self.noes.drain(..count);
    }

    /// Whether a client that has left did so because of our no.
    pub(super) const fn is_declined(&self) -> bool {
        self.is_declined
    }

    fn request(&self, bytes: &[u8]) -> Option<&'static str> {
        if self.wire != Wire::Postgres {
            return None;
        }
        let codes = [(SSL_REQUEST, "SSLRequest"), (GSS_REQUEST, "GSSENCRequest")];
        let asked = codes.into_iter().find(|(code, _)| bytes.starts_with(&message(*code)));
        asked.map(|(_, name)| name)
    }

    /// Whether more bytes may make a request or a hello of these.
    fn may_become_one(&self, bytes: &[u8]) -> bool {
        let is_postgres = self.wire == Wire::Postgres;
        let codes = [SSL_REQUEST, GSS_REQUEST];
        HELLO.starts_with(bytes)
            || (is_postgres && codes.into_iter().any(|code| message(code).starts_with(bytes)))
    }
}

fn message(code: u32) -> [u8; REQUEST] {
    let [a, b, c, d] = code.to_be_bytes();
    [0, 0, 0, 8, a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of bytes that come one by one, and how many noes they are answered with.
    fn one_by_one(wire: Wire, bytes: &[u8]) -> Result<(Vec<u8>, usize), Insists> {
        let (mut greeting, mut waiting, mut passed) = (Greeting::of(wire), Vec::new(), Vec::new());
        for byte in bytes {
            if greeting.is_over() {
                passed.push(*byte);
                continue;
            }
            waiting.push(*byte);
            let taken = greeting.take(&waiting, false, &mut |_| {})?;
            waiting.drain(..taken.answered);
            if !taken.is_unclear {
                passed.append(&mut waiting);
            }
        }
        let taken = greeting.take(&waiting, true, &mut |_| {})?;
        assert!(!taken.is_unclear);
        passed.append(&mut waiting);
        Ok((passed, greeting.unsaid().len()))
    }

    #[test]
    fn requests_for_encryption_are_answered_and_all_else_passes() {
        let start = [0, 0, 0, 9, 0, 3, 0, 0, 0];
        let all = [&message(GSS_REQUEST)[..], &message(SSL_REQUEST), &start].concat();
        assert_eq!(one_by_one(Wire::Postgres, &all), Ok((start.to_vec(), 2)));
        assert_eq!(one_by_one(Wire::Redis, &all), Ok((all, 0)));
        // A cancellation begins alike, and a piece of a request is none.
        for bytes in [&[0, 0, 0, 8, 4, 210, 22, 46][..], &[0, 0, 0, 8, 4], &[0x16, 1], b"PING"] {
            assert_eq!(one_by_one(Wire::Postgres, bytes), Ok((bytes.to_vec(), 0)));
        }
    }

    #[test]
    fn a_hello_of_tls_insists_and_so_does_one_that_leaves_after_the_no() {
        for wire in Wire::ALL {
            assert_eq!(one_by_one(wire, &[0x16, 3, 1, 2]), Err(Insists));
        }
        let mut greeting = Greeting::of(Wire::Postgres);
        assert!(!greeting.is_declined());
        let taken = greeting.take(&message(SSL_REQUEST), false, &mut |_| {});
        assert_eq!(taken, Ok(Taken { answered: 8, is_unclear: false }));
        assert!(greeting.is_declined());
        assert!(greeting.take(b"", true, &mut |_| {}).is_ok() && greeting.is_declined());
        assert!(greeting.take(b"x", false, &mut |_| {}).is_ok() && !greeting.is_declined());
    }
}
