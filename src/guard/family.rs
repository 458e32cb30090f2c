//! A process with all that came of it.
//!
//! The parent's pid leads from a process to its children, but not to one whose parent has ended
//! (`npm start` that was killed, a service that put itself into the background). So the launcher
//! leaves a mark in the environment before it becomes the program, and children inherit it. The
//! mark is pid and start time of the root: no other process ever has both. A child that clears its
//! environment and outlives its parent is lost to this.

use std::collections::HashSet;
use std::fs;

use super::process::{self, ProcessId, State};

/// Name of the variable.
pub(super) const MARK: &str = "DUPEPROOF_ROOT";

/// Its value in a process that came of `root`.
pub(super) fn mark(root: ProcessId) -> String {
    format!("{}:{}", root.pid, root.start_time)
}

/// The root and everything that came of it and has not ended, parents before their children. Works
/// for a root that has ended, too.
pub fn family(root: ProcessId) -> Vec<ProcessId> {
    let everyone = process::all().unwrap_or_default();
    let mut found: Vec<ProcessId> = Vec::new();
    let mut pids: HashSet<u32> = HashSet::new();
    loop {
        let news: Vec<ProcessId> = everyone
            .iter()
            .filter(|(id, stat)| stat.state != State::Zombie && !pids.contains(&id.pid))
            .filter(|(id, stat)| {
                *id == root || pids.contains(&stat.parent) || is_marked(*id, &[root])
            })
            .map(|(id, _)| *id)
            .collect();
        if news.is_empty() {
            return found;
        }
        pids.extend(news.iter().map(|id| id.pid));
        found.extend(news);
    }
}

/// Whether it carries the mark of one of these. Nobody older than its root can, and what may not be
/// read counts as no.
pub(super) fn is_marked(id: ProcessId, roots: &[ProcessId]) -> bool {
    if roots.iter().all(|root| id.start_time < root.start_time) {
        return false;
    }
    let environment = fs::read(format!("/proc/{}/environ", id.pid)).unwrap_or_default();
    let value = environment.split(|byte| *byte == 0).find_map(|variable| {
        variable.strip_prefix(MARK.as_bytes()).and_then(|rest| rest.strip_prefix(b"="))
    });
    value.is_some_and(|value| roots.iter().any(|root| mark(*root).as_bytes() == value))
}
