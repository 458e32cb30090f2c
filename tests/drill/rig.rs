//! A place of its own for one test: dupeproof runs in it, with its results, its temporary folder
//! and its profiles, and nobody else does.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use dupeproof::guard::ProcessId;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::footprint::Footprint;
use crate::waiting::until;

pub const EXE: &str = env!("CARGO_BIN_EXE_dupeproof");

/// Far more than any command here needs on a loaded machine: past it, something hangs.
const HANGS: Duration = Duration::from_secs(120);

/// However dupeproof ends, the guard is done within this.
const GONE: Duration = Duration::from_secs(2);

/// The folder of a test. Gone, with all that is in it, when the test ends.
pub struct Rig {
    folder: TempDir,
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// What stderr says, whatever the lines that it was filled into.
    pub fn told(&self) -> String {
        self.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

impl Rig {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let temporary = folder.path().join("tmp");
        fs::create_dir(&temporary).expect("the folder can be written");
        // PostgreSQL runs as another user where we are root, and must be able to pass.
        for path in [folder.path(), &temporary] {
            let open = fs::Permissions::from_mode(0o755);
            fs::set_permissions(path, open).expect("the folder is ours");
        }
        Self { folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a profile and says how to name it.
    pub fn profile(&self, text: &str) -> &'static str {
        const NAME: &str = "drill.toml";
        fs::write(self.path().join(NAME), text).expect("the folder can be written");
        NAME
    }

    /// dupeproof, as somebody types it in this folder whose terminal wants nothing special.
    pub fn command(&self, args: &[&str]) -> Command {
        self.wrapped(EXE, args)
    }

    /// Another program in dupeproof's place, such as one that starts it.
    pub fn wrapped(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.path()).env("TMPDIR", self.temporary());
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "DUPEPROOF_PATH", "TERM"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, args: &[&str]) -> Ended {
        self.start(self.command(args)).wait()
    }

    pub fn start(&self, mut command: Command) -> Running<'_> {
        let [stdout, stderr] = ["stdout", "stderr"]
            .map(|name| File::create(self.path().join(name)).expect("the folder can be written"));
        command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
        let child = command.spawn().expect("the program starts");
        Running { child, rig: self, footprint: Footprint::of(&self.temporary()) }
    }

    /// The folder of the only run so far.
    pub fn run_folder(&self) -> Result<PathBuf, String> {
        let entries = fs::read_dir(self.path().join("results")).into_iter().flatten().flatten();
        let folders: Vec<_> = entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .map(|entry| entry.path())
            .collect();
        match folders.as_slice() {
            [one] => Ok(one.clone()),
            other => Err(format!("{} results folders", other.len())),
        }
    }

    fn temporary(&self) -> PathBuf {
        self.path().join("tmp")
    }

    /// What a command left in its temporary folder.
    pub fn leftovers(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.temporary()).expect("the folder is there").flatten();
        entries.map(|entry| entry.path()).collect()
    }
}

/// A command that hasn't ended; killed when the test fails.
pub struct Running<'a> {
    child: Child,
    rig: &'a Rig,
    pub footprint: Footprint,
}

impl Running<'_> {
    pub fn wait(&mut self) -> Ended {
        let status = until(HANGS, || {
            let ended = self.child.try_wait().expect("it is our child");
            ended.ok_or_else(|| format!("still running; it said:\n{}", self.said("stderr")))
        });
        Ended { code: status.code(), stdout: self.said("stdout"), stderr: self.said("stderr") }
    }

    /// Waits until it has written this to stderr.
    pub fn until_said(&mut self, words: &str) {
        until(Duration::from_secs(30), || {
            let said = self.said("stderr");
            let ended = self.child.try_wait().expect("it is our child");
            assert!(said.contains(words) || ended.is_none(), "no \"{words}\" in:\n{said}");
            if said.contains(words) { Ok(()) } else { Err(format!("no \"{words}\" in:\n{said}")) }
        });
    }

    /// Waits until its journal holds this.
    pub fn until_recorded(&mut self, words: &str) {
        until(Duration::from_secs(30), || {
            let journal = self.rig.run_folder()?.join("journal.jsonl");
            let text = fs::read_to_string(journal).map_err(|error| error.to_string())?;
            if text.contains(words) { Ok(()) } else { Err(format!("no {words} in the journal")) }
        });
    }

    /// The lab's process with this in its command line, and that line.
    pub fn process(&mut self, words: &str) -> (ProcessId, String) {
        until(Duration::from_secs(20), || {
            self.footprint.look();
            let found = self.footprint.find(words).map(|(id, line)| (id, line.to_owned()));
            found.ok_or_else(|| format!("no process with {words}"))
        })
    }

    /// The lab's postmaster, and the address that it serves.
    pub fn postgres(&mut self) -> (ProcessId, String) {
        let (process, line) = self.process("bin/postgres -D");
        let port = line.split_whitespace().find_map(|word| word.strip_prefix("port="));
        let port = port.expect("the port is on its command line");
        let url = format!("postgres://postgres@127.0.0.1:{port}/postgres?sslmode=disable");
        (process, url)
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it is our child");
    }

    /// Nothing of it is left: no process, port, folder, shared memory.
    pub fn leaves_nothing(&mut self) {
        until(GONE, || self.footprint.left());
    }

    pub fn kill(&mut self) {
        self.footprint.look();
        assert!(self.footprint.left().is_err(), "a running drill is seen");
        self.child.kill().expect("it is our child");
        self.child.wait().expect("it is our child");
    }

    fn said(&self, name: &str) -> String {
        let bytes = fs::read(self.rig.path().join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
