//! The last bytes leave: one plain synchronous loop, key by key, one byte each.
//!
//! No runtime stands between two bytes of a key: 4,000 tasks behind a barrier spread a key over
//! tens of milliseconds, this loop over a tenth of one. `MSG_DONTWAIT` on a socket with room never
//! waits; should one have no room, it is tried again after all others.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use tokio_util::sync::CancellationToken;

use crate::history::InstanceId;
use crate::load::error::LoadError;
use crate::load::http::Held;
use crate::load::witness::Leaving;

/// How long a full socket is waited for, after the others have left.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long a pacing thread sleeps before it looks whether it should stop.
const LONGEST_SLEEP: Duration = Duration::from_millis(20);

/// One attempt, ready to leave.
#[derive(Debug)]
pub(super) struct Trigger {
    /// Place of the attempt in the plan.
    pub place: usize,
    /// What it contends for.
    pub key: u32,
    /// Place of its instance.
    pub target: usize,
    pub who: Leaving,
    pub held: Held,
}

/// What became of a volley.
#[derive(Debug)]
pub(super) struct Fired {
    /// The moment of each trigger's byte; `None`, or nothing, where the kernel didn't take it.
    pub left: Vec<Option<Instant>>,
    /// Frozen release: when each instance went on.
    pub resumes: Vec<(InstanceId, Instant)>,
    /// Why this wasn't the release that was planned.
    pub trouble: Option<LoadError>,
}

impl Fired {
    /// Not one byte left.
    pub const fn nothing(trouble: LoadError) -> Self {
        Self { left: Vec::new(), resumes: Vec::new(), trouble: Some(trouble) }
    }
}

/// Runs the loop on a thread that may block.
pub(super) async fn fire(triggers: Arc<[Trigger]>) -> Fired {
    match tokio::task::spawn_blocking(move || let_go(&triggers)).await {
        Ok(left) => Fired { left, resumes: Vec::new(), trouble: None },
        Err(error) => Fired::nothing(LoadError::Release { reason: error.to_string() }),
    }
}

/// Sends all held bytes in the order given; the moment just before each, or `None` where the kernel
/// didn't take it. Just before, because a thread that is preempted behind a send would call the
/// attempt released later than its reply was read. Blocks the thread for as long as it takes.
pub(super) fn let_go(triggers: &[Trigger]) -> Vec<Option<Instant>> {
    let mut left = vec![None; triggers.len()];
    let mut full = Vec::new();
    for (place, trigger) in triggers.iter().enumerate() {
        let now = Instant::now();
        match send_byte(&trigger.held) {
            Ok(()) => left[place] = Some(now),
            Err(Errno::AGAIN) => full.push(place),
            Err(_) => {}
        }
    }
    let give_up = Instant::now() + PATIENCE;
    for place in full {
        left[place] = send_late(&triggers[place].held, give_up);
    }
    left
}

/// Sends each held byte at its moment, on a thread that may block, and hands over the moment just
/// before it left; `None` where the kernel didn't take it. Ends early when `stop` says so. Moments
/// count from when the thread runs: a start that was late would push the first bytes together.
pub(super) async fn pace(
    triggers: Vec<(Duration, Trigger)>,
    stop: CancellationToken,
    mut tell: impl FnMut(&Trigger, Option<Instant>) + Send + 'static,
) -> Result<(), LoadError> {
    let pacing = tokio::task::spawn_blocking(move || {
        let begin = Instant::now();
        for (due, trigger) in triggers {
            if !sleep_until(begin + due, &stop) {
                return;
            }
            let now = Instant::now();
            let left = match send_byte(&trigger.held) {
                Ok(()) => Some(now),
                Err(Errno::AGAIN) => send_late(&trigger.held, now + PATIENCE),
                Err(_) => None,
            };
            tell(&trigger, left);
        }
    });
    pacing.await.map_err(|error| LoadError::Release { reason: error.to_string() })
}

/// Sleeps on the thread, since a runtime's timer is a millisecond coarse; false when stopped.
pub(in crate::load) fn sleep_until(due: Instant, stop: &CancellationToken) -> bool {
    while !stop.is_cancelled() {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(LONGEST_SLEEP));
    }
    false
}

fn send_byte(held: &Held) -> Result<(), Errno> {
    send(&held.tcp, &[held.byte], SendFlags::DONTWAIT | SendFlags::NOSIGNAL).map(|_| ())
}

fn send_late(held: &Held, give_up: Instant) -> Option<Instant> {
    let left = give_up.saturating_duration_since(Instant::now());
    let left = Timespec::try_from(left).expect("a second fits");
    let mut socket = [PollFd::new(&held.tcp, PollFlags::OUT)];
    match poll(&mut socket, Some(&left)) {
        Ok(ready) if ready > 0 => {
            let now = Instant::now();
            send_byte(held).ok().map(|()| now)
        }
        _ => None,
    }
}
