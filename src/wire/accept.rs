//! What the thread of the proxies does: it accepts, owns the links, and answers questions.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::history::{FaultId, FiringEnd, InstanceId, IntentId, Wire, WireFacts};
use crate::profile::Cut;

use super::connect::Route;
use super::counts::Counts;
use super::error::WireError;
use super::event::ProxyEvent;
use super::http::HttpTalk;
use super::link::serve;
use super::notes::Notes;
use super::observer::Observer;
use super::postgres::PostgresTalk;
use super::proxies::{ProxySpec, Watch};
use super::redis::RedisTalk;
use super::rule::{Activity, HoldId, Notice, Rule};
use super::tokens::Expected;
use super::upstream::Upstream;

/// A burst of connections beyond the backlog would lose its SYNs, and come a second late.
const BACKLOG: u32 = 4_096;
/// Accepting fails while the process has no file left, and would fail in a busy loop.
const ACCEPT_AGAIN: Duration = Duration::from_millis(10);
/// Connections that may wait between being accepted and being served.
const MOST_ACCEPTED: usize = 1_024;

#[derive(Debug)]
pub(super) enum Command {
    Counts(oneshot::Sender<Vec<Counts>>),
    Expect(Vec<Expected>, oneshot::Sender<()>),
    Arm(Vec<Rule>, CancellationToken, oneshot::Sender<()>),
    Heal(oneshot::Sender<()>),
    Release(HoldId, FiringEnd, oneshot::Sender<()>),
    Activity(Vec<IntentId>, oneshot::Sender<Vec<Activity>>),
    Partition(Partitioned, CancellationToken, oneshot::Sender<()>),
    Swap(FaultId, Wire, Upstream, oneshot::Sender<Result<(), WireError>>),
}

/// Who is cut off from what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Partitioned {
    pub(super) fault: FaultId,
    pub(super) wire: Wire,
    pub(super) instance: Option<InstanceId>,
    pub(super) how: Cut,
}

/// What the thread leaves behind.
#[derive(Debug)]
pub(super) struct Ended {
    /// Links that have.
    pub panicked: u64,
    pub wires: Vec<WireFacts>,
}

/// Serves until nobody is left to send commands, then resets all links.
pub(super) async fn run(
    specs: Vec<ProxySpec>,
    watch: Watch,
    bound: oneshot::Sender<Result<Vec<SocketAddr>, WireError>>,
    mut commands: mpsc::Receiver<Command>,
    events: mpsc::Sender<ProxyEvent>,
    notices: mpsc::Sender<Notice>,
) -> Ended {
    let opened = open(&specs);
    let (mut routes, addresses, listeners) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            // Nobody waits for it any more: then the commands have ended too.
            let _ = bound.send(Err(error));
            return Ended { panicked: 0, wires: Vec::new() };
        }
    };
    let _ = bound.send(Ok(addresses));
    let observer = Rc::new(Observer::new(&specs, watch, events, notices));
    let writing = tokio::task::spawn_local(super::ledger::keep_writing(Rc::clone(&observer)));
    let (accepted_in, mut accepted) = mpsc::channel(MOST_ACCEPTED);
    let mut doors = JoinSet::new();
    for (door, listener) in listeners.into_iter().enumerate() {
        doors.spawn_local(accept(door, listener, accepted_in.clone(), Rc::clone(&observer)));
    }
    let mut links = JoinSet::new();
    let mut panicked = 0;
    loop {
        tokio::select! {
            Some((door, client)) = accepted.recv() => {
                start(&routes[door], door, client, &observer, &mut links);
            }
            Some(ended) = links.join_next() => panicked += u64::from(has_panicked(&ended)),
            command = commands.recv() => match command {
                Some(command) => answer(command, &mut routes, &observer),
                None => break,
            },
        }
    }
    doors.shutdown().await;
    links.abort_all();
    while let Some(ended) = links.join_next().await {
        panicked += u64::from(has_panicked(&ended));
    }
    writing.abort();
    observer.ledger.write_all().await;
    Ended { panicked, wires: observer.wires() }
}

