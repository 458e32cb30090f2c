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
use tokio::net::TcpStream;

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
}

pub(super) struct Direction<S> {
    pub(super) codec: Codec<S>,
    stage: Stage,
}

impl<S: Scanner> Direction<S> {
    pub(super) fn new(scanner: S) -> Self {
        Self { codec: Codec::new(scanner), stage: Stage::Flowing }
    }

    /// Whether nothing can arrive any more.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.stage, Stage::Over | Stage::Unread)
    }

    pub(super) fn is_unread(&self) -> bool {
        self.stage == Stage::Unread
    }

    /// Goes as far as it can. `look` is given so many new bytes and says whether to go on.
    pub(super) fn poll(
        &mut self,
        context: &mut Context<'_>,
        from: &mut TcpStream,
        to: &mut TcpStream,
        look: &mut dyn FnMut(&mut Codec<S>, usize) -> ControlFlow<Refusal>,
    ) -> Poll<Result<(), Broken>> {
        while self.stage != Stage::Over {
            ready!(self.poll_write(context, to));
            if self.stage == Stage::Ending {
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
            if ready!(Pin::new(&mut *from).poll_read(context, &mut buffer)).is_err() {
                return Poll::Ready(Err(Broken::Reset));
            }
            match (buffer.filled().len(), self.stage) {
                (0, Stage::Unread) => return Poll::Ready(Ok(())),
                (0, _) => self.stage = Stage::Ending,
                (_, Stage::Unread) => {}
                (count, _) => {
                    if let ControlFlow::Break(refusal) = look(&mut self.codec, count) {
                        return Poll::Ready(Err(Broken::Refused(refusal)));
                    }
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Writes what may be written.
    fn poll_write(&mut self, context: &mut Context<'_>, to: &mut TcpStream) -> Poll<()> {
        while !self.codec.ready().is_empty() {
            match ready!(Pin::new(&mut *to).poll_write(context, self.codec.ready())) {
                Ok(count @ 1..) => self.codec.passed(count),
                Ok(0) | Err(_) => {
                    self.codec.passed(self.codec.waiting());
                    self.stage = Stage::Unread;
                }
            }
        }
        Poll::Ready(())
    }
}
