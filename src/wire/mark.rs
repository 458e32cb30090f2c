//! What a scanner says about the bytes that it sees, and where.
//!
//! A place is an offset from the first byte of this direction of the connection. It stays valid
//! whatever has been passed on in the meantime, and tells two looks at the same frame apart.

/// One thing seen in a stream. For each frame `Begun`, `Known` and `Ended` come in this order, and
/// frames never overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark<F> {
    /// The byte at this place opens a frame.
    Begun { at: u64 },
    /// Enough of the frame has come to tell what it is. It need not have ended, and what it says
    /// may be cut ([`super::Part::is_whole`]).
    Known(F),
    /// The frame's last byte lies before `at`.
    Ended { at: u64, frame: F },
    /// What began at `at` can't be read as a frame, for this reason, and nothing behind it can. It
    /// is passed on all the same; no mark follows.
    Opaque { at: u64, why: &'static str },
}

/// Cuts one direction of a connection into frames.
///
/// It is given every byte once, in order, and remembers what it needs: a frame that takes a
/// thousand reads costs as much as one that takes a single one. What it remembers is bounded.
pub trait Scanner: 'static {
    /// A look at a frame, read only when it is asked for something.
    type Frame<'a>;

    /// Looks at the next bytes of the stream.
    fn scan(&mut self, bytes: &[u8], seen: &mut dyn FnMut(Mark<Self::Frame<'_>>));

    /// The stream has come to its end in order, which is where some frames end.
    fn ended(&mut self, _seen: &mut dyn FnMut(Mark<Self::Frame<'_>>)) {}

    /// How many bytes it has been given so far.
    fn position(&self) -> u64;
}
