//! A dupeproof that is killed in the middle of a drill leaves nothing, and what it recorded stays.

use std::fs;

use dupeproof::guard::Signal;

use crate::backends::{ask, busy_backend};
use crate::checks::{Drilled, read_journal};
use crate::rig::{Rig, Running};
use crate::verdicts::{LONG, SMALL};

/// Starts a drill, waits for a moment, kills dupeproof, and looks at what is left.
fn killed_at(profile: &str, moment: impl FnOnce(&mut Running<'_>)) -> Rig {
    let rig = Rig::new();
    let profile = rig.profile(profile);
    let mut running = rig.start(rig.command(&["run", profile]));
    moment(&mut running);
    running.kill();
    running.leaves_nothing();
    drop(running);
    rig
}

/// The folder of the killed run is what the manual says: incomplete, readable, never a pass.
fn keeps_what_was_recorded(rig: &Rig) {
    let folder = rig.run_folder().expect("the folder is made before anything else");
    assert!(!folder.join("result.json").exists(), "it has no verdict");
    assert!(!rig.path().join("results/latest").exists(), "latest is a finished run");
    let journal = read_journal(&folder.join("journal.jsonl"));
    assert!(journal[0]["run"].is_object(), "{}", journal[0]);
    let name = folder.to_str().expect("results folders have ASCII names");
    let judged = rig.run(&["audit", name]);
    let has_baseline = folder.join("rows/baseline.json").exists();
    let expected = if has_baseline { 3 } else { 4 };
    assert_eq!(judged.code, Some(expected), "{}{}", judged.stdout, judged.stderr);
    assert!(has_baseline || judged.stderr.contains("error[E09]"), "{}", judged.stderr);
}

#[test]
fn a_kill_while_the_lab_starts_leaves_nothing() {
    let rig = killed_at(LONG, |running| {
        running.process("initdb");
    });
    keeps_what_was_recorded(&rig);
}

#[test]
fn a_kill_in_the_middle_of_a_burst_leaves_nothing() {
    let rig = killed_at(LONG, |running| {
        running.until_said("  second: 2,000 attempts");
        running.until_recorded(r#""id":150,"#);
    });
    keeps_what_was_recorded(&rig);
}

#[test]
fn a_kill_with_a_stopped_instance_and_busy_backends_leaves_nothing() {
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    let rig = killed_at(LONG, |running| {
        running.until_said("lab ready");
        let (_, url) = running.postgres();
        runtime.block_on(busy_backend(&url));
        let (_, stopped) = runtime.block_on(busy_backend(&url));
        let (instance, _) = running.process("--instance 1");
        for process in [stopped, instance] {
            let process = process.open().expect("it runs");
            process.signal(Signal::Stop).expect("it may be stopped");
        }
        let answer = runtime.block_on(ask(&url, "SELECT 'up'"));
        assert_eq!(answer.expect("PostgreSQL answers"), "up");
    });
    keeps_what_was_recorded(&rig);
}

#[test]
fn a_kill_while_the_database_comes_to_rest_leaves_nothing() {
    let rig = killed_at(SMALL, |running| running.until_said("waiting until nothing can change"));
    keeps_what_was_recorded(&rig);
}

#[test]
fn the_same_place_works_again_after_a_kill() {
    let rig = killed_at(SMALL, |running| running.until_said("lab ready"));
    let killed = rig.run_folder().expect("one run, one folder");
    fs::remove_dir_all(killed).expect("it is ours");
    Drilled::run(&rig, SMALL, 0);
}
