//! The proxies of a run: listeners in front of the target's servers, one thread, and their links.
//!
//! The thread has a runtime of its own, so that a busy load generator doesn't delay what crosses, and
//! all links run on it, so that they share what they know without locks: a token that was seen in
//! Redis names its intent in PostgreSQL too. Whoever wants to know something asks by message.

use std::net::SocketAddr;
use std::thread::{self, JoinHandle};

use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use tokio::task::LocalSet;

use crate::history::{Clock, InstanceId, Recorder, Wire, WireFacts};

use super::accept::{self, Command, Ended};
use super::counts::Counts;
use super::error::WireError;
use super::event::ProxyEvent;
use super::guide::Guide;
use super::tokens::Expected;
use super::upstream::Upstream;

/// Events that wait for somebody to take them.
const MOST_EVENTS: usize = 1024;
const MOST_COMMANDS: usize = 16;

/// What stands between whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxySpec {
    /// Where the target connects to; port 0 becomes a free one.
    pub listen: SocketAddr,
    /// The server.
    pub upstream: Upstream,
    pub wire: Wire,
    /// The instance that alone connects here, if it is one.
    pub instance: Option<InstanceId>,
    /// Whether it may listen where other machines reach it: whoever reaches the proxy reaches the
    /// server.
    pub beyond_loopback: bool,
}

impl ProxySpec {
    /// One at which all instances connect, and which no other machine reaches.
    pub const fn new(wire: Wire, listen: SocketAddr, upstream: Upstream) -> Self {
        Self { listen, upstream, wire, instance: None, beyond_loopback: false }
    }
}

/// How to look at what crosses.
#[derive(Clone, Debug)]
pub struct Watch {
    pub clock: Clock,
    /// Where links and steps are written down; without one they are only counted.
    pub recorder: Option<Recorder>,
    pub guide: Guide,
}

/// Proxies that run. Dropping them ends them too, and blocks for a moment.
#[derive(Debug)]
pub struct Proxies {
    addresses: Vec<SocketAddr>,
    events: Option<mpsc::Receiver<ProxyEvent>>,
    /// The thread ends when this is gone.
    commands: Option<mpsc::Sender<Command>>,
    thread: Option<JoinHandle<Ended>>,
}

impl Proxies {
    /// Listens for all of them; their servers need not be there yet.
    ///
    /// # Errors
    /// [`WireError::Exposed`] before anything listens, [`WireError::Certificates`] and
    /// [`WireError::TlsName`] for a server that TLS can't be spoken with, [`WireError::Listen`],
    /// [`WireError::Thread`].
    pub async fn start(specs: Vec<ProxySpec>, watch: Watch) -> Result<Self, WireError> {
        let (events_in, events) = mpsc::channel(MOST_EVENTS);
        let (commands, commands_out) = mpsc::channel(MOST_COMMANDS);
        let (bound_in, bound) = oneshot::channel();
        let thread_error = |source| WireError::Thread { source };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(thread_error)?;
        let thread = thread::Builder::new()
            .name("wire".to_owned())
            .spawn(move || {
                let proxies = accept::run(specs, watch, bound_in, commands_out, events_in);
                LocalSet::new().block_on(&runtime, proxies)
            })
            .map_err(thread_error)?;
        let mut proxies = Self {
            addresses: Vec::new(),
            events: Some(events),
            commands: Some(commands),
            thread: Some(thread),
        };
        proxies.addresses = bound.await.map_err(|_| WireError::Ended)??;
        Ok(proxies)
    }

    /// Where they listen, in the order in which they were asked for.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// What happens on their links, from the start on. There is one receiver: `None` the second time.
    pub const fn events(&mut self) -> Option<mpsc::Receiver<ProxyEvent>> {
        self.events.take()
    }

    /// What each has seen so far.
    ///
    /// # Errors
    /// [`WireError::Ended`].
    pub async fn counts(&self) -> Result<Vec<Counts>, WireError> {
        self.ask(Command::Counts).await
    }

    /// From now on a frame that carries what these intents are known by is theirs.
    ///
    /// # Errors
    /// [`WireError::Ended`].
    pub async fn expect(&self, intents: Vec<Expected>) -> Result<(), WireError> {
        self.ask(|done| Command::Expect(intents, done)).await
    }

    async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, WireError> {
        let (answer, answered) = oneshot::channel();
        let commands = self.commands.as_ref().ok_or(WireError::Ended)?;
        commands.send(command(answer)).await.map_err(|_| WireError::Ended)?;
        answered.await.map_err(|_| WireError::Ended)
    }

    /// Resets every link, gives the ports back, and tells what each wire saw.
    ///
    /// # Errors
    /// [`WireError::Panicked`], [`WireError::Ended`]: bugs.
    pub async fn stop(mut self) -> Result<Vec<WireFacts>, WireError> {
        let ended = tokio::task::spawn_blocking(move || self.end()).await;
        match ended.ok().flatten() {
            Some(Ended { panicked: 0, wires }) => Ok(wires),
            Some(Ended { panicked, .. }) => Err(WireError::Panicked { links: panicked }),
            None => Err(WireError::Ended),
        }
    }

    /// Ends the thread. None where it has panicked.
    fn end(&mut self) -> Option<Ended> {
        self.commands = None;
        self.thread.take()?.join().ok()
    }
}

impl Drop for Proxies {
    fn drop(&mut self) {
        self.end();
    }
}
