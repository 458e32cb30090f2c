//! One direction of a link: reads, has the bytes looked at, holds and writes, and checks what must
//! hold for every stream: marks in order, frames without gaps, not a byte lost or changed.

use dupeproof::wire::{Codec, Mark, Scanner};

use super::told::Told;

/// Frames that are longer may be told before all of them has come, which depends on the cut.
const TOLD_AFTER: u64 = 32 * 1024;
/// What is longer is read in larger pieces.
const LONG: usize = 4096;

/// What is the same however a stream is cut.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Heard {
    pub frames: Vec<Frame>,
    pub opaque: Option<u64>,
    /// A frame that has begun and not ended, and what is known of it.
    pub open: Option<u64>,
    pub known: Option<Told>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    pub start: u64,
    pub end: u64,
    pub known: Told,
    pub ended: Told,
}

pub struct Way<S> {
    codec: Codec<S>,
    capacity: usize,
    /// The next read's size, over and over.
    cuts: std::iter::Cycle<std::slice::Iter<'static, usize>>,
    most_written: usize,
    sent: Vec<u8>,
    out: Vec<u8>,
    /// Nothing passes this place while it is held.
    held: Option<u64>,
    pub heard: Heard,
}

impl<S: Scanner> Way<S> {
    pub fn new(scanner: S, capacity: usize, cuts: &'static [usize]) -> Self {
        Self {
            codec: Codec::with_capacity(scanner, capacity),
            capacity,
            cuts: cuts.iter().cycle(),
            most_written: usize::MAX,
            sent: Vec::new(),
            out: Vec::new(),
            held: None,
            heard: Heard::default(),
        }
    }

    pub const fn scanner(&mut self) -> &mut S {
        self.codec.scanner()
    }

    /// The sender sends this, and all of it is read; a hold that would stop it for ever is released.
    /// The last read isn't written yet, so that it may be held. `look` says what a frame says.
    pub fn send(&mut self, bytes: &[u8], look: &mut dyn FnMut(&Mark<S::Frame<'_>>) -> Told) {
        self.sent.extend_from_slice(bytes);
        let mut rest = bytes;
        if rest.is_empty() {
            self.write();
        }
        while !rest.is_empty() {
            self.write();
            let spare = self.codec.spare();
            assert!(spare.len() <= self.capacity);
            let cut = self.cuts.next().copied().unwrap_or(usize::MAX);
            // What is long is mostly one byte over and over, which no cut makes interesting.
            let cut = if rest.len() > LONG { cut.saturating_mul(509) } else { cut };
            let count = spare.len().min(cut).min(rest.len());
            if count == 0 {
                if self.codec.ready().is_empty() {
                    self.release();
                }
                self.write();
                continue;
            }
            let (now, later) = rest.split_at(count);
            spare[..count].copy_from_slice(now);
            rest = later;
            let before = self.codec.scanner().position();
            let heard = &mut self.heard;
            self.codec.filled(count, &mut |mark| {
                let told = look(&mark);
                heard.mark(&mark, told, before, before + count as u64);
            });
            assert_eq!(self.codec.scanner().position(), before + count as u64);
            assert!(self.codec.waiting() <= self.capacity);
        }
    }

    /// Holds at the frame that began last, or a little behind what has left.
    pub fn hold(&mut self, offset: u8) {
        let passed = self.codec.passed_to();
        let last = self.heard.open.or_else(|| self.heard.frames.last().map(|frame| frame.start));
        let at = if offset == 0 { last.unwrap_or(passed) } else { passed + u64::from(offset) - 1 };
        // What has left can't be held.
        if at >= passed {
            self.held = Some(self.held.map_or(at, |held| held.min(at)));
            self.codec.set_gate(self.held);
        }
    }

    pub fn release(&mut self) {
        self.held = None;
        self.codec.set_gate(None);
    }

    pub fn write_at_most(&mut self, bytes: u8) {
        self.most_written = if bytes == 0 { usize::MAX } else { bytes.into() };
    }

    /// One write, as large as the reader takes it.
    fn write(&mut self) {
        let count = self.codec.ready().len().min(self.most_written);
        self.out.extend_from_slice(&self.codec.ready()[..count]);
        self.codec.passed(count);
        let passed = self.codec.passed_to();
        assert_eq!(passed, self.out.len() as u64);
        assert!(self.held.is_none_or(|held| passed <= held), "nothing passes what is held");
    }

    fn write_all(&mut self) {
        while !self.codec.ready().is_empty() {
            self.write();
        }
    }

    /// The stream is over: what came out is what went in.
    pub fn end(mut self) -> Heard {
        self.release();
        self.write_all();
        assert_eq!(self.codec.waiting(), 0);
        assert!(self.out == self.sent, "not a byte is lost, moved or changed");
        self.heard.without_what_long_frames_were_known_by(self.sent.len() as u64);
        self.heard
    }
}

impl Heard {
    fn mark<F>(&mut self, mark: &Mark<F>, told: Told, before: u64, after: u64) {
        assert_eq!(self.opaque, None, "nothing is said about an opaque stream");
        match mark {
            Mark::Begun { at } => {
                assert!((before..after).contains(at), "it begins with a byte of this read");
                assert_eq!((self.open, &self.known), (None, &None));
                let last = self.frames.last().map_or(0, |frame| frame.end);
                assert_eq!(*at, last, "frames follow each other without a gap");
                self.open = Some(*at);
            }
            Mark::Known(_) => {
                assert_eq!(told.start(), self.open, "the frame that has begun is known");
                assert_eq!(self.known, None, "a frame is known once");
                self.known = Some(told);
            }
            Mark::Ended { at, .. } => {
                let start = self.open.take().expect("a frame begins before it ends");
                let known = self.known.take().expect("a frame is known before it ends");
                assert_eq!(told.start(), Some(start));
                assert!((before + 1..=after).contains(at) && *at > start, "it ends in this read");
                self.frames.push(Frame { start, end: *at, known, ended: told });
            }
            Mark::Opaque { at, .. } => {
                assert_eq!(self.open.take(), Some(*at), "a frame began there");
                self.known = None;
                self.opaque = Some(*at);
            }
        }
    }

    /// It depends on the cut, since they are told before all of them has come.
    fn without_what_long_frames_were_known_by(&mut self, length: u64) {
        for frame in &mut self.frames {
            if frame.end - frame.start >= TOLD_AFTER {
                frame.known = Told::default();
            }
        }
        if self.open.is_some_and(|start| length - start >= TOLD_AFTER) {
            self.known = None;
        }
    }
}
