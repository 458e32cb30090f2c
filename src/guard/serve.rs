//! `dupeproof guard`: reads the journal from stdin until its writers are dead, then undoes.
//!
//! It outlives what kills its owner: a session of its own, INT, TERM, HUP and QUIT without effect,
//! no folder held busy. It answers one line, so that its owner knows it is out of harm's way.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::ending;
use super::error::GuardError;
use super::journal::Line;
use super::process::{ProcessId, Signal as Sent};

/// What the guard says once it can't be ended with its owner any more.
pub(super) const GREETING: &str = "dupeproof guard 1";

/// What would have to be undone if the journal ended here.
#[derive(Debug, Default, PartialEq, Eq)]
struct Owed {
    folders: Vec<PathBuf>,
    processes: Vec<ProcessId>,
    paused: Vec<ProcessId>,
    is_done: bool,
}

/// The whole life of the guard. Blocks until the journal is closed.
///
/// # Errors
/// When it can't detach itself, or when something couldn't be undone.
pub fn serve() -> Result<(), GuardError> {
    // Fails only for a group leader, which has been detached by whoever started it.
    let _ = rustix::process::setsid();
    prepare("change to the root folder", std::env::set_current_dir("/"))?;
    let _deaf = prepare("take over the signals that end it", ignore_signals())?;
    let mut stdout = io::stdout();
    let greeted = writeln!(stdout, "{GREETING}").and_then(|()| stdout.flush());
    prepare("answer its owner", greeted)?;

    let mut owed = Owed::default();
    for line in io::stdin().lock().split(b'\n').map_while(Result::ok) {
        if let Some(line) = Line::parse(&line) {
            owed.note(line);
        }
        if owed.is_done {
            return Ok(());
        }
    }
    owed.undo()
}

impl Owed {
    fn note(&mut self, line: Line) {
        match line {
            Line::Dir(path) => self.folders.push(path),
            Line::DirGone(path) => self.folders.retain(|known| *known != path),
            Line::Pid(process, _) => self.processes.push(process),
            Line::Gone(process) => self.processes.retain(|known| *known != process),
            Line::Paused(process) => self.paused.push(process),
            Line::Resumed(process) => self.paused.retain(|known| *known != process),
            Line::Done => self.is_done = true,
        }
    }

    /// Strangers first: they wait for nothing but a signal.
    fn undo(&self) -> Result<(), GuardError> {
        for stranger in self.paused.iter().filter(|paused| !self.processes.contains(paused)) {
            // One that has ended meanwhile needs nothing.
            let _ = stranger.open().and_then(|process| process.signal(Sent::Continue));
        }
        ending::end(&self.processes, &self.folders)
    }
}

fn prepare<T>(act: &'static str, done: io::Result<T>) -> Result<T, GuardError> {
    done.map_err(|source| GuardError::Prepare { act, source })
}

/// A handler that nobody listens to is the safe way to ignore a signal. SIGPIPE is ignored by
/// Rust's start-up already.
fn ignore_signals() -> io::Result<(Runtime, Vec<Signal>)> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let kinds = [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
        SignalKind::quit(),
    ];
    let entered = runtime.enter();
    let handlers = kinds.into_iter().map(signal).collect::<io::Result<_>>()?;
    drop(entered);
    Ok((runtime, handlers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::Kind;

    #[test]
    fn only_what_was_not_undone_is_owed() {
        let [lab, shop, target] = [1, 2, 3].map(|pid| ProcessId { pid, start_time: 7 });
        let mut owed = Owed::default();
        for line in [
            Line::Dir("/tmp/a".into()),
            Line::Dir("/tmp/b".into()),
            Line::Pid(lab, Kind::Postgres),
            Line::Pid(shop, Kind::Shop),
            Line::Paused(shop),
            Line::Paused(target),
            Line::Resumed(shop),
            Line::Gone(shop),
            Line::DirGone("/tmp/a".into()),
        ] {
            owed.note(line);
        }
        let expected = Owed {
            folders: vec!["/tmp/b".into()],
            processes: vec![lab],
            paused: vec![target],
            is_done: false,
        };
        assert_eq!(owed, expected);
    }
}
