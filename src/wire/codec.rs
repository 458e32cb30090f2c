//! One direction of a connection on its way through: bytes in, the same bytes out, and a place
//! that they may not pass.
//!
//! Its memory is one buffer of a fixed size. Where that is full, [`Codec::spare`] is empty, so
//! that the owner stops reading and the sender is held up by TCP itself; a frame that is larger
//! than the buffer passes in pieces. An owner who may want to hold a frame holds at its beginning
//! until it is known, which is sooner than a buffer of the usual size is full. Three places follow each other: `passed <= gate <= scanned`.

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
}

impl<S: Scanner> Codec<S> {
    pub fn new(scanner: S) -> Self {
        Self::with_capacity(scanner, BUFFER)
    }

    /// One that keeps at most so many bytes (at least one, or nothing would ever pass).
    pub fn with_capacity(scanner: S, bytes: usize) -> Self {
        Self { scanner, buffer: vec![0; bytes.max(1)], start: 0, end: 0, gate: None }
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
    }

    /// Nothing more will be read: the stream has come to its end in order.
    pub fn ended(&mut self, seen: &mut dyn FnMut(Mark<S::Frame<'_>>)) {
        self.scanner.ended(seen);
    }

    /// What may be written now, in order.
    pub fn ready(&self) -> &[u8] {
        let waiting = &self.buffer[self.start..self.end];
        match self.gate {
            Some(gate) => {
                let before = usize::try_from(gate.saturating_sub(self.passed_to())).ok();
                &waiting[..before.unwrap_or(usize::MAX).min(waiting.len())]
            }
            None => waiting,
        }
    }

    /// So many bytes of [`Self::ready`] have left: written, or dropped by a decision of the owner.
    pub fn passed(&mut self, count: usize) {
        self.start += count.min(self.ready().len());
    }

    /// The place up to which everything has left.
    pub fn passed_to(&self) -> u64 {
        self.scanner.position() - self.waiting() as u64
    }

    /// How many bytes wait, held ones included.
    pub const fn waiting(&self) -> usize {
        self.end - self.start
    }

    /// Lets nothing pass from this place on. False when bytes from there on have left already:
    /// then it is too late, and nothing is held.
    #[must_use]
    pub fn hold_at(&mut self, at: u64) -> bool {
        let in_time = at >= self.passed_to();
        if in_time {
            self.gate = Some(self.gate.map_or(at, |gate| gate.min(at)));
        }
        in_time
    }

    /// Everything may pass again.
    pub const fn release(&mut self) {
        self.gate = None;
    }

    pub const fn scanner(&mut self) -> &mut S {
        &mut self.scanner
    }
}
