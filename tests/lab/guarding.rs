//! The guard by itself: what it does when its journal closes, and what doesn't end it before.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use dupeproof::guard::{Account, Kind, Line, ProcessId, Signal, State};
use rustix::process::{Pid, Signal as Any, kill_process};
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use crate::pausing::{Sleeper, is};
use crate::{guard, until};

const LIMIT: Duration = Duration::from_secs(2);

#[tokio::test]
async fn the_guard_survives_what_ends_others_and_then_does_its_work() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("lab");
    fs::create_dir_all(folder.join("postgres/base")).unwrap();
    let (_sleeper, process) = Sleeper::start();
    let mut guard = Command::new(crate::EXE)
        .arg("guard")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut greeting = String::new();
    BufReader::new(guard.stdout.take().unwrap()).read_line(&mut greeting).unwrap();
    let pid = Pid::from_child(&guard);
    for signal in [Any::INT, Any::TERM, Any::HUP, Any::QUIT] {
        kill_process(pid, signal).unwrap();
    }
    let ProcessId { pid, start_time } = process;
    let mut stdin = guard.stdin.take().unwrap();
    write!(stdin, "dir {}\npid {pid} {start_time} redis\nnonsense\n", folder.display()).unwrap();
    assert!(!process.has_ended());
    drop(stdin);
    assert!(guard.wait().unwrap().success());
    assert!(process.has_ended());
    assert!(!folder.exists());
}

#[tokio::test]
async fn a_stranger_that_is_paused_runs_again_when_the_owner_is_gone() {
    let guard = guard().await;
    let (_sleeper, process) = Sleeper::start();
    guard.journal().write(&Line::Paused(process)).unwrap();
    process.open().unwrap().signal(Signal::Stop).unwrap();
    until(LIMIT, || is(process, State::Stopped)).await;
    drop(guard);
    until(LIMIT, || is(process, State::Live)).await;
}

#[tokio::test]
async fn after_done_nothing_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let guard = guard().await;
    guard.journal().write(&Line::Dir(folder.path().to_owned())).unwrap();
    guard.finish().await.unwrap();
    assert!(folder.path().exists());
}

#[tokio::test]
async fn a_launched_process_is_known_from_its_first_moment() {
    for _ in 0..20 {
        let guard = guard().await;
        let launched =
            guard.command(Kind::Redis, Path::new("/bin/sleep")).arg("60").spawn().unwrap();
        // At once: the launcher has not become the program yet.
        drop(guard);
        until(
            LIMIT,
            || {
                if launched.process.has_ended() { Ok(()) } else { Err("alive".to_owned()) }
            },
        )
        .await;
    }
}

#[tokio::test]
async fn children_of_a_launched_process_end_with_it_also_when_stopped() {
    let guard = guard().await;
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("children");
    let script = format!(
        "setsid sleep 61 & echo $! > {0}; setsid sleep 62 & echo $! >> {0}; wait",
        note.display()
    );
    let launched =
        guard.command(Kind::Redis, Path::new("/bin/sh")).args(["-c", &script]).spawn().unwrap();
    let children = until(LIMIT, || {
        let text = fs::read_to_string(&note).map_err(|error| error.to_string())?;
        let pids: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
        let children: Vec<ProcessId> = pids.into_iter().filter_map(ProcessId::of).collect();
        if children.len() == 2 { Ok(children) } else { Err(text) }
    })
    .await;
    children[0].open().unwrap().signal(Signal::Stop).unwrap();
    launched.process.open().unwrap().signal(Signal::Stop).unwrap();
    drop(guard);
    until(LIMIT, || {
        let alive = children.iter().find(|child| !child.has_ended());
        alive.map_or(Ok(()), |child| Err(format!("{child} is alive")))
    })
    .await;
}

#[tokio::test]
async fn a_launched_process_has_its_own_session_and_only_what_it_was_given() {
    let guard = guard().await;
    let script = "cat; echo $(id -u) $(id -G) $(pwd) [$HOME] [$GIVEN]; ps -o sid= -p $$; echo $$";
    let mut command = guard
        .command(Kind::Shop, Path::new("/bin/sh"))
        .args(["-c", script])
        .env_clear()
        .env("GIVEN", "yes")
        .stdout(Stdio::piped());
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        command = command.account(Some(Account { uid: 4001, gid: 4002 }));
    }
    let mut launched = command.spawn().unwrap();
    let mut said = String::new();
    let mut stdout = launched.child.stdout.take().unwrap();
    timeout(LIMIT, stdout.read_to_string(&mut said)).await.unwrap().unwrap();
    let lines: Vec<&str> = said.lines().map(str::trim).collect();
    if is_root {
        assert_eq!(lines[0], "4001 4002 / [] [yes]");
    }
    assert_eq!(lines[1], lines[2], "it leads its session");
    assert_eq!(lines[2], launched.process.pid.to_string());
    launched.child.wait().await.unwrap();
    guard.finish().await.unwrap();
}

#[tokio::test]
async fn a_program_that_can_not_be_run_is_named_in_its_log() {
    let guard = guard().await;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let log = fs::File::create(folder.path().join("log")).unwrap();
    let mut launched =
        guard.command(Kind::Redis, Path::new("/nowhere/redis-server")).stderr(log).spawn().unwrap();
    assert_eq!(launched.child.wait().await.unwrap().code(), Some(127));
    let said = fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(said.contains("/nowhere/redis-server"), "{said}");
    guard.finish().await.unwrap();
}
