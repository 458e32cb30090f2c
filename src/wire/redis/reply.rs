//! What Redis answered, read from the beginning of a reply.

use crate::wire::Part;

/// A look at a reply or a push, as far as it has come and is kept.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a> {
    /// The place of its first byte.
    pub start: u64,
    /// Its own value on the wire, cut where it is long.
    kept: &'a [u8],
}

/// RESP2 and RESP3 alike: both nulls are `Null`, both errors `Error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    Simple(Part<'a>),
    /// `code` is the first word, such as `NOSCRIPT`; `text` is all of it.
    Error {
        code: &'a [u8],
        text: Part<'a>,
    },
    Integer(i64),
    Null,
    Boolean(bool),
    /// As it was written.
    Double(Part<'a>),
    BigNumber(Part<'a>),
    /// Of a streamed one (no length) the beginning of its first piece.
    Bulk {
        length: Option<u64>,
        prefix: Part<'a>,
    },
    /// Without its three letters of format.
    Verbatim(Part<'a>),
    Aggregate {
        kind: Aggregate,
        count: Option<u64>,
    },
    /// It answers no request. `kind` is its first element, such as `message` or `invalidate`.
    Push {
        kind: Option<Part<'a>>,
    },
    /// Nothing that can be read.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    Array,
    Set,
    /// Its count is that of its pairs.
    Map,
}

impl<'a> Reply<'a> {
    pub(super) const fn new(start: u64, kept: &'a [u8]) -> Self {
        Self { start, kept }
    }

    /// Whether it is a push, which is paired with no request.
    pub const fn is_push(&self) -> bool {
        matches!(self.kept, [b'>', ..])
    }

    /// The beginning of its value as it is on the wire.
    pub const fn prefix(&self) -> &'a [u8] {
        self.kept
    }

    pub fn answer(&self) -> Answer<'a> {
        answer(self.kept).unwrap_or(Answer::Unknown)
    }
}

fn answer(bytes: &[u8]) -> Option<Answer<'_>> {
    let (kind, bytes) = bytes.split_first()?;
    let (line, rest) = line(bytes);
    let count = || line.whole_text().and_then(|text| text.parse::<i64>().ok());
    let length = || count().and_then(|count| u64::try_from(count).ok());
    let is_null = || count() == Some(-1);
    let aggregate = |kind| Answer::Aggregate { kind, count: length() };
    Some(match kind {
        b'+' => Answer::Simple(line),
        b'-' => error(line),
        b':' => Answer::Integer(count()?),
        b'_' => Answer::Null,
        b'#' => Answer::Boolean(line.bytes == b"t"),
        b',' => Answer::Double(line),
        b'(' => Answer::BigNumber(line),
        b'$' | b'*' if is_null() => Answer::Null,
        b'$' if line.bytes == b"?" => Answer::Bulk { length: None, prefix: piece(rest) },
        b'$' => Answer::Bulk { length: Some(length()?), prefix: content(rest, length()?) },
        b'!' => error(content(rest, length()?)),
        b'=' => {
            let text = content(rest, length()?);
            Answer::Verbatim(Part { bytes: text.bytes.get(4..).unwrap_or_default(), ..text })
        }
        b'*' => aggregate(Aggregate::Array),
        b'~' => aggregate(Aggregate::Set),
        b'%' => aggregate(Aggregate::Map),
        b'>' => Answer::Push { kind: word(rest) },
        _ => return None,
    })
}

/// The line up to its CR LF, and what follows it.
fn line(bytes: &[u8]) -> (Part<'_>, &[u8]) {
    match bytes.windows(2).position(|pair| pair == b"\r\n") {
        Some(end) => (Part::whole(&bytes[..end]), &bytes[end + 2..]),
        None => (Part::cut(bytes), &[]),
    }
}

fn content(bytes: &[u8], length: u64) -> Part<'_> {
    match usize::try_from(length).ok().and_then(|length| bytes.get(..length)) {
        Some(bytes) => Part::whole(bytes),
        None => Part::cut(bytes),
    }
}

/// The first piece of a streamed string.
fn piece(bytes: &[u8]) -> Part<'_> {
    let (head, rest) = line(bytes);
    let length = head.whole_text().and_then(|text| text.strip_prefix(';')?.parse().ok());
    match length {
        Some(0) => Part::whole(&[]),
        Some(length) => Part::cut(content(rest, length).bytes),
        None => Part::cut(&[]),
    }
}

/// The value of an element that is a string.
fn word(bytes: &[u8]) -> Option<Part<'_>> {
    match answer(bytes)? {
        Answer::Simple(text) | Answer::Bulk { prefix: text, .. } => Some(text),
        _ => None,
    }
}

fn error(text: Part<'_>) -> Answer<'_> {
    let code = text.bytes.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    Answer::Error { code, text }
}
