//! One message after the other: a head, which is kept, and a body, which passes.
//!
//! Both directions share this; they differ in how they read a head. A message is known with its
//! head and not later, since its answer may come, and with `Expect: 100-continue` must come, before
//! its body. What is kept of the body is there when the message has ended.

use std::fmt;

use crate::wire::{Mark, Part};

use super::body::Body;

/// A head that is longer can't be read, and is longer than servers take.
const LONGEST_HEAD: usize = 64 * 1024;
/// As much of a body as is kept.
const KEPT: usize = 4096;

/// A look at a message, as far as it has come and is kept.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    /// The place of its first byte.
    pub start: u64,
    pub(super) head: &'a [u8],
    body: Part<'a>,
    is_last: bool,
}

impl<'a> Message<'a> {
    /// The content of its body without the lengths of its chunks, as far as it has come.
    pub const fn body(&self) -> Part<'a> {
        self.body
    }

    /// The first field of this name, where it is text.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        let fields = self.head.split(|byte| *byte == b'\n').skip(1);
        let mut named = fields.filter_map(|line| {
            let (field, value) = line.split_at_checked(name.len())?;
            let is_it = field.eq_ignore_ascii_case(name.as_bytes());
            std::str::from_utf8(value.strip_prefix(b":").filter(|_| is_it)?).ok()
        });
        named.next().map(str::trim)
    }

    /// Whether another protocol is spoken behind it.
    pub const fn is_last(&self) -> bool {
        self.is_last
    }
}

/// Heads carry credentials, which don't belong in a log.
impl fmt::Debug for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").field("start", &self.start).finish_non_exhaustive()
    }
}

/// What a head says about what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follows {
    Body(Body),
    /// Another protocol.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Between,
    /// `has_begun`: its first line has; empty lines in front of it don't end it. `is_line_empty`:
    /// nothing has come of the current line.
    Head {
        has_begun: bool,
        is_line_empty: bool,
    },
    Body(Body),
    Opaque,
}

pub(super) struct Messages {
    state: State,
    at: u64,
    start: u64,
    head: Vec<u8>,
    body: Vec<u8>,
    /// All content that has come.
    length: u64,
}

impl Messages {
    pub(super) const fn new() -> Self {
        Self {
            state: State::Between,
            at: 0,
            start: 0,
            head: Vec::new(),
            body: Vec::new(),
            length: 0,
        }
    }

    pub(super) const fn position(&self) -> u64 {
        self.at
    }

    pub(super) const fn give_up(&mut self) {
        self.state = State::Opaque;
    }

    pub(super) fn is_opaque(&self) -> bool {
        self.state == State::Opaque
    }

    /// Looks at the next bytes. `read` makes sense of a whole head.
    pub(super) fn scan(
        &mut self,
        mut bytes: &[u8],
        read: &mut dyn FnMut(&[u8]) -> Result<Follows, &'static str>,
        seen: &mut dyn FnMut(Mark<Message<'_>>),
    ) {
        while !bytes.is_empty() {
            let looked = match self.state {
                State::Between => {
                    self.start = self.at;
                    self.head.clear();
                    self.body.clear();
                    self.length = 0;
                    self.state = State::Head { has_begun: false, is_line_empty: true };
                    seen(Mark::Begun { at: self.at });
                    continue;
                }
                State::Head { has_begun, is_line_empty } => {
                    self.head(bytes, has_begun, is_line_empty, read, seen)
                }
                State::Body(body) => self.body(bytes, body, seen),
                State::Opaque => {
                    self.at += bytes.len() as u64;
                    return;
                }
            };
            match looked {
                Ok(used) => bytes = &bytes[used..],
                Err(why) => {
                    self.state = State::Opaque;
                    seen(Mark::Opaque { at: self.start, why });
                }
            }
        }
    }

    /// The connection has ended, and with it a body that lasts until then.
    pub(super) fn ended(&mut self, seen: &mut dyn FnMut(Mark<Message<'_>>)) {
        if self.state == State::Body(Body::UntilClose) {
            self.end(State::Between, seen);
        }
    }

    fn head(
        &mut self,
        bytes: &[u8],
        mut has_begun: bool,
        mut is_line_empty: bool,
        read: &mut dyn FnMut(&[u8]) -> Result<Follows, &'static str>,
        seen: &mut dyn FnMut(Mark<Message<'_>>),
    ) -> Result<usize, &'static str> {
        let mut used = 0;
        let mut is_end = false;
        while let (Some(byte), false) = (bytes.get(used), is_end) {
            used += 1;
            is_end = *byte == b'\n' && is_line_empty && has_begun;
            has_begun |= !matches!(byte, b'\r' | b'\n');
            is_line_empty = *byte == b'\n' || (is_line_empty && *byte == b'\r');
        }
        if self.head.len() + used > LONGEST_HEAD {
            return Err("a head is too long");
        }
        self.head.extend_from_slice(&bytes[..used]);
        let follows = if is_end { Some(read(&self.head)?) } else { None };
        self.at += used as u64;
        self.state = State::Head { has_begun, is_line_empty };
        let Some(follows) = follows else { return Ok(used) };
        seen(Mark::Known(self.message(false)));
        match follows {
            Follows::Body(body) if body.is_empty() => self.end(State::Between, seen),
            Follows::Body(body) => self.state = State::Body(body),
            Follows::Other => self.end(State::Opaque, seen),
        }
        Ok(used)
    }

    fn body(
        &mut self,
        bytes: &[u8],
        mut body: Body,
        seen: &mut dyn FnMut(Mark<Message<'_>>),
    ) -> Result<usize, &'static str> {
        let step = body.step(bytes)?;
        self.at += step.used as u64;
        if step.is_content {
            let room = (KEPT - self.body.len()).min(step.used);
            self.body.extend_from_slice(&bytes[..room]);
            self.length += step.used as u64;
        }
        self.state = State::Body(body);
        if step.is_end {
            self.end(State::Between, seen);
        }
        Ok(step.used)
    }

    fn end(&mut self, next: State, seen: &mut dyn FnMut(Mark<Message<'_>>)) {
        self.state = next;
        seen(Mark::Ended { at: self.at, frame: self.message(true) });
    }

    fn message(&self, is_ended: bool) -> Message<'_> {
        let is_whole = is_ended && self.length == self.body.len() as u64;
        Message {
            start: self.start,
            head: &self.head,
            body: Part { bytes: &self.body, is_whole },
            is_last: self.state == State::Opaque,
        }
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Messages").field("state", &self.state).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_whatever_is_sent() {
        let read = |_: &[u8]| Ok(Follows::Body(Body::UntilClose));
        for head in ["", "GET / HTTP/1.1\r\n\r\n"] {
            let mut messages = Messages::new();
            messages.scan(head.as_bytes(), &mut { read }, &mut |_| {});
            for _ in 0..2_000 {
                messages.scan(&[b'x'; 1_000], &mut { read }, &mut |_| {});
            }
            assert!(messages.head.capacity() <= 2 * LONGEST_HEAD);
            assert!(messages.body.capacity() <= 2 * KEPT);
        }
    }
}
