//! The journal of what must be undone: its lines, and the end of the pipe that writes them.
//!
//! One act is one line of at most [`LINE_LIMIT`] bytes, because the kernel writes those in one
//! piece: the owner and each child on its way to becoming a server share the pipe without a lock.
//! The pipe doesn't block: a guard that doesn't read is an error, never a hang.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::GuardError;
use super::process::ProcessId;

/// PIPE_BUF of Linux, see pipe(7): writes up to this size are atomic.
const LINE_LIMIT: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A folder is about to be made: remove it.
    Dir(PathBuf),
    /// That folder is removed.
    DirGone(PathBuf),
    /// A process of ours: end it, with its children.
    Pid(ProcessId, Kind),
    /// That process has been reaped.
    Gone(ProcessId),
    /// A process is about to be stopped: let it run again.
    Paused(ProcessId),
    /// That process runs again.
    Resumed(ProcessId),
    /// Nothing is left to undo.
    Done,
}

/// What a process of ours is, for those who read the journal or an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Initdb,
    Postgres,
    Redis,
    Shop,
    Payments,
    /// A command of the user's.
    Target,
}

/// The writing end. Clones write to the same guard; the guard acts when the last one is closed.
#[derive(Debug, Clone)]
pub struct Journal {
    pipe: Arc<File>,
}

impl Journal {
    pub(super) fn new(pipe: OwnedFd) -> Self {
        Self { pipe: Arc::new(File::from(pipe)) }
    }

    /// Writes one line; call it before the act it announces.
    ///
    /// # Errors
    /// When the guard has ended or doesn't read: then the act must not be done.
    pub fn write(&self, line: &Line) -> Result<(), GuardError> {
        let bytes = line.to_bytes()?;
        (&*self.pipe)
            .write_all(&bytes)
            .map_err(|source| GuardError::Journal { line: line.to_string(), source })
    }

    /// A further writing end for a child; the guard sees no end of file while it is open.
    pub(super) fn another_end(&self) -> io::Result<OwnedFd> {
        Ok(self.pipe.try_clone()?.into())
    }
}

impl Line {
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, GuardError> {
        let mut bytes = self.word().as_bytes().to_vec();
        match self {
            Self::Dir(path) | Self::DirGone(path) => {
                bytes.push(b' ');
                bytes.extend_from_slice(path.as_os_str().as_bytes());
                if path.as_os_str().as_bytes().contains(&b'\n') || bytes.len() >= LINE_LIMIT {
                    return Err(GuardError::Path { path: path.clone() });
                }
            }
            Self::Pid(process, kind) => {
                let ProcessId { pid, start_time } = process;
                bytes.extend_from_slice(format!(" {pid} {start_time} {kind}").as_bytes());
            }
            Self::Gone(process) | Self::Paused(process) | Self::Resumed(process) => {
                let ProcessId { pid, start_time } = process;
                bytes.extend_from_slice(format!(" {pid} {start_time}").as_bytes());
            }
            Self::Done => {}
        }
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Reads one line without its line break; `None` for what is no line of this journal.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let gap = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
        let (word, rest) = (&line[..gap], line.get(gap + 1..).unwrap_or_default());
        let path = || (!rest.is_empty()).then(|| Path::new(OsStr::from_bytes(rest)).to_owned());
        // A path may be any bytes; every other line is ASCII.
        let mut fields = std::str::from_utf8(rest).unwrap_or_default().split(' ');
        let mut process = || {
            Some(ProcessId {
                pid: fields.next()?.parse().ok()?,
                start_time: fields.next()?.parse().ok()?,
            })
        };
        match word {
            b"dir" => path().map(Self::Dir),
            b"dir-gone" => path().map(Self::DirGone),
            b"pid" => Some(Self::Pid(process()?, Kind::parse(fields.next()?)?)),
            b"gone" => process().map(Self::Gone),
            b"paused" => process().map(Self::Paused),
            b"resumed" => process().map(Self::Resumed),
            b"done" => Some(Self::Done),
            _ => None,
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Dir(_) => "dir",
            Self::DirGone(_) => "dir-gone",
            Self::Pid(..) => "pid",
            Self::Gone(_) => "gone",
            Self::Paused(_) => "paused",
            Self::Resumed(_) => "resumed",
            Self::Done => "done",
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        match self {
            Self::Dir(path) | Self::DirGone(path) => write!(f, " {}", path.display()),
            Self::Pid(process, kind) => write!(f, " {} {kind}", process.pid),
            Self::Gone(process) | Self::Paused(process) | Self::Resumed(process) => {
                write!(f, " {}", process.pid)
            }
            Self::Done => Ok(()),
        }
    }
}

impl Kind {
    pub(super) fn parse(word: &str) -> Option<Self> {
        [Self::Initdb, Self::Postgres, Self::Redis, Self::Shop, Self::Payments, Self::Target]
            .into_iter()
            .find(|kind| kind.word() == word)
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Initdb => "initdb",
            Self::Postgres => "postgres",
            Self::Redis => "redis",
            Self::Shop => "shop",
            Self::Payments => "payments",
            Self::Target => "target",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_line_reads_back_as_it_was_written(
            pid in 1u32.., start_time: u64, name in proptest::collection::vec(1u8.., 1..80)
        ) {
            let process = ProcessId { pid, start_time };
            let name: Vec<u8> = name.into_iter().filter(|byte| *byte != b'\n').collect();
            let path = Path::new("/tmp").join(OsStr::from_bytes(&name));
            for line in [
                Line::Dir(path.clone()),
                Line::DirGone(path),
                Line::Pid(process, Kind::Postgres),
                Line::Gone(process),
                Line::Paused(process),
                Line::Resumed(process),
                Line::Done,
            ] {
                let bytes = line.to_bytes().unwrap();
                prop_assert_eq!(Line::parse(bytes.strip_suffix(b"\n").unwrap()), Some(line));
            }
        }
    }

    #[test]
    fn a_path_that_would_forge_a_line_is_refused() {
        let forged = Line::Dir(PathBuf::from("/tmp/x\ndone"));
        assert!(matches!(forged.to_bytes(), Err(GuardError::Path { .. })));
        let long = Line::Dir(PathBuf::from("x".repeat(LINE_LIMIT)));
        assert!(matches!(long.to_bytes(), Err(GuardError::Path { .. })));
    }
}
