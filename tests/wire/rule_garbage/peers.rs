//! The servers: they answer what they can read, now and then with what is no answer.

use std::net::{Ipv4Addr, SocketAddr};

use dupeproof::history::Wire;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::postgres_messages::{complete, message, ready, trouble};

use super::words;

/// Serves whoever connects, until it is over.
pub async fn serve(
    wire: Wire,
    seed: u64,
    over: &CancellationToken,
    servers: &mut JoinSet<()>,
) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let over = over.clone();
    servers.spawn(async move {
        let mut served = JoinSet::new();
        for number in 0.. {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = over.cancelled() => break,
            };
            let rng = ChaCha8Rng::seed_from_u64(seed ^ (number << 16));
            served.spawn(answer_all(wire, accepted.unwrap().0, rng));
        }
    });
    address
}

async fn answer_all(wire: Wire, mut stream: TcpStream, mut rng: ChaCha8Rng) {
    let mut room = vec![0; 16 * 1024];
    let mut asked = Vec::new();
    let lies = rng.random_bool(0.3);
    while let Ok(count @ 1..) = stream.read(&mut room).await {
        asked.extend_from_slice(&room[..count]);
        let mut told = answers(wire, &mut asked);
        if lies && rng.random_bool(0.1) {
            words::spoil(&mut told, &mut rng);
        }
        let mut rest = &told[..];
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(words::piece(&mut rng).min(rest.len()));
            if stream.write_all(piece).await.is_err() {
                return;
            }
            rest = behind;
        }
        if rng.random_bool(0.002) {
            return;
        }
    }
}

/// The answers to what has come as a whole; what hasn't stays, as long as it isn't too much.
fn answers(wire: Wire, asked: &mut Vec<u8>) -> Vec<u8> {
    let mut told = Vec::new();
    let mut read = 0;
    match wire {
        Wire::Postgres => {
            while let Some(length) = postgres_length(&asked[read..]) {
                told.extend(postgres_answer(&asked[read..read + length]));
                read += length;
            }
        }
        // An array begins with a star, and nothing else in these requests has one.
        Wire::Redis => {
            let count = asked.iter().filter(|byte| **byte == b'*').count();
            (0..count).for_each(|place| told.extend_from_slice(REDIS[place % REDIS.len()]));
            read = asked.len();
        }
        Wire::Http => {
            for end in memchr::memmem::find_iter(asked, b"\r\n\r\n") {
                told.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
                read = end + 4;
            }
            read = read.max(asked.len().saturating_sub(3));
        }
    }
    asked.drain(..read);
    if asked.len() > 64 * 1024 {
        asked.clear();
    }
    told
}

const REDIS: [&[u8]; 7] = [
    b"+OK\r\n",
    b":1\r\n",
    b"$-1\r\n",
    b"$3\r\nabc\r\n",
    b"*2\r\n:1\r\n_\r\n",
    b"-ERR no\r\n",
    b"%0\r\n",
];

/// How long the first message is, if it is whole.
fn postgres_length(asked: &[u8]) -> Option<usize> {
    // Only the start of a connection has no tag.
    let tagless = usize::from(asked.first() != Some(&0));
    let length = asked.get(tagless..tagless + 4)?.try_into().unwrap();
    let length = usize::try_from(u32::from_be_bytes(length)).unwrap() + tagless;
    (length >= 4 && length <= asked.len()).then_some(length)
}

fn postgres_answer(said: &[u8]) -> Vec<u8> {
    let is_poison = memchr::memmem::find(said, b"dupeproof injected").is_some();
    let error = || trouble(b'E', "42601", "syntax error at or near \"dupeproof\"");
    match said[0] {
        0 => [message(b'R', &[&[0; 4]]), ready(b'I')].concat(),
        b'Q' if is_poison => [error(), ready(b'E')].concat(),
        b'P' if is_poison => error(),
        b'Q' => {
            let tag = match said.get(5) {
                Some(b'B') => "BEGIN",
                Some(b'C') => "COMMIT",
                Some(b'R') => "ROLLBACK",
                _ => "INSERT 0 1",
            };
            [complete(tag), ready(b'I')].concat()
        }
        b'P' => message(b'1', &[]),
        b'B' => message(b'2', &[]),
        b'D' => message(b'n', &[]),
        b'E' => complete("UPDATE 1"),
        b'C' => message(b'3', &[]),
        b'S' => ready(b'I'),
        _ => Vec::new(),
    }
}
