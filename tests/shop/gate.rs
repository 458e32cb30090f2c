//! A gate on the way from an instance to one of its servers: it stops one request, before it or
//! after it, by a word that only that request has.
//!
//! Bytes go through as they are. A request of the instance is one write, and one read here; the
//! words that tests look for stand in one piece.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The request isn't passed on.
    Before(String),
    /// The request is, and its reply isn't.
    After(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Open,
    Armed(Stop),
    /// The request has come, and been carried out if that was meant; its connection stands still.
    Stopped,
    /// That connection is closed, the others aren't.
    Cut,
}

pub struct Gate {
    pub port: u16,
    state: watch::Sender<State>,
    accepting: JoinHandle<()>,
}

impl Gate {
    /// In front of a server at `127.0.0.1`, told by a URL that names its port.
    pub async fn before(url: &str) -> Self {
        let server = address(url).to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (state, _) = watch::channel(State::Open);
        let shared = state.clone();
        let accepting = tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let Ok(server) = TcpStream::connect(&server).await else { continue };
                client.set_nodelay(true).unwrap();
                server.set_nodelay(true).unwrap();
                tokio::spawn(link(client, server, shared.clone()));
            }
        });
        Self { port, state, accepting }
    }

    /// The server's URL, by way of the gate.
    pub fn url(&self, url: &str) -> String {
        url.replace(address(url), &format!("127.0.0.1:{}", self.port))
    }

    /// From now on, the next request with that word.
    pub fn arm(&self, stop: Stop) {
        self.state.send_replace(State::Armed(stop));
    }

    pub async fn until_stopped(&self) {
        let mut seen = self.state.subscribe();
        let stopped = seen.wait_for(|state| *state == State::Stopped);
        timeout(Duration::from_secs(20), stopped).await.expect("the request comes").unwrap();
    }

    /// What was stopped goes on.
    pub fn open(&self) {
        self.state.send_replace(State::Open);
    }

    /// The connection that was stopped ends, and what was held back with it.
    pub fn cut(&self) {
        self.state.send_replace(State::Cut);
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// `127.0.0.1:5432` in `postgres://user@127.0.0.1:5432/orders`
fn address(url: &str) -> &str {
    let from = &url[url.find("127.0.0.1:").expect("a server of the lab")..];
    from.split('/').next().unwrap()
}

async fn link(client: TcpStream, server: TcpStream, state: watch::Sender<State>) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    // Of this connection: the request that was meant is on its way.
    let is_withheld = AtomicBool::new(false);
    tokio::select! {
        () = requests(from_client, to_server, &state, &is_withheld) => {}
        () = replies(from_server, to_client, &state, &is_withheld) => {}
    }
}

async fn requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    state: &watch::Sender<State>,
    is_withheld: &AtomicBool,
) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let request = &buffer[..length];
        let has = |word: &String| request.windows(word.len()).any(|part| part == word.as_bytes());
        let now = state.borrow().clone();
        match now {
            State::Armed(Stop::Before(word)) if has(&word) => {
                state.send_replace(State::Stopped);
                if !goes_on(state).await {
                    return;
                }
            }
            State::Armed(Stop::After(word)) if has(&word) => {
                is_withheld.store(true, Ordering::SeqCst);
            }
            _ => {}
        }
        if to.write_all(request).await.is_err() {
            return;
        }
    }
}

async fn replies(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    state: &watch::Sender<State>,
    is_withheld: &AtomicBool,
) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        if is_withheld.swap(false, Ordering::SeqCst) {
            state.send_replace(State::Stopped);
            if !goes_on(state).await {
                return;
            }
        }
        if to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}

/// Waits for the gate to open or to cut; false for the latter.
async fn goes_on(state: &watch::Sender<State>) -> bool {
    let mut seen = state.subscribe();
    let ended = seen.wait_for(|state| matches!(state, State::Open | State::Cut)).await;
    ended.is_ok_and(|state| *state == State::Open)
}
