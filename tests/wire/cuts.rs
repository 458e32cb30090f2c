//! Bytes sent through a codec in pieces, and what it said about them.

use dupeproof::wire::{Codec, Mark, Scanner};
use proptest::prelude::*;

/// A frame that was cut, and what a test read from it. `known` is what could be read when it was
/// first told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen<T> {
    pub start: u64,
    pub end: u64,
    pub known: T,
    pub ended: T,
}

/// What came of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage<T> {
    pub frames: Vec<Seen<T>>,
    /// Where it was given up, if it was.
    pub opaque: Option<u64>,
    /// A frame that has begun and not ended.
    pub open: Option<u64>,
    pub out: Vec<u8>,
}

impl<T> Passage<T> {
    pub fn ends(&self) -> Vec<u64> {
        self.frames.iter().map(|frame| frame.end).collect()
    }
}

/// Sends `bytes` through, read in pieces of `sizes`, over and over, and checks what holds for every
/// stream: marks in order, frames without gaps.
pub fn pass<S: Scanner, T>(
    scanner: S,
    capacity: usize,
    bytes: &[u8],
    sizes: &[usize],
    mut read: impl FnMut(&S::Frame<'_>) -> T,
) -> Passage<T> {
    let mut codec = Codec::with_capacity(scanner, capacity);
    let mut passage = Passage { frames: Vec::new(), opaque: None, open: None, out: Vec::new() };
    let mut known: Option<T> = None;
    let mut sizes = sizes.iter().copied().cycle();
    let mut rest = bytes;
    while !rest.is_empty() {
        let size = sizes.next().unwrap_or(usize::MAX).clamp(1, rest.len());
        let spare = codec.spare();
        let size = size.min(spare.len());
        assert!(size > 0, "there is room after everything has left");
        spare[..size].copy_from_slice(&rest[..size]);
        rest = &rest[size..];
        codec.filled(size, &mut |mark| {
            assert_eq!(passage.opaque, None, "nothing is said about an opaque stream");
            match mark {
                Mark::Begun { at } => {
                    assert_eq!((passage.open, known.is_some()), (None, false));
                    let before = passage.frames.last().map_or(0, |frame: &Seen<T>| frame.end);
                    assert_eq!(at, before, "frames follow each other without a gap");
                    passage.open = Some(at);
                }
                Mark::Known(frame) => {
                    assert!(passage.open.is_some() && known.is_none());
                    known = Some(read(&frame));
                }
                Mark::Ended { at, frame } => passage.frames.push(Seen {
                    start: passage.open.take().expect("a frame begins before it ends"),
                    end: at,
                    known: known.take().expect("a frame is known before it ends"),
                    ended: read(&frame),
                }),
                Mark::Opaque { at, .. } => passage.opaque = Some(at),
            }
        });
        passage.out.extend_from_slice(codec.ready());
        codec.passed(codec.ready().len());
        assert_eq!(codec.passed_to(), passage.out.len() as u64);
    }
    passage
}

/// Sizes of reads: mostly small ones, as they find the borders.
pub fn sizes() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![
        Just(vec![1]),
        Just(vec![usize::MAX]),
        proptest::collection::vec(1..7_usize, 1..40),
        proptest::collection::vec(1..3000_usize, 1..10),
    ]
}

/// Bytes of no meaning, with a liking for what opens frames.
pub fn garbage(likes: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(prop_oneof![proptest::sample::select(likes), any::<u8>()], 0..600)
}
