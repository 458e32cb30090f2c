//! A server that keeps every request as it arrived.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::BufReader;
use tokio::sync::watch;

use crate::server::{Arrived, Server, created, read_request, write};

/// A request, with when its last byte had come.
pub struct Seen {
    pub at: Instant,
    /// When its answer was written, if it was.
    pub answered: Option<Instant>,
    pub arrived: Arrived,
}

/// What a server does about a request: its text, after a wait.
pub struct Answer {
    pub text: String,
    pub takes: Duration,
    /// Requests that must have arrived before it is given.
    pub after: usize,
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self { text, takes: Duration::ZERO, after: 0 }
    }
}

pub struct Recording {
    pub server: Server,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Recording {
    /// Answers everything with an order.
    pub async fn of_orders() -> Self {
        Self::answering(|_, number| created(&number.to_string()).into()).await
    }

    /// Answers as it is told, by the request and its number.
    pub async fn answering(
        answer: impl Fn(&Arrived, usize) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (log, answer) = (Arc::clone(&seen), Arc::new(answer));
        let count = Arc::new(watch::channel(0).0);
        let server = Server::start(move |stream, _| {
            let (log, answer, count) = (Arc::clone(&log), Arc::clone(&answer), Arc::clone(&count));
            async move {
                let mut stream = BufReader::new(stream);
                while let Some(arrived) = read_request(&mut stream).await {
                    let (number, answer) = {
                        let mut log = log.lock().unwrap();
                        let answer = answer(&arrived, log.len());
                        log.push(Seen { at: Instant::now(), answered: None, arrived });
                        (log.len() - 1, answer)
                    };
                    count.send_modify(|count| *count += 1);
                    count.subscribe().wait_for(|&count| count >= answer.after).await.unwrap();
                    tokio::time::sleep(answer.takes).await;
                    log.lock().unwrap()[number].answered = Some(Instant::now());
                    write(stream.get_mut(), &answer.text).await;
                }
            }
        })
        .await;
        Self { server, seen }
    }

    /// Everything that has arrived, in the order of arrival.
    pub fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}
