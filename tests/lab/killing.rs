//! A killed dupeproof leaves nothing, whenever the SIGKILL comes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dupeproof::guard::Signal;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

use crate::backends::busy_backend;
use crate::footprint::Footprint;
use crate::{EXE, until};

const GONE_LIMIT: Duration = Duration::from_secs(2);

/// `dupeproof lab` with a temporary folder of its own.
struct Owner {
    child: Child,
    folder: TempDir,
    footprint: Footprint,
}

impl Owner {
    fn start(instances: u16) -> Self {
        Self::start_by(Command::new(EXE), instances)
    }

    /// As root is in a container: without the right to look into other users' processes.
    fn start_in_container(instances: u16) -> Self {
        let rights = "-all,+chown,+dac_override,+fowner,+kill,+setgid,+setuid,+setpcap";
        let mut command = Command::new("setpriv");
        command.args(["--inh-caps", rights, "--bounding-set", rights, EXE]);
        Self::start_by(command, instances)
    }

    fn start_by(mut command: Command, instances: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let child = command
            .args(["lab", "--instances", &instances.to_string(), "--logs"])
            .arg(folder.path().join("logs"))
            .env("TMPDIR", folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let footprint = Footprint::of(folder.path());
        Self { child, folder, footprint }
    }

    /// The last words of the lines it prints when it is up.
    fn urls(&mut self) -> Vec<String> {
        let lines = BufReader::new(self.child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut urls = Vec::new();
        for line in lines {
            urls.push(line.split_whitespace().last().unwrap().to_owned());
            if line.starts_with("redis ") {
                break;
            }
        }
        urls
    }

    async fn until_seen(&mut self, sign: &str) {
        until(Duration::from_secs(20), || {
            self.footprint.look();
            let seen = self.footprint.find(sign).is_some();
            if seen { Ok(()) } else { Err(format!("no {sign}")) }
        })
        .await;
    }

    async fn kill(mut self) {
        self.footprint.look();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let killed = Instant::now();
        until(GONE_LIMIT, || self.footprint.left()).await;
        assert!(killed.elapsed() < GONE_LIMIT);
    }
}

#[tokio::test]
async fn a_kill_at_any_moment_leaves_nothing_within_two_seconds() {
    let mut moments = ChaCha8Rng::seed_from_u64(20);
    for _ in 0..8 {
        let owner = Owner::start(2);
        // Time itself is the subject: from before the guard to after the start.
        tokio::time::sleep(Duration::from_millis(moments.random_range(0..1500))).await;
        owner.kill().await;
    }
}

#[tokio::test]
async fn a_kill_during_initdb_leaves_nothing() {
    for sign in ["initdb", "--boot", "--single"] {
        let mut owner = Owner::start(0);
        owner.until_seen(sign).await;
        owner.kill().await;
    }
}

#[tokio::test]
async fn a_kill_of_a_root_with_few_rights_leaves_nothing() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    for sign in ["--boot", "--single", "checkpointer"] {
        let mut owner = Owner::start_in_container(0);
        owner.until_seen(sign).await;
        owner.kill().await;
    }
}

#[tokio::test]
async fn a_kill_leaves_nothing_when_backends_are_busy_and_servers_are_stopped() {
    let mut owner = Owner::start(2);
    let urls = owner.urls();
    let postgres = urls.iter().find(|url| url.starts_with("postgres:")).unwrap();
    let (_busy, _) = busy_backend(postgres).await;
    let (_stopped, backend) = busy_backend(postgres).await;
    backend.open().unwrap().signal(Signal::Stop).unwrap();
    owner.footprint.look();
    for server in ["redis-server", " shop "] {
        let (process, _) = owner.footprint.find(server).unwrap();
        process.open().unwrap().signal(Signal::Stop).unwrap();
    }
    owner.kill().await;
}

#[tokio::test]
async fn ctrl_c_ends_the_lab_in_order() {
    let mut owner = Owner::start(0);
    owner.urls();
    owner.footprint.look();
    let pid = rustix::process::Pid::from_child(&owner.child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert!(owner.child.wait().unwrap().success());
    assert_eq!(owner.footprint.left(), Ok(()));
    assert!(owner.folder.path().join("logs/postgres.log").exists());
}
