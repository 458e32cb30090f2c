//! Cuts what PostgreSQL sends into frames.
//!
//! The answer to a request for encryption is one byte without a length, and may be `N` or `S`,
//! which are tags as well. So it has to be told when one is owed.

use crate::wire::{Mark, Scanner};

use super::frame::{Frame, Frames, Head, Lead, Opening, tagged};

/// What a server sends on one connection.
#[derive(Debug)]
pub struct Backend {
    frames: Frames,
    /// Answers of one byte that are still to come.
    owed: u32,
}

impl Backend {
    pub const fn new() -> Self {
        Self { frames: Frames::new(Opening::Tag), owed: 0 }
    }

    /// The client has asked for encryption; to be said before the server can have answered. A server
    /// that is in the midst of a frame has not waited for the request, and owes nothing.
    pub const fn owe_answer(&mut self) {
        if self.frames.is_between() {
            self.owed = self.owed.saturating_add(1);
        }
    }

    /// Says nothing any more: what follows is encrypted.
    pub const fn give_up(&mut self) {
        self.frames.opening = Opening::Opaque;
    }
}

impl Default for Backend {
    fn default() -> Self {
        Self::new()
    }
}

impl Scanner for Backend {
    type Frame<'a> = Frame<'a>;

    fn scan(&mut self, mut bytes: &[u8], seen: &mut dyn FnMut(Mark<Frame<'_>>)) {
        // Answers come before anything else, one byte each.
        while self.owed > 0
            && self.frames.is_between()
            && self.frames.opening == Opening::Tag
            && !bytes.is_empty()
        {
            self.frames.opening = Opening::Answer;
            // An error in place of an answer ends the connection.
            self.owed = if bytes[0] == b'E' { 0 } else { self.owed - 1 };
            let (answer, rest) = bytes.split_at(1);
            self.frames.scan(answer, head, seen);
            bytes = rest;
        }
        self.frames.scan(bytes, head, seen);
    }

    fn position(&self) -> u64 {
        self.frames.position()
    }
}

fn head(opening: Opening, head: &[u8]) -> Result<Head, &'static str> {
    match (opening, head) {
        // Anything but a no lets the client encrypt at once.
        (Opening::Answer, [b'N']) => Ok((Lead::Answer(b'N'), 0, Opening::Tag)),
        (Opening::Answer, [answer]) => Ok((Lead::Answer(*answer), 0, Opening::Opaque)),
        _ => tagged(head),
    }
}
