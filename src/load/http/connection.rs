//! One connection, and one exchange on it at a time.
//!
//! Writing and reading go on together: a server may answer and close before it has read everything,
//! and its answer counts. A failed write therefore never ends an exchange, only the writing; the
//! bytes that left are counted. The last byte can be held back, to be sent by somebody else.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use tokio::io::Interest;
use tokio::net::TcpStream;

use crate::history::{Clock, RunTime, Sent};
use crate::load::target::Peer;

use super::reply::{Reply, ReplyReader};
use super::tls::Session;

/// Bytes taken off a socket in one go. They live on the stack while they are looked at, so that
/// thousands of waiting clients hold none.
const READ_SIZE: usize = 4 * 1024;

/// A connection to one instance.
#[derive(Debug)]
pub(crate) struct Connection {
    tcp: Arc<TcpStream>,
    session: Option<Session>,
    /// The request as it goes over the wire.
    outgoing: Vec<u8>,
    written: usize,
    /// Whether one more byte of the request is in somebody else's hands.
    is_held: bool,
    /// Why the rest of the request can't be written.
    write_failure: Option<std::io::Error>,
    first_byte: Option<RunTime>,
    last_byte: Option<RunTime>,
}

/// The last byte of a request, held back.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub tcp: Arc<TcpStream>,
    pub byte: u8,
}

impl Connection {
    /// Connects, to the first of the peer's addresses that answers; gives the failure in words.
    pub async fn open(peer: &Peer, patience: Duration) -> Result<Self, String> {
        let addresses = peer.addresses.as_ref().map_err(Clone::clone)?;
        let opening = async {
            let tcp = connect(&peer.name, addresses).await?;
            let Some(tls) = &peer.tls else { return Ok::<_, String>((tcp, None)) };
            let shaken = tls.shake(tcp).await;
            let (tcp, session) =
                shaken.map_err(|error| format!("TLS with {} failed: {error}", peer.name))?;
            Ok((tcp, Some(session)))
        };
        let late = || format!("no connection to {} within {patience:?}", peer.name);
        let (tcp, session) =
            tokio::time::timeout(patience, opening).await.map_err(|_| late())??;
        Ok(Self {
            tcp: Arc::new(tcp),
            session,
            outgoing: Vec::new(),
            written: 0,
            is_held: false,
            write_failure: None,
            first_byte: None,
            last_byte: None,
        })
    }

    /// Makes a request ready to be sent; nothing of the one before it remains.
    pub fn prepare(&mut self, request: &[u8]) -> Result<(), String> {
        self.outgoing.clear();
        self.written = 0;
        (self.is_held, self.write_failure) = (false, None);
        (self.first_byte, self.last_byte) = (None, None);
        match &mut self.session {
            None => self.outgoing.extend_from_slice(request),
            Some(session) => session
                .seal(request, &mut self.outgoing)
                .map_err(|error| format!("the request cannot be encrypted: {error}"))?,
        }
        Ok(())
    }

    /// As [`Connection::prepare`], with the last byte on the wire held back. Over TLS the last byte
    /// of the request has a record of its own, of which the last byte is held back: the server has
    /// all but one byte of the request, as in a plain exchange.
    pub fn prepare_held(&mut self, request: &[u8]) -> Result<Held, String> {
        let (front, last) = request.split_at(request.len().saturating_sub(1));
        self.prepare(front)?;
        match &mut self.session {
            None => self.outgoing.extend_from_slice(last),
            Some(session) => session
                .seal(last, &mut self.outgoing)
                .map_err(|error| format!("the request cannot be encrypted: {error}"))?,
        }
        let byte = self.outgoing.pop().ok_or("the request is empty")?;
        self.is_held = true;
        Ok(Held { tcp: Arc::clone(&self.tcp), byte })
    }

    /// Writes what there is to write; ends early when a reply, or none, has come meanwhile.
    pub async fn send(
        &mut self,
        clock: Clock,
        reader: &mut ReplyReader,
    ) -> Option<Result<Reply, String>> {
        while self.has_unsent() {
            if let Some(end) = self.step(clock, reader).await {
                return Some(end);
            }
        }
        None
    }

    /// Reads the reply, writing on as long as there is something to write.
    pub async fn receive(
        &mut self,
        clock: Clock,
        reader: &mut ReplyReader,
    ) -> Result<Reply, String> {
        // Nearly always there is room for it, and nothing to wait for.
        if self.has_unsent() {
            self.write_some(clock);
        }
        loop {
            if let Some(end) = self.step(clock, reader).await {
                return end;
            }
        }
    }

    /// How much of the request has left, the held byte not counted as left.
    pub fn sent(&self) -> Sent {
        match self.written {
            0 => Sent::Nothing,
            written if written == self.outgoing.len() && !self.is_held => Sent::Whole,
            _ => Sent::Part,
        }
    }

    /// Whether everything that wasn't held back has left.
    pub const fn is_written(&self) -> bool {
        self.written == self.outgoing.len()
    }

    /// Just before the first byte left.
    pub const fn first_byte(&self) -> Option<RunTime> {
        self.first_byte
    }

    /// Just after the last byte left, unless it was held back.
    pub const fn last_byte(&self) -> Option<RunTime> {
        self.last_byte
    }

