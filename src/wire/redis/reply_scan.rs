//! Cuts what Redis sends into replies and pushes.

use crate::wire::{Mark, Scanner};

use super::reply::Reply;
use super::values::{Event, Role, Values};

/// As much of a reply as is kept, from its own value on: attributes in front of it are not.
const KEPT: usize = 1024;
/// A reply that is longer is told after so many bytes, whatever is known by then: its own value may
/// lie behind a long attribute.
const TOLD_AFTER: u64 = 32 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Between,
    /// In the attributes in front of the reply's own value.
    Before,
    Within,
    Opaque,
}

/// The replies of one connection.
#[derive(Debug)]
pub struct Replies {
    state: State,
    at: u64,
    start: u64,
    is_told: bool,
    values: Values,
    /// What earlier reads brought of the current reply.
    kept: Vec<u8>,
}

impl Replies {
    pub const fn new() -> Self {
        Self {
            state: State::Between,
            at: 0,
            start: 0,
            is_told: false,
            values: Values::new(),
            kept: Vec::new(),
        }
    }

    /// Says nothing any more: what follows is no stream of replies, as after a PSYNC.
    pub const fn give_up(&mut self) {
        self.state = State::Opaque;
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = (KEPT - self.kept.len()).min(bytes.len());
        self.kept.extend_from_slice(&bytes[..room]);
    }
}

impl Default for Replies {
    fn default() -> Self {
        Self::new()
    }
}

impl Scanner for Replies {
    type Frame<'a> = Reply<'a>;

    fn scan(&mut self, bytes: &[u8], seen: &mut dyn FnMut(Mark<Reply<'_>>)) {
        // What belongs to the current reply's own value begins here.
        let mut own = 0;
        let mut used = 0;
        while used < bytes.len() && self.state != State::Opaque {
            if self.state == State::Between {
                self.state = State::Before;
                self.start = self.at;
                self.is_told = false;
                self.kept.clear();
                seen(Mark::Begun { at: self.at });
            }
            let step = self.values.step(&bytes[used..]);
            match step.event {
                Event::Broken(why) => {
                    self.state = State::Opaque;
                    seen(Mark::Opaque { at: self.start, why });
                }
                Event::Kind { role: Role::Own, .. } => {
                    self.state = State::Within;
                    own = used;
                }
                _ => {}
            }
            used += step.used;
            self.at += step.used as u64;
            if step.is_end {
                self.state = State::Between;
                let here = &bytes[own..used];
                // A reply that came in one read is looked at where it lies.
                let kept = if self.kept.is_empty() {
                    &here[..here.len().min(KEPT)]
                } else {
                    self.keep(here);
                    &self.kept
                };
                let frame = Reply::new(self.start, kept);
                if !self.is_told {
                    seen(Mark::Known(frame));
                }
                seen(Mark::Ended { at: self.at, frame });
            }
        }
        if self.state == State::Within {
            self.keep(&bytes[own..]);
        }
        self.at += (bytes.len() - used) as u64;
        let is_open = matches!(self.state, State::Before | State::Within);
        let is_due = self.kept.len() == KEPT || self.at - self.start >= TOLD_AFTER;
        if is_open && is_due && !self.is_told {
            self.is_told = true;
            seen(Mark::Known(Reply::new(self.start, &self.kept)));
        }
    }

    fn position(&self) -> u64 {
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_whatever_a_server_sends() {
        for head in ["*999999999\r\n", "$999999999\r\n", "+", "|999999999\r\n", "*?\r\n"] {
            let mut replies = Replies::new();
            replies.scan(head.as_bytes(), &mut |_| {});
            for _ in 0..2_000 {
                replies.scan(&b"$10\r\n0123456789\r\n".repeat(50)[..], &mut |_| {});
            }
            assert!(replies.kept.capacity() <= 2 * KEPT, "{head}");
        }
    }
}
