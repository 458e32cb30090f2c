//! The chunked transfer coding (RFC 9112, section 7.1), with extensions and trailers.
//!
//! It walks byte by byte through the framing and in strides through the data, so that any cut of
//! the stream gives the same body. Extensions and trailers are skipped, and bounded. A bare LF ends
//! a line, as it does for most servers and clients; anything else that is wrong is a fault.

/// Bytes that one chunk's line, or all trailers together, may have.
const LONGEST_LINES: usize = 64 * 1024;

/// Where the decoder stands.
#[derive(Debug)]
enum Place {
    /// In the hexadecimal size; how many digits there were.
    Size {
        digits: u8,
    },
    /// Behind the size, up to the end of the line.
    Extension,
    Data,
    /// At the line end behind the data.
    AfterData,
    /// In a trailer line; whether it is empty so far.
    Trailer {
        empty: bool,
    },
    Done,
}

/// Takes the coding off.
#[derive(Debug)]
pub(super) struct Chunked {
    place: Place,
    /// Of the chunk that is being read.
    left: u64,
    /// Bytes of framing since the last chunk ended.
    framing: usize,
}

/// What is wrong with the coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkFault {
    Size,
    LineEnd,
    LongLines,
}

/// A step through the coding.
pub(super) enum Stride {
    /// This many of the bytes were framing.
    Framing(usize),
    /// This many of them are data.
    Data(usize),
    /// The last chunk and its trailers ended after this many.
    Done(usize),
}

impl Chunked {
    pub const fn new() -> Self {
        Self { place: Place::Size { digits: 0 }, left: 0, framing: 0 }
    }

    /// Takes one stride into `bytes`, which aren't empty.
    pub fn stride(&mut self, bytes: &[u8]) -> Result<Stride, ChunkFault> {
        for (at, &byte) in bytes.iter().enumerate() {
            if matches!(self.place, Place::Data) {
                if at > 0 {
                    return Ok(Stride::Framing(at));
                }
                let data =
                    usize::try_from(self.left).map_or(bytes.len(), |left| left.min(bytes.len()));
                self.left -= data as u64;
                if self.left == 0 {
                    self.place = Place::AfterData;
                    self.framing = 0;
                }
                return Ok(Stride::Data(data));
            }
            self.framing += 1;
            if self.framing > LONGEST_LINES {
                return Err(ChunkFault::LongLines);
            }
            self.step(byte)?;
            if matches!(self.place, Place::Done) {
                return Ok(Stride::Done(at + 1));
            }
        }
        Ok(Stride::Framing(bytes.len()))
    }

    fn step(&mut self, byte: u8) -> Result<(), ChunkFault> {
        self.place = match (&self.place, byte) {
            (Place::Size { digits: 0 }, byte) if !byte.is_ascii_hexdigit() => {
                return Err(ChunkFault::Size);
            }
            (Place::Size { .. } | Place::Extension, b'\n') if self.left == 0 => {
                Place::Trailer { empty: true }
            }
            (Place::Size { .. } | Place::Extension, b'\n') => Place::Data,
            (Place::Size { digits }, byte) => match (byte as char).to_digit(16) {
                Some(_) if *digits == 15 => return Err(ChunkFault::Size),
                Some(digit) => {
                    self.left = self.left * 16 + u64::from(digit);
                    Place::Size { digits: digits + 1 }
                }
                None if matches!(byte, b'\r' | b';' | b' ' | b'\t') => Place::Extension,
                None => return Err(ChunkFault::Size),
            },
            (Place::Extension, _) => Place::Extension,
            (Place::AfterData, b'\r') if self.framing == 1 => Place::AfterData,
            (Place::AfterData, b'\n') => Place::Size { digits: 0 },
            (Place::AfterData, _) => return Err(ChunkFault::LineEnd),
            (Place::Trailer { empty: true }, b'\n') => Place::Done,
            (Place::Trailer { .. }, b'\n') => Place::Trailer { empty: true },
            (Place::Trailer { empty }, b'\r') => Place::Trailer { empty: *empty },
            (Place::Trailer { .. }, _) => Place::Trailer { empty: false },
            (Place::Data | Place::Done, _) => unreachable!("strides end there"),
        };
        Ok(())
    }
}
