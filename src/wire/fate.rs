//! How a link ends that a rule or a partition breaks: at once, with a last word, or in silence.
//!
//! An orderly end is read to its own end, since closing a connection with unread bytes resets it. A
//! silent one stays as it is until the fault is healed, and is reset then: a connection that stayed
//! would keep its owner waiting for ever.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::cuts::CutOff;
use super::rules::ArmedRule;

/// How long the other end may take to close behind an orderly end.
const CLOSING: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) enum Fate {
    Reset,
    Closing(Closing),
    Silent(Silence),
}

/// Until when a link is silent.
#[derive(Debug)]
pub(super) enum Silence {
    Rule { rule: Rc<ArmedRule>, firing: u32 },
    Cut(Rc<CutOff>),
}

impl Silence {
    pub(super) fn is_over(&self) -> bool {
        match self {
            Self::Rule { rule, .. } => !rule.is_armed(),
            Self::Cut(cut) => cut.is_healed(),
        }
    }
}

/// An orderly end.
#[derive(Debug)]
pub(super) struct Closing {
    /// The firing that it is the effect of.
    pub(super) of: Option<(Rc<ArmedRule>, u32)>,
    farewell: Vec<u8>,
    said: usize,
    is_shut: bool,
    limit: Pin<Box<Sleep>>,
}

impl Closing {
    pub(super) fn new(of: Option<(Rc<ArmedRule>, u32)>, farewell: Vec<u8>) -> Self {
        let limit = Box::pin(tokio::time::sleep(CLOSING));
        Self { of, farewell, said: 0, is_shut: false, limit }
    }

    /// Ready when it is over: true where the client has closed its end too.
    pub(super) fn poll(
        &mut self,
        context: &mut Context<'_>,
        client: &mut (impl AsyncRead + AsyncWrite + Unpin),
        server: &mut (impl AsyncWrite + Unpin),
    ) -> Poll<bool> {
        if self.limit.as_mut().poll(context).is_ready() {
            return Poll::Ready(false);
        }
        while self.said < self.farewell.len() {
            match Pin::new(&mut *client).poll_write(context, &self.farewell[self.said..]) {
                Poll::Ready(Ok(count @ 1..)) => self.said += count,
                Poll::Ready(_) => return Poll::Ready(true),
                Poll::Pending => return Poll::Pending,
            }
        }
        if !self.is_shut {
            // They fail only where the other end is gone already.
            let _ = Pin::new(&mut *server).poll_shutdown(context);
            if Pin::new(&mut *client).poll_shutdown(context).is_pending() {
                return Poll::Pending;
            }
            self.is_shut = true;
        }
        drain(context, client)
    }
}

/// Reads for nobody; ready when the other end has closed.
pub(super) fn drain(context: &mut Context<'_>, from: &mut (impl AsyncRead + Unpin)) -> Poll<bool> {
    let mut room = [0; 4_096];
    loop {
        let mut buffer = ReadBuf::new(&mut room);
        match Pin::new(&mut *from).poll_read(context, &mut buffer) {
            Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
            Poll::Ready(_) => return Poll::Ready(true),
            Poll::Pending => return Poll::Pending,
        }
    }
}