    /// Whether the connection is open and silent, so that another request may go over it. It asks
    /// the kernel: the runtime may not have heard yet that the server closed it.
    pub fn is_idle(&self) -> bool {
        let peek = || recv(&self.tcp, &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT);
        let is_silent = |peeked: &Result<_, _>| matches!(peeked, Err(Errno::WOULDBLOCK));
        let mut seen = None;
        // Asked through the runtime where that lets it do so, because it then knows as well that
        // there is nothing to read, and won't try once more when the reply is waited for.
        let _ = self.tcp.try_io(Interest::READABLE, || {
            let peeked = peek();
            seen = Some(is_silent(&peeked));
            peeked.map_err(std::io::Error::from)
        });
        seen.unwrap_or_else(|| is_silent(&peek()))
    }

    fn has_unsent(&self) -> bool {
        self.written < self.outgoing.len() && self.write_failure.is_none()
    }

    /// Waits for the socket and does what it allows; gives the end of the exchange.
    async fn step(
        &mut self,
        clock: Clock,
        reader: &mut ReplyReader,
    ) -> Option<Result<Reply, String>> {
        let is_readable = if self.has_unsent() {
            self.tcp.ready(Interest::READABLE | Interest::WRITABLE).await.map(|ready| {
                if ready.is_writable() {
                    self.write_some(clock);
                }
                ready.is_readable() || ready.is_read_closed()
            })
        } else {
            // Waiting for both is dearer; nearly all waiting is for a reply.
            poll_fn(|context| self.tcp.poll_read_ready(context)).await.map(|()| true)
        };
        match is_readable {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => return Some(Err(self.broken(reader, &error))),
        }
        match self.read_some(reader) {
            Some(Ok(reply)) if self.written == 0 => {
                Some(Err(format!("a {} came before anything was asked", reply.status)))
            }
            end => end,
        }
    }

    fn write_some(&mut self, clock: Clock) {
        let before = clock.now();
        match self.tcp.try_write(&self.outgoing[self.written..]) {
            Ok(count) => {
                self.written += count;
                self.first_byte.get_or_insert(before);
                if self.sent() == Sent::Whole {
                    self.last_byte = Some(clock.now());
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => self.write_failure = Some(error),
        }
    }

    fn read_some(&mut self, reader: &mut ReplyReader) -> Option<Result<Reply, String>> {
        let mut buffer = [const { MaybeUninit::uninit() }; READ_SIZE];
        match take_in(&self.tcp, &mut buffer) {
            Ok([]) => Some(self.ended(reader)),
            Ok(bytes) => match &mut self.session {
                None => push(reader, bytes),
                Some(session) => match session.open(bytes, |plain| push(reader, plain)) {
                    Ok(Some(Ok(mut reply))) => {
                        reply.keeps_alive &= !session.has_more();
                        Some(Ok(reply))
                    }
                    Ok(end) => end,
                    Err(error) => Some(Err(format!("the TLS session broke: {error}"))),
                },
            },
            Err(error) if error.kind() == ErrorKind::WouldBlock => None,
            Err(error) => Some(Err(self.broken(reader, &error))),
        }
    }

    /// The stream has ended. Over TLS an end without close_notify may be an attacker's or a cut.
    fn ended(&mut self, reader: &mut ReplyReader) -> Result<Reply, String> {
        let was_announced = self.session.as_mut().is_none_or(Session::has_ended);
        match reader.end() {
            Ok(_) if !was_announced => {
                Err("the connection was cut: TLS did not announce the end of the reply".to_owned())
            }
            Ok(reply) => Ok(reply),
            Err(fault) => Err(match &self.write_failure {
                Some(error) => format!("{fault} (sending had failed: {error})"),
                None => fault.to_string(),
            }),
        }
    }

    fn broken(&self, reader: &ReplyReader, error: &std::io::Error) -> String {
        let error = self.write_failure.as_ref().unwrap_or(error);
        format!("the connection broke: {error} ({})", reader.progress())
    }
}

/// Takes bytes off a socket. When there were fewer than asked for, it is empty now, and the runtime
/// is told so (epoll(7), question 9): otherwise it would try once more in vain.
fn take_in<'a>(tcp: &TcpStream, buffer: &'a mut [MaybeUninit<u8>]) -> std::io::Result<&'a [u8]> {
    let (mut taken, room) = (None, buffer.len());
    let tried = tcp.try_io(Interest::READABLE, || {
        let ((bytes, _), _) = recv(tcp, buffer, RecvFlags::DONTWAIT)?;
        let is_empty = !bytes.is_empty() && bytes.len() < room;
        taken = Some(&*bytes);
        if is_empty { Err(ErrorKind::WouldBlock.into()) } else { Ok(()) }
    });
    match taken {
        Some(bytes) => Ok(bytes),
        None => tried.map(|()| &[][..]),
    }
}

fn push(reader: &mut ReplyReader, bytes: &[u8]) -> Option<Result<Reply, String>> {
    reader.push(bytes).map_err(|fault| fault.to_string()).transpose()
}

async fn connect(name: &str, addresses: &[SocketAddr]) -> Result<TcpStream, String> {
    let mut failure = format!("{name} has no address");
    for address in addresses {
        let connected = TcpStream::connect(address).await;
        match connected.and_then(|tcp| tcp.set_nodelay(true).map(|()| tcp)) {
            Ok(tcp) => return Ok(tcp),
            Err(error) => failure = format!("cannot connect to {address}: {error}"),
        }
    }
    Err(failure)
}
