//! The two ends of a proxy as plain sockets, so that a test decides about every byte and every end.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use dupeproof::wire::{Counts, Protocol, Proxy, ProxyEvent, ProxySpec};
use rustix::net::sockopt::set_socket_linger;
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;

pub const LIMIT: Duration = Duration::from_secs(20);
const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A proxy in front of a listener of the test's own.
pub struct Stage {
    pub proxy: Proxy,
    pub events: Receiver<ProxyEvent>,
    listener: TcpListener,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Orderly,
    Reset,
}

pub async fn proxy_to(protocol: Protocol, upstream: SocketAddr) -> Proxy {
    Proxy::start(ProxySpec { listen: LOOPBACK, upstream, protocol }).await.unwrap()
}

impl Stage {
    pub async fn set(protocol: Protocol) -> Self {
        let listener = TcpListener::bind(LOOPBACK).unwrap();
        let mut proxy = proxy_to(protocol, listener.local_addr().unwrap()).await;
        let events = proxy.events().unwrap();
        Self { proxy, events, listener }
    }

    /// Both ends of a link; reading from them fails when nothing comes.
    pub fn link(&self) -> (TcpStream, TcpStream) {
        let client = TcpStream::connect(self.proxy.address()).unwrap();
        let (server, _) = self.listener.accept().unwrap();
        for end in [&client, &server] {
            end.set_read_timeout(Some(LIMIT)).unwrap();
        }
        (client, server)
    }

    pub async fn event(&mut self) -> ProxyEvent {
        timeout(LIMIT, self.events.recv()).await.unwrap().unwrap()
    }

    /// The counts as soon as they are so.
    pub async fn until(&self, wanted: impl Fn(&Counts) -> bool) -> Counts {
        until(&self.proxy, wanted).await
    }

    pub async fn stop(self) {
        self.proxy.stop().await.unwrap();
    }
}

pub async fn until(proxy: &Proxy, wanted: impl Fn(&Counts) -> bool) -> Counts {
    let looks = async {
        loop {
            let counts = proxy.counts().await.unwrap();
            if wanted(&counts) {
                return counts;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    match timeout(LIMIT, looks).await {
        Ok(counts) => counts,
        Err(_) => panic!("it did not come to that: {:?}", proxy.counts().await),
    }
}

/// Closes a connection with a reset.
pub fn reset(stream: TcpStream) {
    set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    drop(stream);
}

pub fn shut(stream: &TcpStream) {
    stream.shutdown(Shutdown::Write).unwrap();
}

/// Everything up to the end, and how that was.
pub fn rest(mut stream: &TcpStream) -> (Vec<u8>, End) {
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Ok(_) => (all, End::Orderly),
        Err(error) if error.kind() == ErrorKind::ConnectionReset => (all, End::Reset),
        Err(error) => panic!("neither bytes nor an end: {error}"),
    }
}

pub fn exactly(mut stream: &TcpStream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}

pub fn send(mut stream: &TcpStream, bytes: &[u8]) {
    stream.write_all(bytes).unwrap();
}
