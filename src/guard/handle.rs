//! The owner's side: starts the guard, writes its journal, and lets it go when all is undone.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::pipe::PipeFlags;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::command::GuardedCommand;
use super::error::GuardError;
use super::journal::{Journal, Kind, Line};
use super::serve::GREETING;

const ANSWER_LIMIT: Duration = Duration::from_secs(10);
const FINISH_LIMIT: Duration = Duration::from_secs(10);

/// A running guard. When it and every [`Journal`] of it are dropped without
/// [`finish`](Guard::finish), the guard undoes what its journal lists.
#[derive(Debug)]
pub struct Guard {
    journal: Journal,
    child: Child,
    exe: PathBuf,
}

impl Guard {
    /// Runs `exe guard`, where `exe` is this program, and waits until it is out of harm's way.
    /// Needs a tokio runtime.
    ///
    /// # Errors
    /// [`GuardError::Start`] or [`GuardError::Silent`].
    pub async fn start(exe: &Path) -> Result<Self, GuardError> {
        let failed = |source: io::Error| GuardError::Start { exe: exe.to_owned(), source };
        let absolute = exe.canonicalize().map_err(failed)?;
        let (reader, writer) =
            rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(|errno| failed(errno.into()))?;
        rustix::fs::fcntl_setfl(&writer, OFlags::NONBLOCK).map_err(|errno| failed(errno.into()))?;
        let mut command = Command::new(&absolute);
        command.arg("guard").stdin(reader).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(failed)?;
        // The command keeps the reading end open until it is dropped; a dead guard must show.
        drop(command);

        let silent = || GuardError::Silent { exe: exe.to_owned(), limit: ANSWER_LIMIT };
        let mut answer = String::new();
        let mut stdout = BufReader::new(child.stdout.take().ok_or_else(silent)?);
        let read = timeout(ANSWER_LIMIT, stdout.read_line(&mut answer)).await;
        read.map_err(|_| silent())?.map_err(failed)?;
        if answer.trim_end() != GREETING {
            return Err(silent());
        }
        Ok(Self { journal: Journal::new(writer), child, exe: absolute })
    }

    /// The journal, to announce what will have to be undone.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// This program, as an absolute path.
    pub fn exe(&self) -> &Path {
        &self.exe
    }

    /// A process to be started under this guard; `program` should be an absolute path.
    pub fn command(&self, kind: Kind, program: &Path) -> GuardedCommand {
        GuardedCommand::new(self.journal.clone(), self.exe.clone(), kind, program)
    }

    /// Says that nothing is left to undo, and waits for the guard to end.
    ///
    /// # Errors
    /// When the guard has died before, or doesn't end.
    pub async fn finish(mut self) -> Result<(), GuardError> {
        self.journal.write(&Line::Done)?;
        let ended = timeout(FINISH_LIMIT, self.child.wait()).await;
        ended
            .map_err(|_| GuardError::Finish { limit: FINISH_LIMIT })?
            .map_err(|source| GuardError::Start { exe: self.exe, source })?;
        Ok(())
    }
}
