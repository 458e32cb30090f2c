//! Ends processes, with their children, their kernel leftovers and their folders.
//!
//! The order is the point. A killed postmaster leaves busy back-ends behind, each in a session of
//! its own, and little but the parent's pid leads to them (`family` has what else does). So everything is stopped first (what
//! is stopped can't fork), then its children are looked up until no new ones are found, then the
//! ids of shared memory are read while they can be, and only then all of it is killed.
//!
//! Both the guard and an orderly stop of the lab end things through this one routine. It blocks.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::error::GuardError;
use super::family;
use super::peek;
use super::process::{self, Process, ProcessId, Signal, Stat, State};
use super::shared_memory::SharedMemory;

/// Stopping takes well below a millisecond; only a parent in vfork, whose child was stopped, makes
/// this wait run out, and that one can't fork either.
const STOP_LIMIT: Duration = Duration::from_millis(150);
const END_LIMIT: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// Ends `processes` and all their children, removes their shared memory, then `folders`.
///
/// A PostgreSQL back-end whose postmaster is dead already is found by its working directory,
/// which lies in one of the folders. What is gone already is fine.
///
/// # Errors
/// [`GuardError::Left`] names what is still there after a limit.
pub fn end(processes: &[ProcessId], folders: &[PathBuf]) -> Result<(), GuardError> {
    let stopped = stop_family(processes, folders);
    let memory = SharedMemory::of(&stopped, folders);
    for process in &stopped {
        // One that has ended meanwhile is what was wanted; any other shows in what is left.
        let _ = process.signal(Signal::Kill);
    }
    let deadline = Instant::now() + END_LIMIT;
    wait_until(deadline, || stopped.iter().all(|process| process.id().has_ended()));
    wait_until(deadline, || memory.remove());
    wait_until(deadline, || folders.iter().all(|folder| remove_folder(folder).is_ok()));

    let alive = stopped.iter().filter(|process| !process.id().has_ended());
    let mut left: Vec<String> = alive.map(|process| format!("process {}", process.id())).collect();
    left.extend(memory.left());
    left.extend(
        folders.iter().filter(|folder| folder.exists()).map(|folder| folder.display().to_string()),
    );
    if left.is_empty() {
        return Ok(());
    }
    Err(GuardError::Left { left, limit: END_LIMIT })
}

/// Stops the roots and their descendants; done when two looks in a row find nobody new.
fn stop_family(roots: &[ProcessId], folders: &[PathBuf]) -> Vec<Process> {
    let deadline = Instant::now() + STOP_LIMIT;
    let mut stopped: Vec<Process> = roots.iter().filter_map(|root| stop(*root)).collect();
    let mut known: HashSet<u32> = stopped.iter().map(|process| process.id().pid).collect();
    let mut looks_without_news = 0;
    while looks_without_news < 2 {
        wait_until(deadline, || stopped.iter().all(is_still));
        let found = relatives(roots, &known, folders).into_iter();
        let found: Vec<Process> = found.filter_map(stop).collect();
        looks_without_news = if found.is_empty() { looks_without_news + 1 } else { 0 };
        known.extend(found.iter().map(|process| process.id().pid));
        stopped.extend(found);
    }
    stopped
}

/// Takes hold of a process that has not ended, and stops it.
fn stop(id: ProcessId) -> Option<Process> {
    if id.has_ended() {
        return None;
    }
    let process = id.open().ok()?;
    // When it can't be stopped it is killed all the same, and what is left is reported.
    let _ = process.signal(Signal::Stop);
    Some(process)
}

fn is_still(process: &Process) -> bool {
    process.id().stat().is_none_or(|stat| stat.state != State::Live)
}

fn relatives(roots: &[ProcessId], known: &HashSet<u32>, folders: &[PathBuf]) -> Vec<ProcessId> {
    let everyone = process::all().unwrap_or_default();
    let ours = everyone.into_iter().filter(|(id, stat)| {
        stat.state != State::Zombie
            && !known.contains(&id.pid)
            && (known.contains(&stat.parent)
                || family::is_marked(*id, roots)
                || is_orphan_of(folders, *id, *stat))
    });
    ours.map(|(id, _)| id).collect()
}

/// A back-end works in its cluster's data folder. Its name is asked as well, so that a shell in
/// which somebody looks around there stays alive; and an orphan's parent is no postmaster, which
/// spares a look into all other people's back-ends.
fn is_orphan_of(folders: &[PathBuf], id: ProcessId, stat: Stat) -> bool {
    let is_postgres = |pid| process::name(pid).is_some_and(|name| name == "postgres");
    let is_inside = |cwd: PathBuf| folders.iter().any(|folder| cwd.starts_with(folder));
    is_postgres(id.pid) && !is_postgres(stat.parent) && peek::cwd(id.pid).is_ok_and(is_inside)
}

fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn wait_until(deadline: Instant, mut is_so: impl FnMut() -> bool) {
    while !is_so() && Instant::now() < deadline {
        thread::sleep(LOOK_AGAIN);
    }
}
