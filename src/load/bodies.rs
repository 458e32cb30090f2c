//! Response bodies, written down once each.
//!
//! Of a body only a digest of 128 bits and its number stay in memory, so that 100,000 attempts with
//! bodies of their own cost megabytes and not gigabytes. Past [`MOST_BODIES`] distinct ones a body
//! gets a fresh number each time it is seen: whoever compares goes by its SHA-256.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use crate::history::{Body, BodyId};

use super::fingerprint::hex;

/// Distinct bodies that are remembered; about 10 MB.
const MOST_BODIES: usize = 400_000;

/// Bytes of a body that are kept as text.
const LONGEST_TEXT: usize = 4 * 1024;

/// What is kept of a body once it has been read.
#[derive(Clone, Debug)]
pub(super) struct Digested {
    sha256: [u8; 32],
    text: String,
    bytes: u64,
}

impl Digested {
    pub fn of(body: &[u8]) -> Self {
        let cut = &body[..body.len().min(LONGEST_TEXT)];
        Self {
            sha256: Sha256::digest(body).into(),
            text: String::from_utf8_lossy(cut).into_owned(),
            bytes: body.len() as u64,
        }
    }
}

/// Numbers bodies.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    known: HashMap<[u8; 16], BodyId>,
    next: u32,
}

impl Bodies {
    /// The number of a body, and the fact to write down before it is used for the first time.
    pub fn number(&mut self, body: Digested) -> (BodyId, Option<Body>) {
        let mut short = [0; 16];
        short.copy_from_slice(&body.sha256[..16]);
        if let Some(&id) = self.known.get(&short) {
            return (id, None);
        }
        let id = BodyId(self.next);
        self.next += 1;
        if self.known.len() < MOST_BODIES {
            self.known.insert(short, id);
        }
        let (text, bytes) = (body.text, body.bytes);
        (id, Some(Body { id, text, sha256: hex(&body.sha256), bytes }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_have_one_number_and_are_written_once() {
        let mut bodies = Bodies::default();
        let (first, fact) = bodies.number(Digested::of(b"{}"));
        assert_eq!(fact.unwrap().text, "{}");
        assert_eq!(bodies.number(Digested::of(b"{}")).0, first);
        assert!(bodies.number(Digested::of(b"{}")).1.is_none());
        assert_ne!(bodies.number(Digested::of(b"[]")).0, first);
    }

    #[test]
    fn a_long_body_is_cut_as_text_and_whole_in_its_digest() {
        let long = vec![b'x'; 3 * LONGEST_TEXT];
        let (_, fact) = Bodies::default().number(Digested::of(&long));
        let fact = fact.unwrap();
        assert_eq!((fact.text.len(), fact.bytes), (LONGEST_TEXT, long.len() as u64));
        assert_eq!(fact.sha256, hex(&Sha256::digest(&long)));
    }
}
