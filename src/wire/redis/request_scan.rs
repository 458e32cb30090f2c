//! Cuts what a client sends to Redis into requests.
//!
//! Redis reads an array where a request begins with `*`, and a line otherwise; so do we.

use crate::wire::{Mark, Scanner};

use super::capture::Capture;
use super::inline;
use super::request::Request;
use super::values::{Event, Values};

/// A request that is longer is told after so many bytes, with what is known by then.
const TOLD_AFTER: u64 = 32 * 1024;
/// As much of an inline command as is kept.
const MOST_OF_A_LINE: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Between,
    Array,
    Line,
    Opaque,
}

/// The requests of one connection.
#[derive(Debug)]
pub struct Requests {
    state: State,
    at: u64,
    /// Where the current request began, and whether it has been told.
    start: u64,
    is_told: bool,
    values: Values,
    capture: Capture,
    line: Vec<u8>,
}

impl Requests {
    pub const fn new() -> Self {
        Self {
            state: State::Between,
            at: 0,
            start: 0,
            is_told: false,
            values: Values::new(),
            capture: Capture::new(),
            line: Vec::new(),
        }
    }

    /// Says nothing any more: what follows is no stream of requests.
    pub const fn give_up(&mut self) {
        self.state = State::Opaque;
    }

    /// Looks at a part of an array; how many bytes it took, and whether the request ends there.
    fn array(&mut self, bytes: &[u8]) -> Result<(usize, bool), &'static str> {
        let step = self.values.step(bytes);
        match step.event {
            Event::Broken(why) => return Err(why),
            Event::Counted { kind: b'$', count: Some(length @ 0..) } => {
                self.capture.begin(length.unsigned_abs());
            }
            Event::Content => self.capture.content(&bytes[..step.used]),
            _ => {}
        }
        Ok((step.used, step.is_end))
    }

    fn line(&mut self, bytes: &[u8]) -> (usize, bool) {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let here = &bytes[..end.unwrap_or(bytes.len())];
        let room = (MOST_OF_A_LINE - self.line.len()).min(here.len());
        self.line.extend_from_slice(&here[..room]);
        if end.is_some() {
            // A line that is cut may be cut in a word, whose quotes say nothing then.
            for word in inline::words(&self.line).unwrap_or_default() {
                self.capture.add(&word);
            }
        }
        (end.map_or(bytes.len(), |end| end + 1), end.is_some())
    }

    const fn frame(&self, is_whole: bool) -> Request<'_> {
        Request::new(self.start, &self.capture, is_whole)
    }
}

impl Default for Requests {
    fn default() -> Self {
        Self::new()
    }
}

impl Scanner for Requests {
    type Frame<'a> = Request<'a>;

    fn scan(&mut self, mut bytes: &[u8], seen: &mut dyn FnMut(Mark<Request<'_>>)) {
        while let Some(first) = bytes.first() {
            if self.state == State::Between {
                self.state = if *first == b'*' { State::Array } else { State::Line };
                self.start = self.at;
                self.is_told = false;
                self.capture.clear();
                self.line.clear();
                seen(Mark::Begun { at: self.at });
            }
            let looked = match self.state {
                State::Array => self.array(bytes),
                State::Line => Ok(self.line(bytes)),
                State::Between | State::Opaque => Ok((bytes.len(), false)),
            };
            let (used, is_end) = match looked {
                Ok(looked) => looked,
                Err(why) => {
                    self.state = State::Opaque;
                    seen(Mark::Opaque { at: self.start, why });
                    continue;
                }
            };
            self.at += used as u64;
            bytes = &bytes[used..];
            let is_told = self.is_told;
            self.is_told |= is_end || self.at - self.start >= TOLD_AFTER;
            if self.is_told && !is_told || is_end {
                // What was told early may have been told before its verb came.
                self.capture.read_verb();
            }
            if self.state != State::Opaque && self.is_told && !is_told {
                seen(Mark::Known(self.frame(is_end)));
            }
            if is_end {
                self.state = State::Between;
                seen(Mark::Ended { at: self.at, frame: self.frame(true) });
            }
        }
    }

    fn position(&self) -> u64 {
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is kept of requests of any size, where they have room to grow.
    #[test]
    fn memory_is_bounded_whatever_a_client_sends() {
        let heads = [
            "*1000000\r\n$3\r\nSET\r\n".to_owned(),
            "*3\r\n$4\r\nEVAL\r\n$999999999\r\n".to_owned(),
            "an inline command ".to_owned(),
        ];
        for head in heads {
            let mut requests = Requests::new();
            requests.scan(head.as_bytes(), &mut |_| {});
            for _ in 0..2_000 {
                requests.scan(&b"$10\r\n0123456789\r\n".repeat(50), &mut |_| {});
            }
            assert_ne!(requests.state, State::Opaque);
            assert!(requests.capture.memory() <= 64 * 1024, "{head}");
            assert!(requests.line.capacity() <= 2 * MOST_OF_A_LINE, "{head}");
        }
    }
}
