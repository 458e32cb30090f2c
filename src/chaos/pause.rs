//! Pauses a process with SIGSTOP and lets it run again with SIGCONT.
//!
//! SIGSTOP reaches all threads of one process; a target made of several processes is paused one by
//! one. Stopping is not done when the signal is sent, so the state is read back both ways.
//!
//! Several processes are resumed by several threads that meet on their cores first. One thread that
//! sends the signals in a row is thrown off its core by the first process that wakes up, and the last
//! one goes on milliseconds later: then requests that should meet at different instances don't.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::guard::{GuardError, Journal, Line, Process, ProcessId, Signal, State};

use super::error::ChaosError;

/// How long a sender waits for the others; beyond that the cores are busy with something else.
const MEETING_LIMIT: Duration = Duration::from_millis(500);
const READ_BACK_LIMIT: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_micros(500);

/// A process that is stopped. Dropping it lets the process run again.
#[derive(Debug)]
pub struct Paused {
    process: Process,
    journal: Journal,
    is_resumed: bool,
}

/// A process that runs again, and the instant just before its SIGCONT: nothing that it does
/// afterwards can be older.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resumed {
    pub process: ProcessId,
    pub sent: Instant,
}

/// Stops a process and waits until it stands still.
///
/// # Errors
/// When it is gone or another process has its pid, when it may not be signalled, when the guard
/// can't be told, or when it doesn't stop. It runs (on) then.
pub async fn pause(process: &ProcessId, journal: &Journal) -> Result<Paused, ChaosError> {
    let act = |source| ChaosError::Act { act: "pause", process: *process, source };
    let held = process.open().map_err(act)?;
    journal.write(&Line::Paused(*process)).map_err(act)?;
    // From here on a drop sends SIGCONT, which a running process doesn't notice.
    let paused = Paused { process: held, journal: journal.clone(), is_resumed: false };
    paused.process.signal(Signal::Stop).map_err(act)?;
    if reaches(*process, State::Stopped).await.map_err(act)? {
        return Ok(paused);
    }
    Err(ChaosError::StillRuns { process: *process, limit: READ_BACK_LIMIT })
}

/// Sends the SIGCONTs of all families in one instant, at once when first polled, then reads back; those
/// of one family go out in its order. What became of each, in their order: one that has ended meanwhile
/// doesn't keep the others from being told.
pub async fn resume_all(families: Vec<Vec<Paused>>) -> Vec<Result<Resumed, ChaosError>> {
    let sent = continue_together(&families);
    let mut paused: Vec<Paused> = families.into_iter().flatten().collect();
    let mut resumed = Vec::with_capacity(paused.len());
    for (one, (signalled, sent)) in paused.iter_mut().zip(sent) {
        resumed.push(one.note_resumed(signalled, sent));
    }
    for one in &mut resumed {
        if let Ok(Resumed { process, .. }) = *one
            && let Err(error) = read_back(process).await
        {
            *one = Err(error);
        }
    }
    resumed
}

type Signalled = (Result<(), GuardError>, Instant);

/// One thread to a core; all spin until the last one is there, then each begins with a family of its
/// own. Whoever is done goes on with what the others haven't begun, since they may have lost their
/// core meanwhile.
fn continue_together(families: &[Vec<Paused>]) -> Vec<Signalled> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let senders = cores.min(families.len());
    let missing = AtomicUsize::new(senders);
    let is_taken: Vec<AtomicBool> = families.iter().map(|_| AtomicBool::new(false)).collect();
    let send = |one: &Paused| {
        let before = Instant::now();
        (one.process.signal(Signal::Continue), before)
    };
    let send_from = |first: usize| {
        meet(&missing);
        let places = (first..families.len()).chain(0..first);
        let free = places.filter(|&place| !is_taken[place].swap(true, Ordering::AcqRel));
        free.map(|place| (place, families[place].iter().map(send).collect())).collect()
    };
    let mut sent: Vec<(usize, Vec<Signalled>)> = std::thread::scope(|scope| {
        let send_from = &send_from;
        let firsts = (0..senders).map(|sender| sender * families.len() / senders);
        let all: Vec<_> = firsts.map(|first| scope.spawn(move || send_from(first))).collect();
        let joined = all.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined
            .flat_map(|sent: std::thread::Result<Vec<_>>| {
                sent.unwrap_or_else(|panic| resume_unwind(panic))
            })
            .collect()
    });
    sent.sort_unstable_by_key(|(place, _)| *place);
    sent.into_iter().flat_map(|(_, family)| family).collect()
}

/// Waits for the others without giving up the core.
fn meet(missing: &AtomicUsize) {
    missing.fetch_sub(1, Ordering::AcqRel);
    let deadline = Instant::now() + MEETING_LIMIT;
    while missing.load(Ordering::Acquire) > 0 && Instant::now() < deadline {
        std::hint::spin_loop();
    }
}

async fn read_back(process: ProcessId) -> Result<(), ChaosError> {
    let act = |source| ChaosError::Act { act: "resume", process, source };
    match reaches(process, State::Live).await.map_err(act)? {
        true => Ok(()),
        false => Err(ChaosError::StillStopped { process, limit: READ_BACK_LIMIT }),
    }
}

impl Paused {
    pub fn id(&self) -> ProcessId {
        self.process.id()
    }

    /// Lets it run again, and reads that back.
    ///
    /// # Errors
    /// When it has ended meanwhile, or doesn't run.
    pub async fn resume(self) -> Result<Resumed, ChaosError> {
        resume_all(vec![vec![self]]).await.pop().expect("one was given, so one comes back")
    }

    fn note_resumed(
        &mut self,
        signalled: Result<(), GuardError>,
        sent: Instant,
    ) -> Result<Resumed, ChaosError> {
        let process = self.process.id();
        let act = |source| ChaosError::Act { act: "resume", process, source };
        signalled.map_err(act)?;
        self.is_resumed = true;
        self.journal.write(&Line::Resumed(process)).map_err(act)?;
        Ok(Resumed { process, sent })
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        if !self.is_resumed {
            // It has ended, or the guard has its line still and resumes it at the end.
            let _ = self.process.signal(Signal::Continue);
            let _ = self.journal.write(&Line::Resumed(self.process.id()));
        }
    }
}

/// Reads back until the process is in this state; false when the limit passes before.
async fn reaches(process: ProcessId, wanted: State) -> Result<bool, GuardError> {
    let deadline = Instant::now() + READ_BACK_LIMIT;
    loop {
        match process.stat().map(|stat| stat.state) {
            None | Some(State::Zombie) => return Err(GuardError::Ended(process)),
            Some(state) if state == wanted => return Ok(true),
            Some(_) if Instant::now() >= deadline => return Ok(false),
            Some(_) => tokio::time::sleep(LOOK_AGAIN).await,
        }
    }
}
