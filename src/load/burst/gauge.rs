//! What 20 one-byte sends cost on this machine right now: the floor of a key's spread.
//!
//! They go to a sink of our own on loopback through the very loop that releases the burst, just
//! before it, and each over a connection that hasn't carried anything yet: a warm one costs half.
//! TLS makes no difference: there too, one raw byte an attempt is what leaves.

use std::net::Ipv4Addr;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};

use crate::history::{AttemptId, InstanceId, IntentId};
use crate::load::error::LoadError;
use crate::load::http::Held;
use crate::load::witness::Leaving;

use super::volley::{Trigger, let_go};

const SENDS: usize = 20;

/// Rounds, of which the median counts, since any one may be preempted.
const ROUNDS: usize = 11;

/// Measures 20 sends, in microseconds.
pub(super) async fn twenty_sends_us() -> Result<u64, LoadError> {
    let failed = |source| LoadError::Gauge { source };
    let sink = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
    let address = sink.local_addr().map_err(failed)?;
    let mut far_ends = Vec::with_capacity(SENDS * ROUNDS);
    let mut triggers = Vec::with_capacity(SENDS * ROUNDS);
    for place in 0..SENDS * ROUNDS {
        let tcp = TcpStream::connect(address).await.map_err(failed)?;
        tcp.set_nodelay(true).map_err(failed)?;
        far_ends.push(sink.accept().await.map_err(failed)?);
        let held = Held { tcp: Arc::new(tcp), byte: 0 };
        let who = Leaving { attempt: AttemptId(0), intent: IntentId(0), instance: InstanceId(0) };
        triggers.push(Trigger { place, key: 0, target: 0, who, held });
    }
    let measuring = tokio::task::spawn_blocking(move || {
        let mut costs: Vec<_> = triggers
            .chunks(SENDS)
            .map(|round| {
                let start = std::time::Instant::now();
                let_go(round);
                start.elapsed().as_micros() as u64
            })
            .collect();
        costs.sort_unstable();
        costs[ROUNDS / 2]
    });
    let cost = measuring.await.map_err(|error| failed(std::io::Error::other(error)))?;
    drop(far_ends);
    Ok(cost)
}
