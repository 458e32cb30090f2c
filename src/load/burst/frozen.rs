//! A release into a frozen target: it is stopped, its socket buffers are loaded, it is resumed.
//!
//! The whole act is a task of its own that nobody aborts: once the target may be frozen, the act
//! runs to its end, which is bounded, and resumes the target, whatever becomes of the burst.

use std::collections::HashSet;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::history::InstanceId;
use crate::load::error::LoadError;
use crate::load::tasks::joined;

use super::volley::{self, Fired, Trigger};

/// A future of a [`Freezer`].
pub type Freezing<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// Whoever can stop the target and let it go on. Failures are told in words.
pub trait Freezer: Send + Sync + std::fmt::Debug {
    /// Stops every instance, and comes back when all are seen to be stopped.
    fn freeze(&self) -> Freezing<'_, ()>;

    /// Resumes every instance, also after a freeze that failed half-way. The moments are those just
    /// before each went on: no reply may be older than its release.
    fn thaw(&self) -> Freezing<'_, Vec<(InstanceId, Instant)>>;
}

/// How long the kernel may take to deliver what was sent.
const DELIVERY_LIMIT: Duration = Duration::from_secs(2);
const DELIVERY_POLL: Duration = Duration::from_millis(2);

/// Freezes, sends, waits for the delivery, resumes.
pub(super) async fn fire(freezer: Arc<dyn Freezer>, triggers: Arc<[Trigger]>) -> Fired {
    let act = tokio::spawn(async move {
        let mut fired = match freeze(Arc::clone(&freezer)).await {
            Ok(()) => volley::fire(Arc::clone(&triggers)).await,
            Err(reason) => Fired::nothing(LoadError::Freeze { reason }),
        };
        if fired.trouble.is_none() {
            deliver(&triggers).await;
        }
        match freezer.thaw().await {
            Ok(resumes) => fired.resumes = resumes,
            Err(reason) => fired.trouble = Some(LoadError::Thaw { reason }),
        }
        fired
    });
    joined(act.await).unwrap_or_else(|| {
        let reason = "the runtime is shutting down".to_owned();
        Fired::nothing(LoadError::Release { reason })
    })
}

/// Freezes in a task of its own, so that a freeze which panics half-way is undone as well.
async fn freeze(freezer: Arc<dyn Freezer>) -> Result<(), String> {
    let freezing = tokio::spawn(async move { freezer.freeze().await });
    freezing.await.unwrap_or_else(|error| Err(error.to_string()))
}

/// Waits until the kernel has handed over what was sent, or for long enough.
async fn deliver(triggers: &[Trigger]) {
    let ours = triggers.iter().filter_map(|trigger| ports(&trigger.held.tcp)).collect();
    let limit = Instant::now() + DELIVERY_LIMIT;
    while has_undelivered(&ours) && Instant::now() < limit {
        tokio::time::sleep(DELIVERY_POLL).await;
    }
}

/// The two ports of a connection over loopback; other peers' buffers say nothing about the target.
fn ports(tcp: &tokio::net::TcpStream) -> Option<(u16, u16)> {
    let (local, peer) = (tcp.local_addr().ok()?, tcp.peer_addr().ok()?);
    let is_loopback = match peer {
        SocketAddr::V4(peer) => peer.ip().is_loopback(),
        SocketAddr::V6(peer) => peer.ip().to_canonical().is_loopback(),
    };
    is_loopback.then_some((local.port(), peer.port()))
}

/// Whether the kernel still holds bytes of these connections for sending (proc_net_tcp(5)). A table
/// that can't be read holds none.
fn has_undelivered(ours: &HashSet<(u16, u16)>) -> bool {
    if ours.is_empty() {
        return false;
    }
    ["/proc/net/tcp", "/proc/net/tcp6"].iter().any(|table| {
        std::fs::read_to_string(table)
            .is_ok_and(|rows| rows.lines().skip(1).any(|row| is_undelivered(row, ours)))
    })
}

fn is_undelivered(row: &str, ours: &HashSet<(u16, u16)>) -> bool {
    let mut columns = row.split_ascii_whitespace().skip(1);
    let mut port = || {
        let address = columns.next()?;
        u16::from_str_radix(address.rsplit_once(':')?.1, 16).ok()
    };
    let (Some(local), Some(peer)) = (port(), port()) else { return false };
    let queued = columns.nth(1).and_then(|queues| queues.split(':').next());
    ours.contains(&(local, peer)) && queued.is_some_and(|queued| queued.bytes().any(|b| b != b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_with_a_send_queue_of_ours_is_undelivered() {
        let ours = HashSet::from([(0xd431, 0x1f90)]);
        let row = |queue: &str| {
            format!("   7: 0100007F:D431 0100007F:1F90 01 {queue}:00000000 01:00000014 00000000")
        };
        assert!(is_undelivered(&row("00000001"), &ours));
        assert!(!is_undelivered(&row("00000000"), &ours));
        assert!(!is_undelivered(&row("00000001"), &HashSet::from([(1, 2)])));
        assert!(!is_undelivered("  sl  local_address rem_address", &ours));
    }
}
