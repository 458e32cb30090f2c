//! Where RESP values begin and end, in any cut and nested to any depth.
//!
//! Aggregates that say their count need no stack: each opens so many slots and every value fills
//! one, so one number says how much is missing at whatever depth. Only RESP3's streamed aggregates
//! (`*?` to `.`) must be remembered one by one; more than [`MOST_STREAMED`] open ones are given up.
//! The CR LF behind a string is skipped and not checked, as Redis does it.

/// Streamed aggregates that may be open within each other. Servers send none at all so far.
const MOST_STREAMED: usize = 1024;
/// Length of the longest line that is a count: the 20 digits of a 64-bit number and some zeros.
const LONGEST_COUNT: usize = 32;

/// What the bytes that were used up by a step are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Nothing to be told.
    Inside,
    /// The byte that says of which kind the next value is.
    Kind { kind: u8, role: Role },
    /// The line of a string or an aggregate is over; it has this length or count, none where it is
    /// streamed, a negative one where it is null.
    Counted { kind: u8, count: Option<i64> },
    /// Bytes of a string.
    Content,
    /// Nothing can be told from here on.
    Broken(&'static str),
}

/// What a value is within its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The frame's own value.
    Own,
    /// Inside of it, or of an attribute in front of it.
    Inner,
}

/// So many bytes were used, for this. `is_end`: the frame ends behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub used: usize,
    pub event: Event,
    pub is_end: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Kind,
    /// A line whose content is the value. `cr`: the last byte was a CR.
    Text {
        cr: bool,
    },
    /// A line that is a count, as far as it has come.
    Count {
        kind: u8,
        line: [u8; LONGEST_COUNT],
        length: usize,
    },
    /// Bytes of a string that are still to come, with the CR LF behind it.
    Content {
        left: u64,
        streamed: bool,
    },
    Tail {
        left: u8,
        streamed: bool,
    },
    /// Before the `;` of the next piece of a streamed string.
    Piece,
}

/// The place within one frame.
#[derive(Debug)]
pub(super) struct Values {
    state: State,
    /// Values missing in the innermost streamed aggregate, or in the frame where none is open.
    missing: u128,
    /// The same for what lies around each open streamed aggregate.
    around: Vec<u128>,
    /// Whether the frame's own value has begun, behind its attributes.
    has_own: bool,
}

impl Values {
    pub(super) const fn new() -> Self {
        Self { state: State::Kind, missing: 1, around: Vec::new(), has_own: false }
    }

    /// Uses up some of `bytes`, which must not be empty. After an end the next frame begins.
    pub(super) fn step(&mut self, bytes: &[u8]) -> Step {
        match self.state {
            State::Kind => self.kind(bytes[0]),
            State::Text { cr } => self.text(bytes, cr),
            State::Count { kind, line, length } => self.count(bytes, kind, line, length),
            State::Content { left, streamed } => {
                let here = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                let left = left - here as u64;
                self.state = match left {
                    0 => State::Tail { left: 2, streamed },
                    _ => State::Content { left, streamed },
                };
                Step { used: here, event: Event::Content, is_end: false }
            }
            State::Tail { left: 2, streamed } if bytes.len() == 1 => {
                self.state = State::Tail { left: 1, streamed };
                inside(1)
            }
            State::Tail { left, streamed } => {
                if streamed {
                    self.state = State::Piece;
                    return inside(left.into());
                }
                Step { is_end: self.complete(), ..inside(left.into()) }
            }
            State::Piece if bytes[0] == b';' => self.counting(b';', Role::Inner),
            State::Piece => broken("a piece of a streamed string does not begin with `;`"),
        }
    }

    fn kind(&mut self, kind: u8) -> Step {
        match kind {
            b'+' | b'-' | b':' | b'_' | b'#' | b',' | b'(' => {
                let role = self.role(kind);
                self.state = State::Text { cr: false };
                Step { used: 1, event: Event::Kind { kind, role }, is_end: false }
            }
            b'$' | b'!' | b'=' | b'*' | b'~' | b'%' | b'>' | b'|' => {
                let role = self.role(kind);
                self.counting(kind, role)
            }
            b'.' if self.missing == 0 && !self.around.is_empty() => {
                self.counting(kind, Role::Inner)
            }
            _ => broken("a value is of no known kind"),
        }
    }

    fn role(&mut self, kind: u8) -> Role {
        let is_own = !self.has_own && kind != b'|' && self.around.is_empty() && self.missing == 1;
        self.has_own |= is_own;
        if is_own { Role::Own } else { Role::Inner }
    }

