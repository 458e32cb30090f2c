//! Where a lab is built: its temporary folder, and the list of what must end with it.
//!
//! The list ends things when it is dropped: so a lab that fails half-way, a start that is
//! cancelled and a lab that is forgotten all end in the same way as one that is stopped.

use std::env;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::guard::{
    self, Account, Guard, GuardError, GuardedChild, GuardedCommand, Journal, Line, ProcessId,
};

use super::account;
use super::error::LabError;
use super::programs::Programs;
use super::spec::LabSpec;

/// What the servers of one lab have in common while they are started.
#[derive(Debug)]
pub(super) struct Site<'a> {
    pub(super) guard: &'a Guard,
    pub(super) spec: LabSpec,
    pub(super) programs: Programs,
    pub(super) account: Option<Account>,
    belongings: Belongings,
}

/// What must end with the lab.
#[derive(Debug)]
pub(super) struct Belongings {
    journal: Journal,
    folder: PathBuf,
    processes: Mutex<Vec<ProcessId>>,
    is_ended: bool,
}

impl<'a> Site<'a> {
    pub(super) fn new(
        guard: &'a Guard,
        spec: LabSpec,
        programs: Programs,
    ) -> Result<Self, LabError> {
        let account = account::unprivileged()?;
        let belongings = Belongings::new(guard.journal().clone())?;
        let site = Self { guard, spec, programs, account, belongings };
        if let Some(account) = account {
            account::check_reach(account, &site.folder().join("postgres"))?;
            account::check_reach(account, &site.programs.postgres)?;
            account::check_reach(account, &site.programs.redis)?;
        }
        Ok(site)
    }

    pub(super) fn folder(&self) -> &Path {
        self.belongings.folder()
    }

    /// A folder inside for one server, 0700, and the servers' user owns it.
    pub(super) fn make_folder(&self, name: &str) -> Result<PathBuf, LabError> {
        let path = self.folder().join(name);
        let made = DirBuilder::new().mode(0o700).create(&path).and_then(|()| match self.account {
            Some(account) => chown(&path, Some(account.uid), Some(account.gid)),
            None => Ok(()),
        });
        made.map_err(|source| LabError::File { act: "make", path: path.clone(), source })?;
        Ok(path)
    }

    pub(super) fn spawn(&self, command: GuardedCommand) -> Result<GuardedChild, LabError> {
        let spawned = command.spawn();
        let guarded =
            spawned.map_err(|source| LabError::Guard { act: "start a server", source })?;
        self.belongings.add(guarded.process);
        Ok(guarded)
    }

    pub(super) fn into_belongings(self) -> Belongings {
        self.belongings
    }
}

impl Belongings {
    /// The folder can be entered by everybody (0711) and read by its owner alone.
    fn new(journal: Journal) -> Result<Self, LabError> {
        // An empty TMPDIR is as good as none.
        let parent = match env::var_os("TMPDIR") {
            Some(folder) if folder.is_empty() => PathBuf::from("/tmp"),
            _ => env::temp_dir(),
        };
        let failed = |act, path: &Path| {
            let path = path.to_owned();
            move |source| LabError::File { act, path, source }
        };
        // Servers report where they are with all links followed.
        let parent =
            parent.canonicalize().map_err(failed("enter the temporary folder", &parent))?;
        loop {
            let folder = parent.join(format!("dupeproof-lab-{:08x}", rand::random::<u32>()));
            if folder.exists() {
                continue;
            }
            let announced = journal.write(&Line::Dir(folder.clone()));
            announced
                .map_err(|source| LabError::Guard { act: "announce the lab's folder", source })?;
            let made = DirBuilder::new().mode(0o711).create(&folder);
            match made {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let _ = journal.write(&Line::DirGone(folder));
                    continue;
                }
                made => made.map_err(failed("make", &folder))?,
            }
            let belongings = Self { journal, folder, processes: Mutex::default(), is_ended: false };
            // Whatever the umask is.
            let opened = fs::set_permissions(&belongings.folder, fs::Permissions::from_mode(0o711));
            opened.map_err(failed("open", &belongings.folder))?;
            return Ok(belongings);
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn add(&self, process: ProcessId) {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner).push(process);
    }

    /// Ends every process, removes the folder, tells the guard. Blocks, well below a second.
    ///
    /// # Errors
    /// When something is still there; the guard has it on its list then, and tries again.
    pub(super) fn end(&mut self) -> Result<(), GuardError> {
        self.is_ended = true;
        let processes =
            std::mem::take(self.processes.get_mut().unwrap_or_else(PoisonError::into_inner));
        guard::end(&processes, std::slice::from_ref(&self.folder))?;
        for process in processes {
            self.journal.write(&Line::Gone(process))?;
        }
        self.journal.write(&Line::DirGone(self.folder.clone()))
    }
}

impl Drop for Belongings {
    fn drop(&mut self) {
        if !self.is_ended {
            // What can't be ended stays on the guard's list.
            let _ = self.end();
        }
    }
}
