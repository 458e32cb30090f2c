//! What the thread of a proxy does: it accepts, owns the links, and answers questions.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinError, JoinSet};

use super::counts::Counts;
use super::event::ProxyEvent;
use super::http::HttpTalk;
use super::link::serve;
use super::observer::{Notes, Observer};
use super::postgres::PostgresTalk;
use super::proxy::{Protocol, ProxySpec};
use super::redis::RedisTalk;

/// A burst of connections beyond the backlog would lose its SYNs, and come a second late.
const BACKLOG: u32 = 4_096;
/// Accepting fails while the process has no file left, and would fail in a busy loop.
const ACCEPT_AGAIN: Duration = Duration::from_millis(10);

pub(super) enum Command {
    Counts(oneshot::Sender<Counts>),
}

/// Serves until nobody is left to send commands, then resets all links. How many have panicked.
pub(super) async fn run(
    spec: ProxySpec,
    bound: oneshot::Sender<io::Result<SocketAddr>>,
    mut commands: mpsc::Receiver<Command>,
    events: mpsc::Sender<ProxyEvent>,
) -> u64 {
    let listener = match listen(spec.listen).and_then(|it| Ok((it.local_addr()?, it))) {
        Ok((address, listener)) => {
            // Nobody waits for it any more: then the commands have ended too.
            let _ = bound.send(Ok(address));
            listener
        }
        Err(source) => {
            let _ = bound.send(Err(source));
            return 0;
        }
    };
    let observer = Rc::new(Observer::new(events));
    let mut links = JoinSet::new();
    let mut panicked = 0;
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((client, _)) => start(spec, client, &observer, &mut links),
                Err(source) => {
                    observer.tell(ProxyEvent::NotAccepted { why: source.to_string() });
                    tokio::time::sleep(ACCEPT_AGAIN).await;
                }
            },
            Some(ended) = links.join_next() => {
                observer.counts.borrow_mut().open -= 1;
                panicked += u64::from(has_panicked(ended));
            }
            command = commands.recv() => match command {
                Some(Command::Counts(answer)) => {
                    // Who asked may have stopped waiting.
                    let _ = answer.send(observer.counts.borrow().clone());
                }
                None => break,
            },
        }
    }
    drop(listener);
    links.abort_all();
    while let Some(ended) = links.join_next().await {
        panicked += u64::from(has_panicked(ended));
    }
    panicked
}

fn start(spec: ProxySpec, client: TcpStream, observer: &Rc<Observer>, links: &mut JoinSet<()>) {
    let link = {
        let mut counts = observer.counts.borrow_mut();
        counts.links += 1;
        counts.open += 1;
        counts.links
    };
    let notes = Notes::new(link, Rc::clone(observer));
    match spec.protocol {
        Protocol::Redis => links.spawn_local(serve::<RedisTalk>(client, spec.upstream, notes)),
        Protocol::Postgres => {
            links.spawn_local(serve::<PostgresTalk>(client, spec.upstream, notes))
        }
        Protocol::Http => links.spawn_local(serve::<HttpTalk>(client, spec.upstream, notes)),
    };
}

fn has_panicked(ended: Result<(), JoinError>) -> bool {
    ended.is_err_and(|error| error.is_panic())
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
