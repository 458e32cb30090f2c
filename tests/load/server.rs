//! Servers that do exactly what a test tells them to, and count what arrives.

use std::collections::HashMap;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;

/// A success with this order id.
pub fn created(order: &str) -> String {
    reply("201 Created", "", &format!(r#"{{"orderId":"{order}"}}"#))
}

/// A framed reply.
pub fn reply(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len())
}

/// A server; it ends when it is dropped.
pub struct Server {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    accepting: tokio::task::JoinHandle<()>,
}

impl Server {
    /// Hands every connection to `serve`, with its number.
    pub async fn start<F>(serve: impl Fn(TcpStream, usize) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = listen();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        let accepting = tokio::spawn(async move {
            let mut served = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).unwrap();
                served.spawn(serve(stream, count.fetch_add(1, Ordering::SeqCst)));
            }
        });
        Self { address, connections, accepting }
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

pub fn listen() -> TcpListener {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    socket.listen(4_096).unwrap()
}

/// A request that has arrived in full.
pub struct Arrived {
    pub head: String,
    pub body: String,
}

impl Arrived {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (given, value) = line.split_once(':')?;
            given.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub fn key(&self) -> String {
        self.header("idempotency-key").expect("a key").to_owned()
    }
}

/// Reads one request; `None` when the client closed.
pub async fn read_request<S: AsyncRead + Unpin>(stream: &mut BufReader<S>) -> Option<Arrived> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let mut arrived = Arrived { head, body: String::new() };
    let length: usize = arrived.header("content-length").map_or(0, |text| text.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    arrived.body = String::from_utf8(body).unwrap();
    Some(arrived)
}

/// Writes all of it, if the client still listens.
pub async fn write<S: AsyncWrite + Unpin>(stream: &mut S, text: &str) {
    let _ = stream.write_all(text.as_bytes()).await;
}

/// Holds every request until `together` of its key have arrived.
#[derive(Clone)]
pub struct Gate {
    together: usize,
    /// The order that it gives.
    order: fn() -> String,
    keys: Arc<Mutex<HashMap<String, watch::Sender<usize>>>>,
}

impl Gate {
    pub fn of(together: usize) -> Self {
        Self { together, order: || "1".to_owned(), keys: Arc::default() }
    }

    /// The same; an order's id is when it was given, in microseconds of the wall clock.
    pub fn telling_the_time(together: usize) -> Self {
        Self { order: || jiff::Timestamp::now().as_microsecond().to_string(), ..Self::of(together) }
    }

    /// Serves a connection until the client closes it.
    pub async fn serve(self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        while let Some(arrived) = read_request(&mut stream).await {
            self.pass(&arrived.key()).await;
            write(stream.get_mut(), &created(&(self.order)())).await;
        }
    }

    async fn pass(&self, key: &str) {
        let mut count = {
            let mut keys = self.keys.lock().await;
            let count = keys.entry(key.to_owned()).or_insert_with(|| watch::channel(0).0);
            count.send_modify(|count| *count += 1);
            count.subscribe()
        };
        count.wait_for(|&count| count >= self.together).await.unwrap();
    }
}
