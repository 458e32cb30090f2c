//! Cuts what a client sends to PostgreSQL into frames.
//!
//! A connection opens with messages that have no tag: requests for encryption first, then a
//! start-up or a cancellation. Whether the bytes behind a request for encryption are encrypted is
//! known only from the server's answer, see [`Frontend::give_up`].

use crate::wire::{Mark, Scanner};

use super::frame::{Frame, Frames, Head, Lead, Opening, tagged, word};

pub(in crate::wire) const SSL_REQUEST: u32 = 80_877_103;
pub(in crate::wire) const GSS_REQUEST: u32 = 80_877_104;
pub(super) const CANCEL_REQUEST: u32 = 80_877_102;
/// The server's own limit (`MAX_STARTUP_PACKET_LENGTH`). A TLS hello that comes unannounced is far
/// above it, read as a length.
const LONGEST_START: u32 = 10_000;

/// What a client sends on one connection.
#[derive(Debug)]
pub struct Frontend(Frames);

impl Frontend {
    pub const fn new() -> Self {
        Self(Frames::new(Opening::Start))
    }

    /// Says nothing any more: what follows is encrypted.
    pub const fn give_up(&mut self) {
        self.0.opening = Opening::Opaque;
    }
}

impl Default for Frontend {
    fn default() -> Self {
        Self::new()
    }
}

impl Scanner for Frontend {
    type Frame<'a> = Frame<'a>;

    fn scan(&mut self, bytes: &[u8], seen: &mut dyn FnMut(Mark<Frame<'_>>)) {
        self.0.scan(bytes, head, seen);
    }

    fn position(&self) -> u64 {
        self.0.position()
    }
}

fn head(opening: Opening, head: &[u8]) -> Result<Head, &'static str> {
    if opening != Opening::Start {
        return tagged(head);
    }
    let (Some(length), Some(code)) = (word(head), word(head.get(4..).unwrap_or_default())) else {
        return Err("a head is too short");
    };
    if !(8..=LONGEST_START).contains(&length) {
        return Err("no start-up message has such a length");
    }
    let next = match code {
        SSL_REQUEST | GSS_REQUEST => Opening::Start,
        CANCEL_REQUEST => Opening::Opaque,
        // Version 2 and older ones had other frames. A newer version than we know is negotiated
        // down by the server, or keeps its frames.
        version if version >> 16 < 3 => Opening::Opaque,
        _ => Opening::Tag,
    };
    Ok((Lead::Start(code), u64::from(length) - 8, next))
}
