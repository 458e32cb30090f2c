//! What the two directions of a link have to tell each other, one implementation a protocol.
//!
//! Whether some bytes are a frame may depend on what the other side said before: an answer of one
//! byte, a reply without a body, another protocol by agreement. A frame is looked at before any of it
//! is passed on, so the other direction knows in time.

use std::ops::ControlFlow;

use super::mark::{Mark, Scanner};
use super::notes::Notes;

/// A link that must not go on: what the client is told before its connection is closed. With nothing
/// to tell it, it is reset.
pub(super) type Refusal = Vec<u8>;

pub(super) trait Talk: Default + 'static {
    type Requests: Scanner + Default;
    type Replies: Scanner + Default;

    /// The client has sent this.
    fn asked(
        &mut self,
        mark: Mark<<Self::Requests as Scanner>::Frame<'_>>,
        replies: &mut Self::Replies,
        notes: &mut Notes,
    );

    /// The server has sent this. Broken off, the bytes of the frame aren't passed on.
    fn answered(
        &mut self,
        mark: Mark<<Self::Replies as Scanner>::Frame<'_>>,
        requests: &mut Self::Requests,
        notes: &mut Notes,
    ) -> ControlFlow<Refusal>;

    /// The link is over, and nothing was wrong with it.
    fn over(&mut self, _notes: &Notes) {}
}