    fn counting(&mut self, kind: u8, role: Role) -> Step {
        self.state = State::Count { kind, line: [0; LONGEST_COUNT], length: 0 };
        Step { used: 1, event: Event::Kind { kind, role }, is_end: false }
    }

    fn text(&mut self, bytes: &[u8], mut cr: bool) -> Step {
        let mut used = 0;
        while let Some(length) = bytes[used..].iter().position(|byte| *byte == b'\n') {
            let end = used + length;
            cr = if end == 0 { cr } else { bytes[end - 1] == b'\r' };
            used = end + 1;
            if cr {
                return Step { is_end: self.complete(), ..inside(used) };
            }
        }
        self.state = State::Text { cr: bytes.last() == Some(&b'\r') };
        inside(bytes.len())
    }

    fn count(
        &mut self,
        bytes: &[u8],
        kind: u8,
        mut line: [u8; LONGEST_COUNT],
        mut length: usize,
    ) -> Step {
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == b'\n' && line[..length].ends_with(b"\r") {
                return match read_count(kind, &line[..length - 1]) {
                    Ok(count) => self.counted(at + 1, kind, count),
                    Err(why) => broken(why),
                };
            }
            let Some(place) = line.get_mut(length) else { return broken("a count has no end") };
            *place = *byte;
            length += 1;
        }
        self.state = State::Count { kind, line, length };
        inside(bytes.len())
    }

    fn counted(&mut self, used: usize, kind: u8, count: Option<i64>) -> Step {
        let number = count.and_then(|count| u64::try_from(count).ok());
        let mut is_end = false;
        match (kind, number) {
            (b'$', None) if count.is_none() => self.state = State::Piece,
            (b'$' | b'!' | b'=', Some(left)) => self.state = content(left, false),
            (b';', Some(0)) => is_end = self.complete(),
            (b';', Some(left)) => self.state = content(left, true),
            (b'.', _) => {
                self.missing = self.around.pop().unwrap_or(0);
                is_end = self.next_value();
            }
            (b'*' | b'~' | b'%' | b'>' | b'|', None) if count.is_none() => {
                if self.around.len() == MOST_STREAMED {
                    return broken("streamed values lie too deep within each other");
                }
                if kind != b'|' {
                    self.missing = self.missing.saturating_sub(1);
                }
                self.around.push(self.missing);
                self.missing = 0;
                self.state = State::Kind;
            }
            (b'*' | b'~' | b'>', Some(slots)) => is_end = self.open(slots.into(), 1),
            (b'%', Some(pairs)) => is_end = self.open(2 * u128::from(pairs), 1),
            // An attribute stands in front of a value and doesn't take its place.
            (b'|', Some(pairs)) => is_end = self.open(2 * u128::from(pairs), 0),
            (b'$' | b'*' | b'!' | b'=' | b'~' | b'%' | b'>', None) if count == Some(-1) => {
                is_end = self.complete();
            }
            _ => return broken("a count makes no sense"),
        }
        Step { used, event: Event::Counted { kind, count }, is_end }
    }

    fn open(&mut self, slots: u128, fills: u128) -> bool {
        self.missing = self.missing.saturating_sub(fills).saturating_add(slots);
        self.next_value()
    }

    fn complete(&mut self) -> bool {
        self.missing = self.missing.saturating_sub(1);
        self.next_value()
    }

    /// Whether that was the frame's last value.
    fn next_value(&mut self) -> bool {
        self.state = State::Kind;
        let is_end = self.missing == 0 && self.around.is_empty();
        if is_end {
            self.missing = 1;
            self.has_own = false;
        }
        is_end
    }
}

const fn content(left: u64, streamed: bool) -> State {
    match left {
        0 => State::Tail { left: 2, streamed },
        _ => State::Content { left, streamed },
    }
}

const fn inside(used: usize) -> Step {
    Step { used, event: Event::Inside, is_end: false }
}

const fn broken(why: &'static str) -> Step {
    Step { used: 0, event: Event::Broken(why), is_end: false }
}

/// None where the value is streamed, and at the end of a streamed aggregate, which has no count.
fn read_count(kind: u8, line: &[u8]) -> Result<Option<i64>, &'static str> {
    match (kind, line) {
        (b'.', b"") => Ok(None),
        (b'.', _) => Err("an end has a count"),
        (_, b"?") => Ok(None),
        _ => std::str::from_utf8(line)
            .ok()
            .and_then(|text| text.parse().ok())
            .map(Some)
            .ok_or("a count is not a number"),
    }
}
