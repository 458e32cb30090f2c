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
use tokio_util::sync::CancellationToken;

use crate::history::{Clock, FaultId, FiringEnd, InstanceId, IntentId, Recorder, Wire, WireFacts};
use crate::profile::Cut;

use super::accept::{self, Command, Ended, Partitioned};
use super::counts::Counts;
use super::error::WireError;
use super::event::ProxyEvent;
use super::guide::Guide;
use super::rule::{Activity, Armed, HoldId, Notice, Rule};
use super::tokens::Expected;
use super::upstream::Upstream;

/// Events that wait for somebody to take them.
const MOST_EVENTS: usize = 1024;
const MOST_COMMANDS: usize = 16;
/// Notices that wait; a hold whose notice finds no room is not made.
const MOST_NOTICES: usize = 16 * 1024;

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
    notices: Option<mpsc::Receiver<Notice>>,
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
        let (notices_in, notices) = mpsc::channel(MOST_NOTICES);
        let (commands, commands_out) = mpsc::channel(MOST_COMMANDS);
        let (bound_in, bound) = oneshot::channel();
        let thread_error = |source| WireError::Thread { source };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(thread_error)?;
        let thread = thread::Builder::new()
            .name("wire".to_owned())
            .spawn(move || {
                let proxies =
                    accept::run(specs, watch, bound_in, commands_out, events_in, notices_in);
                LocalSet::new().block_on(&runtime, proxies)
            })
            .map_err(thread_error)?;
        let mut proxies = Self {
            addresses: Vec::new(),
            events: Some(events),
            notices: Some(notices),
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

    /// What happens to the faults on their links. There is one receiver: `None` the second time.
    pub const fn notices(&mut self) -> Option<mpsc::Receiver<Notice>> {
        self.notices.take()
    }

    /// Asks these rules of every step from now on, behind those that are armed already.
    ///
    /// # Errors
    /// [`WireError::Ended`].
    pub async fn arm(&self, rules: Vec<Rule>) -> Result<Armed, WireError> {
        let token = CancellationToken::new();
        self.ask(|done| Command::Arm(rules, token.clone(), done)).await?;
        Ok(Armed { token })
    }

    /// Takes rules back, and comes back when nothing is held or silenced by them any more.
    ///
    /// # Errors
    /// [`WireError::Ended`].
    pub async fn heal(&self, armed: Armed) -> Result<(), WireError> {
        armed.token.cancel();
        self.ask(Command::Heal).await
    }

    /// Ends a hold, for this reason. One that has ended already is left alone.
    ///
    /// # Errors
    /// [`WireError::Ended`].
    pub async fn release(&self, hold: HoldId, how: FiringEnd) -> Result<(), WireError> {
        self.ask(|done| Command::Release(hold, how, done)).await
    }

    /// How busy these intents are.
    ///
    /// # Errors
    /// [`WireError::Ended`].
    pub async fn activity(&self, intents: Vec<IntentId>) -> Result<Vec<Activity>, WireError> {
        self.ask(|answer| Command::Activity(intents, answer)).await
    }

    /// Cuts an instance (or all) off from a server, until the guard is dropped or healed. Tells of its
    /// firing and its end by notices, as a rule does.
    ///
    /// # Errors
    /// [`WireError::Ended`].
    pub async fn partition(
        &self,
        fault: FaultId,
        wire: Wire,
        instance: Option<InstanceId>,
        how: Cut,
    ) -> Result<Armed, WireError> {
        let token = CancellationToken::new();
        let cut = Partitioned { fault, wire, instance, how };
        self.ask(|done| Command::Partition(cut, token.clone(), done)).await?;
        Ok(Armed { token })
    }

    /// From now on these proxies lead to another server; what is connected is reset. Tells of its firing
    /// by a notice, and of its effect when somebody has connected to the other one.
    ///
    /// # Errors
    /// [`WireError::Ended`], [`WireError::TlsName`], [`WireError::Certificates`].
    pub async fn swap(&self, fault: FaultId, wire: Wire, to: Upstream) -> Result<(), WireError> {
        self.ask(|done| Command::Swap(fault, wire, to, done)).await?
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
