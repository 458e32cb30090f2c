//! Copies bytes between a driver and its server, and remembers them in the order in which they
//! came. It knows nothing of any protocol: what it recorded is what was said.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    Client,
    Server,
}

/// What was said on one connection, read by read.
pub type Log = Vec<(From, Vec<u8>)>;

pub fn all(log: &Log, from: From) -> Vec<u8> {
    log.iter().filter(|(who, _)| *who == from).flat_map(|(_, bytes)| bytes.clone()).collect()
}

pub struct Relay {
    pub port: u16,
    logs: Arc<Mutex<Vec<Arc<Mutex<Log>>>>>,
    task: JoinHandle<()>,
}

impl Relay {
    pub async fn to(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let own = listener.local_addr().unwrap().port();
        let logs: Arc<Mutex<Vec<Arc<Mutex<Log>>>>> = Arc::default();
        let task = tokio::spawn({
            let logs = Arc::clone(&logs);
            async move {
                let mut copies = JoinSet::new();
                loop {
                    let (client, _) = listener.accept().await.unwrap();
                    let server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                    let log = Arc::<Mutex<Log>>::default();
                    logs.lock().unwrap().push(Arc::clone(&log));
                    let (from_client, to_client) = client.into_split();
                    let (from_server, to_server) = server.into_split();
                    copies.spawn(copy(from_client, to_server, Arc::clone(&log), From::Client));
                    copies.spawn(copy(from_server, to_client, log, From::Server));
                }
            }
        });
        Self { port: own, logs, task }
    }

    /// What was said on each connection, when all of them have ended.
    pub async fn logs(self) -> Vec<Log> {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            // Each copy that still runs holds its log.
            let open = self.logs.lock().unwrap().iter().any(|log| Arc::strong_count(log) > 1);
            if !open {
                break;
            }
            assert!(Instant::now() < deadline, "the drivers have closed their connections");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        self.task.abort();
        let logs = self.logs.lock().unwrap();
        logs.iter().map(|log| log.lock().unwrap().clone()).collect()
    }
}

async fn copy(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, log: Arc<Mutex<Log>>, who: From) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        log.lock().unwrap().push((who, buffer[..count].to_vec()));
        if to.write_all(&buffer[..count]).await.is_err() {
            break;
        }
    }
}
