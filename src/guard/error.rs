//! What can go wrong around the guard. Each variant says what was being done, and to what.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::journal::Kind;
use super::process::{ProcessId, Signal};

#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    #[error("could not start the guard, `{} guard`", exe.display())]
    Start { exe: PathBuf, source: io::Error },
    #[error(
        "`{} guard` did not answer as a guard within {limit:?}: is it this program?",
        exe.display()
    )]
    Silent { exe: PathBuf, limit: Duration },
    #[error(
        "could not journal `{line}`: the guard has ended or doesn't read, so nothing that needs \
         undoing may be done; start again"
    )]
    Journal { line: String, source: io::Error },
    #[error("the path {path:?} can't be journalled: it has a line break or is too long")]
    Path { path: PathBuf },
    #[error("the guard did not end within {limit:?} after it was told that all is done")]
    Finish { limit: Duration },
    #[error("could not start {kind} (`{}`)", program.display())]
    Spawn { kind: Kind, program: PathBuf, source: io::Error },
    #[error("process {0} has ended")]
    Ended(ProcessId),
    #[error("could not send {signal} to process {process}")]
    Signal { signal: Signal, process: ProcessId, source: io::Error },
    #[error("could not {act} while preparing to run as a process under guard")]
    Prepare { act: &'static str, source: io::Error },
    #[error("`guarded-exec` is started by dupeproof itself, not by hand: {0:?}")]
    Arguments(Vec<OsString>),
    #[error("could not run `{}`", program.display())]
    Exec { program: PathBuf, source: io::Error },
    #[error(
        "{} of what was to be ended is still there after {limit:?}: {}; end it by hand",
        left.len(),
        left.join(", ")
    )]
    Left { left: Vec<String>, limit: Duration },
}
