//! Where a message's body ends, in any cut (RFC 9112, sections 6 and 7).
//!
//! A chunked body is walked byte line by byte line, as a length may be cut anywhere; its content is
//! told apart from its lengths, so that what is kept of it reads like any other body.

/// How the end of a body is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// So many bytes are still to come.
    Length(u64),
    Chunked(Chunk),
    /// It ends with the connection.
    UntilClose,
}

/// The place within a chunked body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunk {
    /// Among the digits of a length.
    Size {
        size: u64,
        has_digits: bool,
    },
    /// Behind the digits, in what the line may say besides.
    Extension {
        size: u64,
    },
    Data {
        left: u64,
    },
    /// In the line end behind the data.
    DataEnd,
    /// In a line of the trailer, of which something has come or nothing.
    Trailer {
        is_empty: bool,
    },
}

/// So many bytes were used; `is_content` says whether they are content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub used: usize,
    pub is_content: bool,
    pub is_end: bool,
}

impl Body {
    pub(super) const CHUNKED: Self = Self::Chunked(Chunk::Size { size: 0, has_digits: false });

    pub(super) const fn is_empty(self) -> bool {
        matches!(self, Self::Length(0))
    }

    /// Uses up some of `bytes`, which must not be empty.
    pub(super) fn step(&mut self, bytes: &[u8]) -> Result<Step, &'static str> {
        match self {
            Self::Length(left) => {
                let used = take(left, bytes);
                Ok(Step { used, is_content: true, is_end: *left == 0 })
            }
            Self::UntilClose => Ok(Step { used: bytes.len(), is_content: true, is_end: false }),
            Self::Chunked(chunk) => chunk.step(bytes),
        }
    }
}

impl Chunk {
    fn step(&mut self, bytes: &[u8]) -> Result<Step, &'static str> {
        if let Self::Data { left } = self {
            let used = take(left, bytes);
            if *left == 0 {
                *self = Self::DataEnd;
            }
            return Ok(Step { used, is_content: true, is_end: false });
        }
        let byte = bytes[0];
        let mut is_end = false;
        *self = match *self {
            Self::Size { size, .. } if byte.is_ascii_hexdigit() => {
                let digit = char::from(byte).to_digit(16).unwrap_or_default();
                let size = size.checked_mul(16).and_then(|size| size.checked_add(digit.into()));
                Self::Size { size: size.ok_or("a chunk is too long")?, has_digits: true }
            }
            Self::Size { has_digits: false, .. } => return Err("a chunk has no length"),
            Self::Size { size, .. } | Self::Extension { size } if byte == b'\n' => match size {
                0 => Self::Trailer { is_empty: true },
                left => Self::Data { left },
            },
            Self::Size { size, .. } if matches!(byte, b'\r' | b';' | b' ' | b'\t') => {
                Self::Extension { size }
            }
            Self::Size { .. } => return Err("the length of a chunk is not a number"),
            Self::DataEnd if byte == b'\n' => Self::Size { size: 0, has_digits: false },
            Self::DataEnd if byte != b'\r' => return Err("a chunk is longer than its length"),
            Self::Trailer { is_empty } if byte == b'\n' => {
                is_end = is_empty;
                Self::Trailer { is_empty: true }
            }
            Self::Trailer { is_empty } => Self::Trailer { is_empty: is_empty && byte == b'\r' },
            inside @ (Self::Extension { .. } | Self::DataEnd | Self::Data { .. }) => inside,
        };
        Ok(Step { used: 1, is_content: false, is_end })
    }
}

/// Takes what is there of so many bytes; how much that was.
fn take(left: &mut u64, bytes: &[u8]) -> usize {
    let used = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
    *left -= used as u64;
    used
}
