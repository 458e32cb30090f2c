//! Which process is meant, and how it is doing, from /proc.
//!
//! A pid alone names nobody: it is used again. A process is its pid and its start time, and a
//! signal goes through a pidfd that was checked against both, so that it can't reach a stranger.
//! Source of the fields: proc_pid_stat(5).

use std::fmt;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::str::FromStr;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags};

use super::error::GuardError;

/// A process, once and for all: its pid, and its start in clock ticks since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId {
    pub pid: u32,
    pub start_time: u64,
}

/// What /proc/PID/stat says, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    pub state: State,
    pub parent: u32,
    pub threads: u32,
    pub start_time: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Running, sleeping or waiting for a disk.
    Live,
    /// Stopped by a signal or a debugger.
    Stopped,
    /// Ended, and not yet reaped by its parent.
    Zombie,
}

/// The three signals this program sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    Stop,
    Continue,
    Kill,
}

/// A process held by a pidfd: signals can't go astray. Where the kernel has no pidfd (before
/// 5.3, some sandboxes) the identity is checked again right before each signal.
#[derive(Debug)]
pub struct Process {
    id: ProcessId,
    pidfd: Option<OwnedFd>,
}

impl ProcessId {
    /// The process that has this pid now; `None` when there is none.
    pub fn of(pid: u32) -> Option<Self> {
        let start_time = read_stat(pid)?.start_time;
        Some(Self { pid, start_time })
    }

    /// How it is doing; `None` when it is gone, also when another process has its pid by now.
    pub fn stat(self) -> Option<Stat> {
        read_stat(self.pid).filter(|stat| stat.start_time == self.start_time)
    }

    /// Gone, or a zombie whose last thread is gone: then its sockets and memory are free.
    pub fn has_ended(self) -> bool {
        self.stat().is_none_or(|stat| stat.state == State::Zombie && stat.threads <= 1)
    }

    /// Takes hold of the process.
    ///
    /// # Errors
    /// [`GuardError::Ended`] when it is gone.
    pub fn open(self) -> Result<Process, GuardError> {
        let pid =
            i32::try_from(self.pid).ok().and_then(Pid::from_raw).ok_or(GuardError::Ended(self))?;
        let pidfd = match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => Some(pidfd),
            Err(Errno::SRCH) => return Err(GuardError::Ended(self)),
            Err(_) => None,
        };
        // The pidfd is open, so what stat says now is said of the process it holds.
        self.stat().ok_or(GuardError::Ended(self))?;
        Ok(Process { id: self, pidfd })
    }
}

impl Process {
    pub fn id(&self) -> ProcessId {
        self.id
    }

    /// # Errors
    /// [`GuardError::Ended`] when it is gone, [`GuardError::Signal`] when it may not be signalled.
    pub fn signal(&self, signal: Signal) -> Result<(), GuardError> {
        let number = signal.number();
        let sent = match &self.pidfd {
            Some(pidfd) => rustix::process::pidfd_send_signal(pidfd, number),
            None => self.signal_by_pid(number),
        };
        sent.map_err(|errno| match errno {
            Errno::SRCH => GuardError::Ended(self.id),
            errno => GuardError::Signal { signal, process: self.id, source: errno.into() },
        })
    }

    fn signal_by_pid(&self, number: rustix::process::Signal) -> Result<(), Errno> {
        self.id.stat().ok_or(Errno::SRCH)?;
        let pid = i32::try_from(self.id.pid).ok().and_then(Pid::from_raw);
        rustix::process::kill_process(pid.ok_or(Errno::SRCH)?, number)
    }
}

impl Signal {
    fn number(self) -> rustix::process::Signal {
        match self {
            Self::Stop => rustix::process::Signal::STOP,
            Self::Continue => rustix::process::Signal::CONT,
            Self::Kill => rustix::process::Signal::KILL,
        }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stop => "SIGSTOP",
            Self::Continue => "SIGCONT",
            Self::Kill => "SIGKILL",
        })
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (started at tick {})", self.pid, self.start_time)
    }
}

/// Every process there is now, with its stat. Those that end meanwhile are left out.
pub(super) fn all() -> io::Result<Vec<(ProcessId, Stat)>> {
    let names =
        fs::read_dir("/proc")?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names
        .filter_map(|name| {
            let pid = name.parse().ok()?;
            let stat = read_stat(pid)?;
            let start_time = stat.start_time;
            Some((ProcessId { pid, start_time }, stat))
        })
        .collect())
}

/// The name of its program, cut to 15 bytes by the kernel; everybody may read it.
pub(super) fn name(pid: u32) -> Option<String> {
    let name = fs::read(format!("/proc/{pid}/comm")).ok()?;
    Some(String::from_utf8_lossy(&name).trim_end().to_owned())
}

fn read_stat(pid: u32) -> Option<Stat> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&String::from_utf8_lossy(&text))
}

/// The name in parentheses may hold spaces and parentheses, so the fields count from the last one.
fn parse_stat(text: &str) -> Option<Stat> {
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let state = match *fields.first()? {
        "T" | "t" => State::Stopped,
        "Z" | "X" | "x" => State::Zombie,
        _ => State::Live,
    };
    Some(Stat {
        state,
        parent: number(&fields, 1)?,
        threads: number(&fields, 17)?,
        start_time: number(&fields, 19)?,
    })
}

fn number<N: FromStr>(fields: &[&str], index: usize) -> Option<N> {
    fields.get(index)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_does_not_shift_the_fields() {
        let line = "42 (a) b (c) T 7 42 42 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 3 0 8811 9 9";
        let stat = parse_stat(line).unwrap();
        assert_eq!(stat.state, State::Stopped);
        assert_eq!((stat.parent, stat.threads, stat.start_time), (7, 3, 8811));
    }

    #[test]
    fn another_start_time_is_another_process() {
        let own = ProcessId::of(std::process::id()).unwrap();
        let stranger = ProcessId { start_time: own.start_time + 1, ..own };
        assert!(!own.has_ended());
        assert!(stranger.has_ended());
        assert!(matches!(stranger.open(), Err(GuardError::Ended(_))));
    }
}
