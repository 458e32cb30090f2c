//! Starts a process that the guard knows from its first moment.
//!
//! The program isn't started directly: [`launch`](super::launch) is, with the pipe as its stdin,
//! and becomes the program. Its pid and start time are those of the program.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::{Child, Command};

use super::error::GuardError;
use super::journal::{Journal, Kind};
use super::process::ProcessId;

/// The user a server runs as, when that isn't ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    pub uid: u32,
    pub gid: u32,
}

/// A process to be started under guard. Its stdin is empty, and it works in `/` unless told
/// otherwise.
#[derive(Debug)]
pub struct GuardedCommand {
    journal: Journal,
    exe: PathBuf,
    kind: Kind,
    program: PathBuf,
    account: Option<Account>,
    args: Vec<OsString>,
    envs: Vec<(OsString, OsString)>,
    clears_env: bool,
    folder: PathBuf,
    stdout: Stdio,
    stderr: Stdio,
}

/// A started process. Dropping it doesn't end it; the guard does, when everything else has gone.
#[derive(Debug)]
pub struct GuardedChild {
    pub process: ProcessId,
    pub child: Child,
}

impl GuardedCommand {
    pub(super) fn new(journal: Journal, exe: PathBuf, kind: Kind, program: &Path) -> Self {
        Self {
            journal,
            exe,
            kind,
            program: program.to_owned(),
            account: None,
            args: Vec::new(),
            envs: Vec::new(),
            clears_env: false,
            folder: PathBuf::from("/"),
            stdout: Stdio::null(),
            stderr: Stdio::null(),
        }
    }

    /// Drops to this user, its group and no other groups; ours when `None`.
    pub fn account(mut self, account: Option<Account>) -> Self {
        self.account = account;
        self
    }

    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.envs.push((name.into(), value.into()));
        self
    }

    /// Starts from an empty environment instead of ours.
    pub fn env_clear(mut self) -> Self {
        self.clears_env = true;
        self
    }

    /// Works in this folder.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    pub fn stdout(mut self, stdout: impl Into<Stdio>) -> Self {
        self.stdout = stdout.into();
        self
    }

    pub fn stderr(mut self, stderr: impl Into<Stdio>) -> Self {
        self.stderr = stderr.into();
        self
    }

    /// Starts it. Needs a tokio runtime with its I/O enabled.
    ///
    /// # Errors
    /// [`GuardError::Spawn`]. That the program itself doesn't run shows later: the process ends
    /// with a line on its stderr.
    pub fn spawn(self) -> Result<GuardedChild, GuardError> {
        let (kind, program) = (self.kind, self.program);
        let failed = |source| GuardError::Spawn { kind, program: program.clone(), source };
        let pipe = self.journal.another_end().map_err(failed)?;

        let mut command = Command::new(&self.exe);
        if self.clears_env {
            command.env_clear();
        }
        command.envs(self.envs.iter().map(|(name, value)| (name, value)));
        command.args(["guarded-exec", "--kind", kind.word()]);
        if let Some(account) = self.account {
            command.args(["--user", &account.to_string()]);
        }
        command.arg("--").arg(&program).args(&self.args).current_dir(&self.folder);
        command.stdin(pipe).stdout(self.stdout).stderr(self.stderr);
        let child = command.spawn().map_err(failed)?;
        // Nobody has waited for it, so its entry in /proc is there even when it has ended.
        let process = child.id().and_then(ProcessId::of);
        let process = process.ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))?;
        Ok(GuardedChild { process, child })
    }
}

impl Account {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (uid, gid) = text.split_once(':')?;
        Some(Self { uid: uid.parse().ok()?, gid: gid.parse().ok()? })
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.uid, self.gid)
    }
}
