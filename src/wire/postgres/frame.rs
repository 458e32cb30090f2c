//! One frame after the other, by tag and length, whatever the tag.
//!
//! Both directions share this; they differ in how a frame may begin. A frame that came in one read
//! is looked at where it lies, only of one that came in several a beginning is copied.

use std::ops::Range;

use crate::wire::{Mark, Part};

/// As much of a frame's body as is kept.
const KEPT: usize = 4096;

/// What stands where a frame begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lead {
    /// A message of the start, which has no tag: length and a code.
    Start(u32),
    /// A message with this tag.
    Tag(u8),
    /// One byte alone: the answer to a request for encryption.
    Answer(u8),
}

/// A look at a frame, as far as it has come and is kept.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The place of its first byte.
    pub start: u64,
    pub lead: Lead,
    /// Bytes behind the lead and the length.
    pub length: u64,
    body: &'a [u8],
}

impl<'a> Frame<'a> {
    /// From its first byte to behind its last one, which may still be to come.
    pub const fn place(&self) -> Range<u64> {
        let head = match self.lead {
            Lead::Start(_) => 8,
            Lead::Tag(_) => 5,
            Lead::Answer(_) => 1,
        };
        self.start..self.start + head + self.length
    }

    pub const fn body(&self) -> Part<'a> {
        Part { bytes: self.body, is_whole: self.body.len() as u64 == self.length }
    }
}

/// How the next frame begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    Start,
    Tag,
    Answer,
    /// No more frames.
    Opaque,
}

/// A frame's lead, the length of its body, and how the frame behind it begins.
pub(super) type Head = (Lead, u64, Opening);

/// A frame of which more is to come.
#[derive(Clone, Copy, Debug)]
struct Open {
    start: u64,
    lead: Lead,
    length: u64,
    left: u64,
    is_told: bool,
}

#[derive(Debug)]
pub(super) struct Frames {
    pub(super) opening: Opening,
    at: u64,
    /// The head as far as it has come.
    head: [u8; 8],
    filled: usize,
    open: Option<Open>,
    /// What earlier reads brought of the body.
    kept: Vec<u8>,
}

impl Frames {
    pub(super) const fn new(opening: Opening) -> Self {
        Self { opening, at: 0, head: [0; 8], filled: 0, open: None, kept: Vec::new() }
    }

    pub(super) const fn position(&self) -> u64 {
        self.at
    }

    /// Whether the next byte begins a frame.
    pub(super) const fn is_between(&self) -> bool {
        self.filled == 0 && self.open.is_none()
    }

    /// Looks at the next bytes. `read` makes a head of the bytes that the opening needs.
    pub(super) fn scan(
        &mut self,
        mut bytes: &[u8],
        read: fn(Opening, &[u8]) -> Result<Head, &'static str>,
        seen: &mut dyn FnMut(Mark<Frame<'_>>),
    ) {
        loop {
            if let Some(open) = self.open {
                bytes = self.body(open, bytes, seen);
                if bytes.is_empty() {
                    return;
                }
            }
            if self.opening == Opening::Opaque {
                self.at += bytes.len() as u64;
                return;
            }
            let Some(first) = bytes.first() else { return };
            if self.filled == 0 {
                seen(Mark::Begun { at: self.at });
            }
            let needed = match self.opening {
                // An error may stand where one byte was asked for.
                Opening::Answer if self.filled == 0 && *first == b'E' => {
                    self.opening = Opening::Tag;
                    5
                }
                Opening::Answer => 1,
                Opening::Tag => 5,
                Opening::Start | Opening::Opaque => 8,
            };
            let here = (needed - self.filled).min(bytes.len());
            self.head[self.filled..self.filled + here].copy_from_slice(&bytes[..here]);
            self.filled += here;
            self.at += here as u64;
            bytes = &bytes[here..];
            if self.filled < needed {
                return;
            }
            self.filled = 0;
            let start = self.at - needed as u64;
            match read(self.opening, &self.head[..needed]) {
                Ok((lead, length, opening)) => {
                    self.opening = opening;
                    self.kept.clear();
                    let open = Open { start, lead, length, left: length, is_told: false };
                    self.open = Some(open);
                    if length == 0 {
                        bytes = self.body(open, bytes, seen);
                    }
                }
                Err(why) => {
                    self.opening = Opening::Opaque;
                    seen(Mark::Opaque { at: start, why });
                }
            }
        }
    }

    /// Takes what belongs to the open frame; what belongs to the next.
    fn body<'b>(
        &mut self,
        mut open: Open,
        bytes: &'b [u8],
        seen: &mut dyn FnMut(Mark<Frame<'_>>),
    ) -> &'b [u8] {
        let here = usize::try_from(open.left).unwrap_or(usize::MAX).min(bytes.len());
        let (body, rest) = bytes.split_at(here);
        let is_at_once = here as u64 == open.length;
        open.left -= here as u64;
        self.at += here as u64;
        // A password, or a step of SCRAM, is nobody's business.
        let most = if open.lead == Lead::Tag(b'p') { 0 } else { KEPT };
        if !is_at_once {
            let room = most.saturating_sub(self.kept.len()).min(here);
            self.kept.extend_from_slice(&body[..room]);
        }
        let kept = if is_at_once { &body[..here.min(most)] } else { &self.kept };
        let frame = Frame { start: open.start, lead: open.lead, length: open.length, body: kept };
        let is_end = open.left == 0;
        if !open.is_told && (is_end || kept.len() >= most) {
            open.is_told = true;
            seen(Mark::Known(frame));
        }
        if is_end {
            seen(Mark::Ended { at: self.at, frame });
        }
        self.open = (!is_end).then_some(open);
        rest
    }
}

/// The head of a frame with a tag.
pub(super) fn tagged(head: &[u8]) -> Result<Head, &'static str> {
    let [tag, length @ ..] = head else { return Err("a head is too short") };
    // The protocol's lengths are signed; a negative one is no length, and each counts itself.
    let length = word(length).filter(|length| i32::try_from(*length).is_ok());
    match length.and_then(|length| length.checked_sub(4)) {
        Some(length) => Ok((Lead::Tag(*tag), length.into(), Opening::Tag)),
        None => Err("a length makes no sense"),
    }
}

/// Four bytes as a number.
pub(super) fn word(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_whatever_is_sent() {
        let mut frames = Frames::new(Opening::Tag);
        let read = |_: Opening, head: &[u8]| tagged(head);
        frames.scan(b"d\x7f\xff\xff\xff", read, &mut |_| {});
        for _ in 0..2_000 {
            frames.scan(&[b'x'; 1_000], read, &mut |_| {});
        }
        assert!(frames.open.is_some() && frames.kept.capacity() <= 2 * KEPT);
    }
}
