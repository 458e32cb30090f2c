//! The clients: they say what they have to say, hear what comes, and leave in one way or another.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use dupeproof::history::Wire;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::words;

/// What all links of a wire share.
#[derive(Clone)]
pub struct Kind {
    pub wire: Wire,
    pub address: SocketAddr,
    pub large: Arc<[Vec<u8>; 2]>,
    pub healed: CancellationToken,
}

/// One link after the other, as long as each comes to its end by itself.
pub async fn client(kind: Kind, number: u64, mut rng: ChaCha8Rng) {
    while !kind.healed.is_cancelled() {
        link(&kind, number, &mut rng).await;
    }
}

/// Every tenth says something large, too.
async fn link(kind: &Kind, number: u64, rng: &mut ChaCha8Rng) {
    let Kind { wire, address, large, healed } = kind;
    let said = words::requests(*wire, number, rng);
    let Ok(stream) = TcpStream::connect(*address).await else { return };
    let (mut reads, mut writes) = stream.into_split();
    let mut hearing = tokio::spawn(async move {
        let mut room = vec![0; 16 * 1024];
        while matches!(reads.read(&mut room).await, Ok(1..)) {}
        reads
    });
    // Who is held, or talks to nobody, would write for ever.
    let all = async {
        say(&said, rng, &mut writes).await?;
        match number % 20 {
            0 => say(&large[0], rng, &mut writes).await,
            10 => say(&large[1], rng, &mut writes).await,
            _ => Ok(()),
        }
    };
    tokio::select! {
        _ = all => {}
        () = healed.cancelled() => {}
    }
    match number % 4 {
        // At once, in the middle of what it is told.
        0 => hearing.abort(),
        1 => drop(writes.shutdown().await),
        _ => healed.cancelled().await,
    }
    // What is still on its way is heard; who waits for an end of the other side's leaves.
    drop(writes);
    if tokio::time::timeout(Duration::from_secs(1), &mut hearing).await.is_err() {
        hearing.abort();
    }
}

async fn say(
    said: &[u8],
    rng: &mut impl Rng,
    writes: &mut (impl AsyncWriteExt + Unpin),
) -> std::io::Result<()> {
    let mut rest = said;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(words::piece(rng).min(rest.len()));
        writes.write_all(piece).await?;
        rest = behind;
        if rng.random_bool(0.1) {
            tokio::task::yield_now().await;
        }
    }
    Ok(())
}
