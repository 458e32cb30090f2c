//! One direction of a connection on its way through: bytes in, the same bytes out, and a place
//! that they may not pass.
//!
//! Its memory is one buffer of a fixed size. Where that is full, [`Codec::spare`] is empty, so
//! that the owner stops reading and the sender is held up by TCP itself; a frame that is larger
//! than the buffer passes in pieces. An owner who may want to hold a frame holds at its beginning
//! until it is known, which is sooner than a buffer of the usual size is full. Three places follow
//! each other: `passed <= gate <= scanned`. Bytes differ only where an owner has ordered an [`Edit`].

use std::collections::VecDeque;

use super::mark::{Mark, Scanner};

/// As much as one read brings at most. Reads of this size cost no more than a plain copy does.
const BUFFER: usize = 64 * 1024;

/// The bytes of one direction between being read and being written.
#[derive(Debug)]
pub struct Codec<S> {
    scanner: S,
    buffer: Vec<u8>,
    /// The bytes that wait are `buffer[start..end]`.
    start: usize,
    end: usize,
    /// The place that nothing passes for now.
    gate: Option<u64>,
    /// In the order of their places.
    edits: VecDeque<Edit>,
}

/// Other bytes in place of those that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Where it begins.
    pub at: u64,
    /// So many bytes from there on are left out, those included that are still to come.
    pub skip: u64,
    /// These are written in their place.
    pub insert: Vec<u8>,
}

impl Edit {
    /// The bytes of a frame are replaced.
    pub fn replace(frame: std::ops::Range<u64>, insert: Vec<u8>) -> Self {
        Self { at: frame.start, skip: frame.end - frame.start, insert }
    }
}

impl<S: Scanner> Codec<S> {
    pub fn new(scanner: S) -> Self {
        Self::with_capacity(scanner, BUFFER)
    }

    /// One that keeps at most so many bytes (at least one, or nothing would ever pass).
    pub fn with_capacity(scanner: S, bytes: usize) -> Self {
        Self {
            scanner,
            buffer: vec![0; bytes.max(1)],
            start: 0,
            end: 0,
            gate: None,
            edits: VecDeque::new(),
        }
    }

    /// Room to read into; empty when as much waits as may wait.
    pub fn spare(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() && self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        &mut self.buffer[self.end..]
    }

    /// So many bytes were read into [`Self::spare`]; they are looked at once, now.
    pub fn filled(&mut self, count: usize, seen: &mut dyn FnMut(Mark<S::Frame<'_>>)) {
        let end = self.buffer.len().min(self.end + count);
        self.scanner.scan(&self.buffer[self.end..end], seen);
        self.end = end;
        self.leave_out();
    }

    /// Nothing more will be read: the stream has come to its end in order.
    pub fn ended(&mut self, seen: &mut dyn FnMut(Mark<S::Frame<'_>>)) {
        self.scanner.ended(seen);
    }

    /// What may be written now, in order.
    pub fn ready(&self) -> &[u8] {
        let waiting = &self.buffer[self.start..self.end];
        let edit = self.edits.front();
        if let Some(edit) = edit.filter(|edit| self.is_due(edit)) {
            return &edit.insert;
        }
        let gate = match (self.gate, edit) {
            (Some(gate), Some(edit)) => gate.min(edit.at),
            (Some(gate), None) => gate,
            (None, Some(edit)) => edit.at,
            (None, None) => return waiting,
        };
        let before = usize::try_from(gate.saturating_sub(self.passed_to())).ok();
        &waiting[..before.unwrap_or(usize::MAX).min(waiting.len())]
    }

    /// So many bytes of [`Self::ready`] have left: written, or dropped by a decision of the owner.
    pub fn passed(&mut self, count: usize) {
        let count = count.min(self.ready().len());
        let place = self.passed_to();
        match self.edits.front_mut() {
            Some(edit) if edit.at == place && !edit.insert.is_empty() => {
                edit.insert.drain(..count);
            }
            _ => self.start += count,
        }
        self.leave_out();
    }

    /// Whether the bytes of an edit may be written now.
    fn is_due(&self, edit: &Edit) -> bool {
        edit.at == self.passed_to()
            && !edit.insert.is_empty()
            && self.gate.is_none_or(|gate| gate > edit.at)
    }

    /// Leaves out what an edit whose own bytes have been written replaces, as far as it has come.
    fn leave_out(&mut self) {
        while let place = self.passed_to()
            && let Some(edit) = self.edits.front_mut()
            && edit.at == place
            && edit.insert.is_empty()
        {
            let here =
                (self.end - self.start).min(usize::try_from(edit.skip).unwrap_or(usize::MAX));
            self.start += here;
            edit.skip -= here as u64;
            edit.at += here as u64;
            if edit.skip > 0 {
                return;
            }
            self.edits.pop_front();
        }
    }

    /// The place up to which everything has left.
    pub fn passed_to(&self) -> u64 {
        self.scanner.position() - self.waiting() as u64
    }

    /// How many bytes wait, held ones included.
    pub const fn waiting(&self) -> usize {
        self.end - self.start
    }

    /// Lets nothing pass from this place on; with none, everything may pass.
    pub const fn set_gate(&mut self, gate: Option<u64>) {
        self.gate = gate;
    }

    /// Orders other bytes. False where some of those that it replaces have left already, or where it
    /// would come in between what was ordered before: then nothing is changed.
    #[must_use]
    pub fn edit(&mut self, edit: Edit) -> bool {
        let last = self.edits.back().map_or(0, |last| last.at + last.skip);
        let in_time = edit.at >= self.passed_to() && edit.at >= last;
        if in_time {
            self.edits.push_back(edit);
            self.leave_out();
        }
        in_time
    }

    pub const fn scanner(&mut self) -> &mut S {
        &mut self.scanner
    }
}
