//! The two ends of a proxy as plain sockets, so that a test decides about every byte and every end.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use dupeproof::history::{Clock, Wire};
use dupeproof::wire::{Counts, Guide, Proxies, ProxyEvent, ProxySpec, Watch, WireError};
use rustix::net::sockopt::set_socket_linger;
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;

pub const LIMIT: Duration = Duration::from_secs(20);
const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// One proxy alone.
pub struct Proxy(Proxies);

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

pub async fn proxy_to(wire: Wire, upstream: SocketAddr) -> Proxy {
    Proxy::start(LOOPBACK, wire, upstream).await.unwrap()
}

impl Proxy {
    pub async fn start(
        listen: SocketAddr,
        wire: Wire,
        upstream: SocketAddr,
    ) -> Result<Self, WireError> {
        Self::before(ProxySpec::new(wire, listen, upstream.into())).await
    }

    pub async fn before(spec: ProxySpec) -> Result<Self, WireError> {
        let watch = Watch { clock: Clock::start(), recorder: None, guide: Guide::default() };
        Ok(Self(Proxies::start(vec![spec], watch).await?))
    }

    pub fn address(&self) -> SocketAddr {
        self.0.addresses()[0]
    }

    pub fn events(&mut self) -> Option<Receiver<ProxyEvent>> {
        self.0.events()
    }

    pub async fn counts(&self) -> Result<Counts, WireError> {
        Ok(self.0.counts().await?.remove(0))
    }

    pub async fn stop(self) -> Result<(), WireError> {
        self.0.stop().await.map(drop)
    }
}

impl Stage {
    pub async fn set(protocol: Wire) -> Self {
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
