//! A reply, read from bytes as they come.
//!
//! The reader is a plain state machine without a socket: whatever the network cuts the stream into,
//! the same bytes give the same reply or the same fault, and what it holds is bounded. Bytes behind
//! a complete reply change nothing about it, since whether they are seen at all is the network's
//! choice; but the connection that brought them serves no other request (RFC 9112, section 6.3).

use super::budget::{ReplyBudget, Share};
use super::chunked::{ChunkFault, Chunked, Stride};
use super::head::{self, Framing, Head, LONGEST_HEAD, MOST_HEADERS};

/// A complete reply.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    /// As it came, status line and headers.
    head: String,
    pub body: Vec<u8>,
    /// Whether the connection may serve another request.
    pub keeps_alive: bool,
    /// Holds the body's place in the budget.
    _share: Share,
}

impl Reply {
    /// Names and values of the headers, in the order in which they came.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        head::fields(&self.head)
    }

    /// The first value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// How every head begins.
const VERSION: &[u8] = b"HTTP/1.";

/// How much of a head's line there was.
#[derive(Clone, Copy)]
enum Line {
    Whole,
    Cut,
}

/// Why a reply can't be used. Its text says what was seen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyFault {
    #[error("the connection was closed before any reply")]
    NoReply,
    #[error("the connection was closed in the middle of the reply's head")]
    CutHead,
    #[error("the connection was closed after {got} of {announced} bytes of the body of a {status}")]
    CutBody { status: u16, got: usize, announced: u64 },
    #[error("the connection was closed in a {status}'s chunked body, after {got} bytes of it")]
    CutChunk { status: u16, got: usize },
    #[error("the reply is not HTTP/1.1: {what}")]
    Garbage { what: String },
    #[error("the reply's head is longer than {LONGEST_HEAD} bytes")]
    LongHead,
    #[error("the reply has more than {MOST_HEADERS} headers")]
    ManyHeaders,
    #[error("the reply's Content-Length is not one number: {text}")]
    Length { text: String },
    #[error("the reply's transfer coding is not understood: {coding}")]
    Coding { coding: String },
    #[error("the reply's chunked coding is broken: {what}")]
    Chunk { what: &'static str },
    #[error("the body of a {status} is longer than {limit} bytes")]
    LongBody { status: u16, limit: usize },
    #[error("the replies in flight together are larger than the client keeps in memory")]
    OverBudget,
    #[error("the server switched protocols without being asked to")]
    Switched,
}

/// Reads one reply.
#[derive(Debug)]
pub struct ReplyReader {
    longest: usize,
    share: Share,
    /// Bytes of heads so far, informational ones included.
    head_bytes: usize,
    head: Vec<u8>,
    body: Option<(Head, Body)>,
}

#[derive(Debug)]
struct Body {
    bytes: Vec<u8>,
    chunked: Chunked,
}

impl ReplyReader {
    /// A reader that accepts bodies of at most `longest` bytes.
    pub fn new(longest: usize, budget: &ReplyBudget) -> Self {
        Self { longest, share: budget.share(), head_bytes: 0, head: Vec::new(), body: None }
    }

    /// Whether any byte has come.
    pub fn has_begun(&self) -> bool {
        self.head_bytes > 0
    }

    /// How far it has come, for the words of a failure.
    pub fn progress(&self) -> String {
        match &self.body {
            Some((head, body)) => {
                format!("a {} with {} bytes of body so far", head.status, body.bytes.len())
            }
            None if self.has_begun() => "part of a head so far".to_owned(),
            None => "nothing so far".to_owned(),
        }
    }

