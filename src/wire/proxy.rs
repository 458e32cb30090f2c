//! A proxy in front of one server of the target: a listener, a thread, and its links.
//!
//! The thread has a runtime of its own, so that a busy load generator doesn't delay what crosses, and
//! all links run on it, so that they share what they know without locks. Whoever wants to know
//! something asks by message.

use std::net::SocketAddr;
use std::thread::{self, JoinHandle};

use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use tokio::task::LocalSet;

use super::accept::{self, Command};
use super::counts::Counts;
use super::error::WireError;
use super::event::ProxyEvent;

/// Events that wait for somebody to take them.
const MOST_EVENTS: usize = 1024;
const MOST_COMMANDS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Redis,
    Postgres,
    Http,
}

impl Protocol {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Redis => "redis",
            Self::Postgres => "postgres",
            Self::Http => "http",
        }
    }
}

/// What stands between whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProxySpec {
    /// Where the target connects to; port 0 becomes a free one.
    pub listen: SocketAddr,
    /// The server.
    pub upstream: SocketAddr,
    pub protocol: Protocol,
}

/// A proxy that runs. Dropping it ends it too, and blocks for a moment.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    protocol: &'static str,
    events: Option<mpsc::Receiver<ProxyEvent>>,
    /// The thread ends when this is gone.
    commands: Option<mpsc::Sender<Command>>,
    /// Tells how many links have panicked.
    thread: Option<JoinHandle<u64>>,
}

impl Proxy {
    /// Listens; the upstream need not be there yet.
    ///
    /// # Errors
    /// [`WireError::Listen`] and [`WireError::Thread`].
    pub async fn start(spec: ProxySpec) -> Result<Self, WireError> {
        let protocol = spec.protocol.name();
        let (events_in, events) = mpsc::channel(MOST_EVENTS);
        let (commands, commands_out) = mpsc::channel(MOST_COMMANDS);
        let (bound_in, bound) = oneshot::channel();
        let thread_error = |source| WireError::Thread { protocol, source };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(thread_error)?;
        let thread = thread::Builder::new()
            .name(format!("wire-{protocol}"))
            .spawn(move || {
                let proxy = accept::run(spec, bound_in, commands_out, events_in);
                LocalSet::new().block_on(&runtime, proxy)
            })
            .map_err(thread_error)?;
        let mut proxy = Self {
            address: spec.listen,
            protocol,
            events: Some(events),
            commands: Some(commands),
            thread: Some(thread),
        };
        let bound = bound.await.map_err(|_| WireError::Ended { protocol })?;
        proxy.address =
            bound.map_err(|source| WireError::Listen { protocol, address: spec.listen, source })?;
        Ok(proxy)
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What happens on its links, from the start on. There is one receiver: `None` the second time.
    pub const fn events(&mut self) -> Option<mpsc::Receiver<ProxyEvent>> {
        self.events.take()
    }

    /// What it has seen so far.
    ///
    /// # Errors
    /// [`WireError::Ended`].
    pub async fn counts(&self) -> Result<Counts, WireError> {
        let ended = || WireError::Ended { protocol: self.protocol };
        let (answer, counts) = oneshot::channel();
        let commands = self.commands.as_ref().ok_or_else(ended)?;
        commands.send(Command::Counts(answer)).await.map_err(|_| ended())?;
        counts.await.map_err(|_| ended())
    }

    /// Resets every link and gives the port back.
    ///
    /// # Errors
    /// [`WireError::Panicked`], [`WireError::Ended`]: bugs.
    pub async fn stop(mut self) -> Result<(), WireError> {
        let protocol = self.protocol;
        let ended = tokio::task::spawn_blocking(move || self.end()).await;
        match ended.ok().flatten() {
            Some(0) => Ok(()),
            Some(links) => Err(WireError::Panicked { protocol, links }),
            None => Err(WireError::Ended { protocol }),
        }
    }

    /// Ends the thread; how many of its links have panicked. None where it has itself.
    fn end(&mut self) -> Option<u64> {
        self.commands = None;
        self.thread.take()?.join().ok()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.end();
    }
}