/// Takes connections at one door for as long as somebody serves them.
async fn accept(
    door: usize,
    listener: TcpListener,
    accepted: mpsc::Sender<(usize, TcpStream)>,
    observer: Rc<Observer>,
) {
    loop {
        match listener.accept().await {
            Ok((client, _)) => {
                if accepted.send((door, client)).await.is_err() {
                    return;
                }
            }
            Err(source) => {
                observer.tell(door, ProxyEvent::NotAccepted { why: source.to_string() });
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

fn answer(command: Command, routes: &mut [Rc<Route>], observer: &Rc<Observer>) {
    // Who asked may have stopped waiting.
    match command {
        Command::Counts(answer) => drop(answer.send(observer.counts())),
        Command::Expect(intents, done) => {
            observer.tokens.borrow_mut().expect(intents);
            let _ = done.send(());
        }
        Command::Arm(rules, token, done) => {
            observer.rules.arm(rules, &token);
            sweep_when_over(token, observer);
            let _ = done.send(());
        }
        Command::Heal(done) => {
            observer.sweep();
            let _ = done.send(());
        }
        Command::Release(hold, how, done) => {
            observer.rules.release(hold, how);
            let _ = done.send(());
        }
        Command::Activity(intents, answer) => {
            let _ = answer.send(observer.rules.busy.borrow().activity(&intents));
        }
        Command::Partition(cut, token, done) => {
            observer.cut_off(cut, token.clone());
            sweep_when_over(token, observer);
            let _ = done.send(());
        }
        Command::Swap(fault, wire, to, done) => {
            let _ = done.send(swap(fault, wire, &to, routes, observer));
        }
    }
}

/// What was armed is taken back also where nobody waits for it.
fn sweep_when_over(token: CancellationToken, observer: &Rc<Observer>) {
    let observer = Rc::clone(observer);
    tokio::task::spawn_local(async move {
        token.cancelled().await;
        observer.sweep();
    });
}

fn swap(
    fault: FaultId,
    wire: Wire,
    to: &Upstream,
    routes: &mut [Rc<Route>],
    observer: &Observer,
) -> Result<(), WireError> {
    for route in routes.iter_mut().filter(|route| route.wire == wire) {
        *route = Rc::new(Route::to(wire, to.clone())?);
    }
    observer.swap(fault, wire);
    Ok(())
}

fn start(
    route: &Rc<Route>,
    door: usize,
    client: TcpStream,
    observer: &Rc<Observer>,
    links: &mut JoinSet<()>,
) {
    let notes = Notes::new(door, Rc::clone(observer));
    let route = Rc::clone(route);
    match route.wire {
        Wire::Redis => links.spawn_local(serve::<RedisTalk>(client, route, notes)),
        Wire::Postgres => links.spawn_local(serve::<PostgresTalk>(client, route, notes)),
        Wire::Http => links.spawn_local(serve::<HttpTalk>(client, route, notes)),
    };
}

fn has_panicked(ended: &Result<(), JoinError>) -> bool {
    ended.as_ref().is_err_and(JoinError::is_panic)
}

/// The ways to the servers, where they are stood in front of, and who takes connections there.
type Opened = (Vec<Rc<Route>>, Vec<SocketAddr>, Vec<TcpListener>);

/// Nothing listens before all of them may.
fn open(specs: &[ProxySpec]) -> Result<Opened, WireError> {
    let exposed = specs.iter().find(|spec| !spec.beyond_loopback && !is_loopback(spec.listen.ip()));
    if let Some(spec) = exposed {
        return Err(WireError::Exposed { wire: spec.wire.name(), address: spec.listen });
    }
    let route = |spec| Route::new(spec).map(Rc::new);
    let routes = specs.iter().map(route).collect::<Result<_, _>>()?;
    let listeners = specs.iter().map(listen).collect::<Result<Vec<_>, _>>()?;
    let (addresses, listeners) = listeners.into_iter().unzip();
    Ok((routes, addresses, listeners))
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

fn listen(spec: &ProxySpec) -> Result<(SocketAddr, TcpListener), WireError> {
    let address = spec.listen;
    let listen = || -> io::Result<_> {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        socket.bind(address)?;
        let listener = socket.listen(BACKLOG)?;
        Ok((listener.local_addr()?, listener))
    };
    listen().map_err(|source| WireError::Listen { wire: spec.wire.name(), address, source })
}
