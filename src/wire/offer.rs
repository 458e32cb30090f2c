//! What a PostgreSQL that is spoken to over TLS offers for proving who one is.
//!
//! It offers SCRAM with channel binding, too, which binds a password to this one TLS connection. The
//! target has none: it could not take that offer, and libpq breaks the connection off when it is made
//! over a plain one ("server offered SCRAM-SHA-256-PLUS authentication over a non-SSL connection"). So
//! this mechanism is taken out of the list; the others, and all that follows, pass untouched.

use std::ops::Range;

/// The mechanism with channel binding, as it stands in the list (RFC 5802, section 6).
const BOUND: &[u8] = b"SCRAM-SHA-256-PLUS\0";
/// What comes before a longer beginning isn't looked at.
const LONGEST: usize = 16 * 1024;
/// AuthenticationSASL.
const SASL: [u8; 4] = [0, 0, 0, 10];

/// The beginning of what a server says.
#[derive(Debug)]
pub(super) struct Offer {
    is_over: bool,
}

impl Offer {
    /// `is_bound`: it may offer channel binding.
    pub(super) const fn of(is_bound: bool) -> Self {
        Self { is_over: !is_bound }
    }

    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Looks at all first bytes that have come; how many of them are left, when they are clear. `is_all`:
    /// no others will come.
    pub(super) fn take(&mut self, bytes: &mut [u8], is_all: bool) -> Option<usize> {
        let message = match asks_for_proof(bytes) {
            Begun::Unclear if !is_all && bytes.len() < LONGEST => return None,
            Begun::Unclear | Begun::Other => None,
            Begun::Asks(message) => Some(message),
        };
        self.is_over = true;
        Some(message.map_or(bytes.len(), |message| without_binding(bytes, &message)))
    }
}

enum Begun {
    Unclear,
    /// The message that lists the mechanisms.
    Asks(Range<usize>),
    Other,
}

/// Behind the messages that may come before it: a version negotiated, notices.
fn asks_for_proof(bytes: &[u8]) -> Begun {
    let mut start = 0;
    loop {
        let Some([tag, length @ ..]) = bytes[start..].first_chunk::<5>() else {
            return Begun::Unclear;
        };
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(LONGEST);
        let end = start + 1 + length;
        match tag {
            b'v' | b'N' | b'R' if !(4..LONGEST).contains(&length) => return Begun::Other,
            b'v' | b'N' | b'R' if bytes.len() < end => return Begun::Unclear,
            b'v' | b'N' => start = end,
            b'R' if bytes[start + 5..end].starts_with(&SASL) => return Begun::Asks(start..end),
            _ => return Begun::Other,
        }
    }
}

/// Takes the mechanism out of the message; how many bytes are left in all.
fn without_binding(bytes: &mut [u8], message: &Range<usize>) -> usize {
    let list = message.start + 9..message.end;
    let at = list.clone().find(|at| {
        let begins = *at == list.start || bytes[at - 1] == 0;
        begins && bytes[*at..list.end].starts_with(BOUND)
    });
    let Some(at) = at else { return bytes.len() };
    bytes.copy_within(at + BOUND.len().., at);
    let length = u32::try_from(message.len() - 1 - BOUND.len()).unwrap_or_default();
    bytes[message.start + 1..message.start + 5].copy_from_slice(&length.to_be_bytes());
    bytes.len() - BOUND.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap();
        [&[tag], &length.to_be_bytes()[..], body].concat()
    }

    fn asks(mechanisms: &[u8]) -> Vec<u8> {
        message(b'R', &[&SASL, mechanisms, b"\0"].concat())
    }

    /// What is left of bytes that come one by one.
    fn one_by_one(bytes: &[u8]) -> Vec<u8> {
        let (mut offer, mut waiting) = (Offer::of(true), Vec::new());
        for byte in bytes {
            waiting.push(*byte);
            if !offer.is_over()
                && let Some(left) = offer.take(&mut waiting, false)
            {
                waiting.truncate(left);
            }
        }
        if !offer.is_over() {
            assert_eq!(offer.take(&mut waiting, true), Some(waiting.len()));
        }
        waiting
    }

    #[test]
    fn channel_binding_alone_is_taken_out_of_the_list() {
        let before = [message(b'v', &[0; 8]), message(b'N', b"SNOTICE\0\0")].concat();
        let both = [&before[..], &asks(b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0"), b"more"].concat();
        let plain = [&before[..], &asks(b"SCRAM-SHA-256\0"), b"more"].concat();
        assert_eq!(one_by_one(&both), plain);
        assert_eq!(one_by_one(&plain), plain);
        let (mut offer, mut at_once) = (Offer::of(true), both);
        assert_eq!(offer.take(&mut at_once, false), Some(plain.len()));
        assert!(at_once.starts_with(&plain) && offer.is_over());
    }

    #[test]
    fn everything_else_passes() {
        for bytes in [
            &message(b'R', &[0; 4])[..],
            &message(b'E', b"SFATAL\0\0"),
            &asks(b"XSCRAM-SHA-256-PLUS\0"),
            b"R\0\0\0\x02xxxxxxxx",
            b"N\xff\xff\xff\xffxxxx",
            b"R\0\0",
            b"",
        ] {
            assert_eq!(one_by_one(bytes), bytes);
        }
    }
}
