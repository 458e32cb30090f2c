//! One direction of a link: reads where there is room, has the bytes looked at, writes them on.
//!
//! It doesn't read while something waits to be written, so that a slow reader stops the sender and
//! not our memory. An end of the stream is passed on alone, since the other direction may go on. When
//! the reader is gone, its own last words may still be on their way; so the direction goes on reading
//! for nobody until the other one has ended too.

use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::codec::Codec;
use super::mark::Scanner;
use super::talk::Refusal;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Flowing,
    /// The sender has ended; what waits is still to be written.
    Ending,
    /// The reader is gone.
    Unread,
    Over,
}

/// Why a link ends before both of its directions have.
#[derive(Debug)]
pub(super) enum Broken {
    /// The sender has reset its connection. Everything that it sent has been passed on.
    Reset,
    Refused(Refusal),
    /// A fault ended it. Both sides are reset, unless it came to an orderly end.
    Ordered {
        is_orderly: bool,
    },
}

/// What is new in the room of a codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Come {
    /// So many bytes were read and haven't been looked at.
    pub(super) count: usize,
    /// Whether no others will come.
    pub(super) is_all: bool,
}

/// Is given new bytes, and says whether to go on and how many of them are unclear.
type Look<'a, S> = dyn FnMut(&mut Codec<S>, Come) -> ControlFlow<Refusal, usize> + 'a;

pub(super) struct Direction<S> {
    pub(super) codec: Codec<S>,
    stage: Stage,
    /// Bytes that were read, and are looked at again when there are more.
    unclear: usize,
    /// Something was written that may not have left yet.
    is_unflushed: bool,
}

impl<S: Scanner> Direction<S> {
    pub(super) fn new(scanner: S) -> Self {
        Self { codec: Codec::new(scanner), stage: Stage::Flowing, unclear: 0, is_unflushed: false }
    }

    /// Whether nothing can arrive any more.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.stage, Stage::Over | Stage::Unread)
    }

    pub(super) fn is_unread(&self) -> bool {
        self.stage == Stage::Unread
    }

    /// Whether the sender has said that nothing more comes.
    pub(super) fn is_all_sent(&self) -> bool {
        matches!(self.stage, Stage::Ending | Stage::Over)
    }

    /// Goes as far as it can.
    pub(super) fn poll(
        &mut self,
        context: &mut Context<'_>,
        from: &mut (impl AsyncRead + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
        look: &mut Look<'_, S>,
    ) -> Poll<Result<(), Broken>> {
        while self.stage != Stage::Over {
            ready!(self.poll_write(context, to));
            if self.stage == Stage::Ending {
                if self.codec.waiting() > 0 {
                    // It is held, and the end comes behind it.
                    return Poll::Pending;
                }
                // It fails only where the reader is gone, and so is the need for it.
                let _ = ready!(Pin::new(&mut *to).poll_shutdown(context));
                self.stage = Stage::Over;
                break;
            }
            let spare = self.codec.spare();
            if spare.is_empty() {
                return Poll::Pending;
            }
            let mut buffer = ReadBuf::new(spare);
            buffer.set_filled(self.unclear);
            if ready!(Pin::new(&mut *from).poll_read(context, &mut buffer)).is_err() {
                return Poll::Ready(Err(Broken::Reset));
            }
            let count = buffer.filled().len();
            let is_all = count == self.unclear;
            match (is_all, self.stage) {
                (true, Stage::Unread) => return Poll::Ready(Ok(())),
                (true, _) => self.stage = Stage::Ending,
                (false, Stage::Unread) => continue,
                (false, _) => {}
            }
            match look(&mut self.codec, Come { count, is_all }) {
                ControlFlow::Continue(unclear) => self.unclear = unclear,
                ControlFlow::Break(refusal) => return Poll::Ready(Err(Broken::Refused(refusal))),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Writes what may be written, down to the socket: TLS keeps what that doesn't take.
    fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        to: &mut (impl AsyncWrite + Unpin),
    ) -> Poll<()> {
        while !self.codec.ready().is_empty() {
            match ready!(Pin::new(&mut *to).poll_write(context, self.codec.ready())) {
                Ok(count @ 1..) => {
                    self.codec.passed(count);
                    self.is_unflushed = true;
                }
                Ok(0) | Err(_) => self.loses_its_reader(),
            }
        }
        if self.is_unflushed {
            let flushed = ready!(Pin::new(&mut *to).poll_flush(context));
            self.is_unflushed = false;
            if flushed.is_err() {
                self.loses_its_reader();
            }
        }
        Poll::Ready(())
    }

    fn loses_its_reader(&mut self) {
        self.codec.passed(self.codec.waiting());
        (self.stage, self.is_unflushed, self.unclear) = (Stage::Unread, false, 0);
    }
}
