//! Response bodies, written down once each.
//!
//! Of a body only a digest of 128 bits and its number stay in memory, and of those only the last
//! ones: a steady load has a body of its own for every order, and its memory must stay flat. A body
//! that was forgotten gets a fresh number when it comes again: whoever compares goes by its SHA-256.

use foldhash::HashMap;
use sha2::{Digest, Sha256};

use crate::history::{Body, BodyId};

use super::fingerprint::hex;
use super::session::masked;

/// Distinct bodies that are remembered at least, and twice as many at most; a few MB. No burst has
/// more attempts.
const REMEMBERED: usize = 50_000;

/// Bytes of a body that are kept as text.
const LONGEST_TEXT: usize = 4 * 1024;

/// What is kept of a body once it has been read.
#[derive(Clone, Debug)]
pub(super) struct Digested {
    sha256: [u8; 32],
    /// Its beginning, without secrets.
    begin: Vec<u8>,
    bytes: u64,
}

impl Digested {
    /// What of a body may be kept: the secrets don't show in its text.
    pub fn of(mut body: Vec<u8>, secrets: &[String]) -> Self {
        let (sha256, bytes) = (Sha256::digest(&body).into(), body.len() as u64);
        body.truncate(LONGEST_TEXT);
        body.shrink_to(LONGEST_TEXT);
        if !secrets.is_empty() {
            body = masked(&String::from_utf8_lossy(&body), secrets).into_bytes();
        }
        Self { sha256, begin: body, bytes }
    }
}

/// Numbers bodies.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    known: HashMap<[u8; 16], BodyId>,
    /// Those before; they go when as many new ones have come.
    before: HashMap<[u8; 16], BodyId>,
    next: u32,
}

impl Bodies {
    /// The number of a body, and the fact to write down before it is used for the first time.
    pub fn number(&mut self, body: &Digested) -> (BodyId, Option<Body>) {
        let mut short = [0; 16];
        short.copy_from_slice(&body.sha256[..16]);
        if let Some(&id) = self.known.get(&short) {
            return (id, None);
        }
        if let Some(&id) = self.before.get(&short) {
            self.remember(short, id);
            return (id, None);
        }
        let id = BodyId(self.next);
        self.next += 1;
        self.remember(short, id);
        let text = String::from_utf8_lossy(&body.begin).into_owned();
        (id, Some(Body { id, text, sha256: hex(&body.sha256), bytes: body.bytes }))
    }

    fn remember(&mut self, short: [u8; 16], id: BodyId) {
        if self.known.len() >= REMEMBERED {
            std::mem::swap(&mut self.known, &mut self.before);
            self.known.clear();
        }
        self.known.insert(short, id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_have_one_number_and_are_written_once() {
        let mut bodies = Bodies::default();
        let (first, fact) = bodies.number(&Digested::of(b"{}".to_vec(), &[]));
        assert_eq!(fact.unwrap().text, "{}");
        assert_eq!(bodies.number(&Digested::of(b"{}".to_vec(), &[])).0, first);
        assert!(bodies.number(&Digested::of(b"{}".to_vec(), &[])).1.is_none());
        assert_ne!(bodies.number(&Digested::of(b"[]".to_vec(), &[])).0, first);
    }

    #[test]
    fn a_long_body_is_cut_as_text_and_whole_in_its_digest() {
        let long = vec![b'x'; 3 * LONGEST_TEXT];
        let (_, fact) = Bodies::default().number(&Digested::of(long.clone(), &[]));
        let fact = fact.unwrap();
        assert_eq!((fact.text.len(), fact.bytes), (LONGEST_TEXT, long.len() as u64));
        assert_eq!(fact.sha256, hex(&Sha256::digest(&long)));
    }

    #[test]
    fn secrets_do_not_show_in_the_text() {
        let secrets = ["s3cret".to_owned()];
        let (_, fact) =
            Bodies::default().number(&Digested::of(b"{\"t\":\"s3cret\"}".to_vec(), &secrets));
        assert_eq!(fact.unwrap().text, "{\"t\":\"***\"}");
    }

    #[test]
    fn what_is_remembered_is_bounded_and_the_last_ones_are_known() {
        let mut bodies = Bodies::default();
        let mut number =
            |count: usize| bodies.number(&Digested::of(count.to_be_bytes().to_vec(), &[]));
        (0..REMEMBERED * 3).for_each(|count| drop(number(count)));
        assert!(number(REMEMBERED * 3 - REMEMBERED).1.is_none());
        assert!(number(0).1.is_some());
        assert!(bodies.known.len() + bodies.before.len() <= 2 * REMEMBERED);
    }
}