    /// Takes the next bytes; gives the reply when they complete it.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<Option<Reply>, ReplyFault> {
        while self.body.is_none() {
            let Some(rest) = self.push_head(bytes)? else { return Ok(None) };
            bytes = rest;
        }
        self.push_body(bytes)
    }

    /// Takes the end of the stream.
    pub fn end(&mut self) -> Result<Reply, ReplyFault> {
        let Some((head, body)) = &self.body else {
            return Err(if self.has_begun() { ReplyFault::CutHead } else { ReplyFault::NoReply });
        };
        let (status, got) = (head.status, body.bytes.len());
        match head.framing {
            Framing::Close => Ok(self.finish().expect("the body has begun")),
            Framing::Length(announced) => Err(ReplyFault::CutBody { status, got, announced }),
            Framing::Chunked => Err(ReplyFault::CutChunk { status, got }),
        }
    }

    /// Collects a head; gives what follows it, or nothing while it isn't complete.
    fn push_head<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<&'a [u8]>, ReplyFault> {
        let mut rest = bytes;
        let is_whole = match self.whole_head(bytes) {
            Some(length) => {
                self.head_bytes += length;
                self.head.extend_from_slice(&bytes[..length]);
                rest = &bytes[length..];
                true
            }
            None => self.take_head(&mut rest)?,
        };
        if !self.share.grow(bytes.len() - rest.len()) {
            return Err(ReplyFault::OverBudget);
        }
        if !is_whole {
            return Ok(None);
        }
        let head = head::parse(std::mem::take(&mut self.head))?;
        match head.status {
            101 => return Err(ReplyFault::Switched),
            100..200 => {}
            _ => self.begin_body(head)?,
        }
        Ok(Some(rest))
    }

    /// The length of a head that stands in these bytes from its beginning to its end, as most do.
    fn whole_head(&self, bytes: &[u8]) -> Option<usize> {
        if !self.head.is_empty() || !bytes.starts_with(VERSION) {
            return None;
        }
        let mut begin = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            if matches!(&bytes[begin..end], b"\r" | b"") {
                return Some(end + 1).filter(|length| self.head_bytes + length <= LONGEST_HEAD);
            }
            begin = end + 1;
        }
        None
    }

    /// Moves lines into the head up to its empty line; whether that has come.
    fn take_head(&mut self, rest: &mut &[u8]) -> Result<bool, ReplyFault> {
        while let Some(line) = self.take_line(rest)? {
            if matches!(line, Line::Cut) {
                return Ok(false);
            }
            if self.head.ends_with(b"\n\r\n") || self.head.ends_with(b"\n\n") {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Moves the next line into the head, or what there is of it; nothing when nothing is left.
    fn take_line(&mut self, rest: &mut &[u8]) -> Result<Option<Line>, ReplyFault> {
        if rest.is_empty() {
            return Ok(None);
        }
        // What isn't HTTP/1 is refused at its first wrong byte, wherever the stream was cut.
        while self.head.len() < VERSION.len() {
            let Some((&byte, others)) = rest.split_first() else { return Ok(Some(Line::Cut)) };
            *rest = others;
            self.count_head(1)?;
            self.head.push(byte);
            if !VERSION.starts_with(&self.head) {
                let what = self.head.escape_ascii().to_string();
                return Err(ReplyFault::Garbage { what: format!("it begins with `{what}`") });
            }
        }
        let end = rest.iter().position(|&byte| byte == b'\n');
        let (line, others) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
        *rest = others;
        self.count_head(line.len())?;
        self.head.extend_from_slice(line);
        Ok(Some(if end.is_some() { Line::Whole } else { Line::Cut }))
    }

    fn count_head(&mut self, bytes: usize) -> Result<(), ReplyFault> {
        self.head_bytes += bytes;
        if self.head_bytes > LONGEST_HEAD { Err(ReplyFault::LongHead) } else { Ok(()) }
    }

    fn begin_body(&mut self, head: Head) -> Result<(), ReplyFault> {
        if matches!(head.framing, Framing::Length(length) if length > self.longest as u64) {
            return Err(ReplyFault::LongBody { status: head.status, limit: self.longest });
        }
        self.body = Some((head, Body { bytes: Vec::new(), chunked: Chunked::new() }));
        Ok(())
    }

    fn push_body(&mut self, mut bytes: &[u8]) -> Result<Option<Reply>, ReplyFault> {
        loop {
            let (head, body) = self.body.as_mut().expect("called after the head");
            let (data, done) = match head.framing {
                Framing::Close => (bytes.len(), false),
                Framing::Length(length) => {
                    let left = length as usize - body.bytes.len();
                    (left.min(bytes.len()), left <= bytes.len())
                }
                Framing::Chunked if bytes.is_empty() => return Ok(None),
                Framing::Chunked => match body.chunked.stride(bytes).map_err(broken)? {
                    Stride::Data(data) => (data, false),
                    Stride::Framing(count) => {
                        bytes = &bytes[count..];
                        continue;
                    }
                    Stride::Done(count) => {
                        bytes = &bytes[count..];
                        (0, true)
                    }
                },
            };
            if body.bytes.len() + data > self.longest {
                return Err(ReplyFault::LongBody { status: head.status, limit: self.longest });
            }
            if !self.share.grow(data) {
                return Err(ReplyFault::OverBudget);
            }
            body.bytes.extend_from_slice(&bytes[..data]);
            bytes = &bytes[data..];
            if done {
                head.keeps_alive &= bytes.is_empty();
                return Ok(self.finish());
            }
            if bytes.is_empty() {
                return Ok(None);
            }
        }
    }

    fn finish(&mut self) -> Option<Reply> {
        let (head, body) = self.body.take()?;
        let share = self.share.hand_over();
        Some(Reply {
            status: head.status,
            head: head.text,
            body: body.bytes,
            keeps_alive: head.keeps_alive,
            _share: share,
        })
    }
}

const fn broken(fault: ChunkFault) -> ReplyFault {
    ReplyFault::Chunk {
        what: match fault {
            ChunkFault::Size => "a chunk's size cannot be read",
            ChunkFault::LineEnd => "a chunk does not end with its line end",
            ChunkFault::LongLines => "its extensions or trailers have no end",
        },
    }
}
