//! Reads the fields of a message body, which may be cut at any place.

use crate::wire::Part;

use super::frame::word;

/// What is left of a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a>(pub Part<'a>);

impl<'a> Fields<'a> {
    /// So many bytes; none where not all of them are there.
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.bytes.split_at_checked(count)?;
        self.0.bytes = rest;
        Some(taken)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte[0])
    }

    pub(super) fn short(&mut self) -> Option<u16> {
        self.take(2)?.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
    }

    pub(super) fn word(&mut self) -> Option<u32> {
        word(self.take(4)?)
    }

    /// A string up to its NUL, or what is there of it.
    pub(super) fn string(&mut self) -> Option<Part<'a>> {
        let bytes = self.0.bytes;
        match bytes.iter().position(|byte| *byte == 0) {
            Some(end) => {
                self.0.bytes = &bytes[end + 1..];
                Some(Part::whole(&bytes[..end]))
            }
            None if self.0.is_whole => None,
            None => {
                self.0.bytes = &[];
                Some(Part::cut(bytes))
            }
        }
    }

    /// A string that is all there.
    pub(super) fn name(&mut self) -> Option<&'a [u8]> {
        self.string().filter(|name| name.is_whole).map(|name| name.bytes)
    }

    /// So many bytes, or what is there of them.
    pub(super) fn value(&mut self, count: usize) -> Option<Part<'a>> {
        if let Some(bytes) = self.take(count) {
            return Some(Part::whole(bytes));
        }
        let bytes = std::mem::take(&mut self.0.bytes);
        (!self.0.is_whole).then_some(Part::cut(bytes))
    }
}
