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

use crate::footprint::Footprint;
use crate::running::busy_backend;
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
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let child = Command::new(EXE)
            .args(["lab", "--instances", &instances.to_string(), "--logs"])
            .arg(folder.path().join("logs"))
            .env("TMPDIR", folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let footprint = Footprint::of(folder.path());
        Self {
            child,
            folder,
            footprint,
        }
    }

    /// The last words of the lines it prints when it is up.
    fn urls(&mut self) -> Vec<String> {
        let lines = BufReader::new(self.child.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok);
        let mut urls = Vec::new();
        for line in lines {
            urls.push(line.split_whitespace().last().unwrap().to_owned());
            if line.starts_with("redis ") {
                break;
            }
        }
        urls
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
        let owner = Owner::start(0);
        // Time itself is the subject: from before the guard to after the start.
        tokio::time::sleep(Duration::from_millis(moments.random_range(0..1500))).await;
        owner.kill().await;
    }
}

#[tokio::test]
async fn a_kill_during_initdb_leaves_nothing() {
    for sign in ["initdb", "--boot", "--single"] {
        let mut owner = Owner::start(0);
        until(Duration::from_secs(20), || {
            owner.footprint.look();
            if owner.footprint.has_seen(sign) {
                Ok(())
            } else {
                Err(format!("no {sign}"))
            }
        })
        .await;
        owner.kill().await;
    }
}

#[tokio::test]
async fn a_kill_leaves_nothing_when_backends_are_busy_and_servers_are_stopped() {
    let mut owner = Owner::start(0);
    let urls = owner.urls();
    let postgres = urls
        .iter()
        .find(|url| url.starts_with("postgres:"))
        .unwrap();
    let (_busy, _) = busy_backend(postgres).await;
    let (_stopped, backend) = busy_backend(postgres).await;
    backend.open().unwrap().signal(Signal::Stop).unwrap();
    owner.footprint.look();
    owner
        .footprint
        .find("redis-server")
        .open()
        .unwrap()
        .signal(Signal::Stop)
        .unwrap();
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
