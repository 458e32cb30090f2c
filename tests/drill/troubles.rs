//! What goes wrong around a drill: it says what, why and what to do, ends with the exit code for
//! it, keeps what was recorded, and leaves nothing running.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Duration;

use dupeproof::guard::{Signal, State};

use crate::checks::{Drilled, read_journal};
use crate::rig::{Ended, Rig};
use crate::verdicts::{LONG, SMALL};
use crate::waiting::until;

/// A burst to die in. Few retries, because half of the connections can't be had from then on.
const DYING: &str = "
client.retries = { at-most = 3 }
[[phase]]
name = 'only'
burst.same-key = { users = 100, threads = 20 }
";

/// A shell in a mount namespace of its own, where it mounts a file system on `results` and becomes
/// dupeproof there. Our mounts end with it.
fn with_results_on(rig: &Rig, mount: &str, then: &str) -> Ended {
    fs::create_dir(rig.path().join("results")).expect("the folder is ours");
    let exe = crate::rig::EXE;
    let script = format!(
        "set -e; {mount}; \"{exe}\" run drill.toml && code=0 || code=$?; {then}; exit $code"
    );
    let ended = rig.start(rig.wrapped("unshare", &["--mount", "sh", "-c", &script])).wait();
    assert!(
        !ended.stderr.contains("unshare") && !ended.stderr.contains("mount:"),
        "this test mounts a file system, which needs root with CAP_SYS_ADMIN: {}",
        ended.stderr
    );
    ended
}

fn is_a_trouble(ended: &Ended, code: &str) {
    assert_eq!(ended.code, Some(4), "{}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.stdout, "", "stdout is for results");
    for part in
        [&format!("error[{code}]: "), "  help: ", &format!("more: dupeproof explain {code}")]
    {
        assert!(ended.stderr.contains(part), "no \"{part}\" in:\n{}", ended.stderr);
    }
}

#[test]
fn a_missing_program_is_named_with_its_package() {
    let rig = Rig::new();
    let profile = rig.profile(SMALL);
    let empty = rig.path().join("empty");
    fs::create_dir(&empty).expect("the folder is ours");
    let mut command = rig.command(&["run", profile]);
    command.env("DUPEPROOF_PATH", &empty);
    let ended = rig.start(command).wait();
    is_a_trouble(&ended, "E01");
    for part in ["`initdb`", "apt-get install postgresql", "DUPEPROOF_PATH"] {
        assert!(ended.stderr.contains(part), "no \"{part}\" in:\n{}", ended.stderr);
    }
    assert_eq!(rig.leftovers(), Vec::<PathBuf>::new());
}

#[test]
fn a_port_that_is_taken_is_named_with_the_flag_that_changes_it() {
    let rig = Rig::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let nobody = ["--database-url=postgres://a@127.0.0.1:1/a", "--redis-url=redis://127.0.0.1:1/"];
    let ended = rig.run(&["shop", "--listen", &address, nobody[0], nobody[1]]);
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    assert_eq!(ended.stdout, "");
    for part in [address.as_str(), "another process has this port", "--listen", "port 0"] {
        assert!(ended.stderr.contains(part), "no \"{part}\" in:\n{}", ended.stderr);
    }
}

#[test]
fn a_postgres_that_dies_ends_the_drill_and_what_was_recorded_is_kept() {
    let rig = Rig::new();
    let profile = rig.profile(LONG);
    let mut running = rig.start(rig.command(&["run", profile]));
    running.until_said("  second: 2,000 attempts");
    let (postmaster, _) = running.postgres();
    running.footprint.look();
    postmaster.open().expect("it runs").signal(Signal::Kill).expect("it may be killed");
    let ended = running.wait();
    is_a_trouble(&ended, "E03");
    assert!(ended.stderr.contains("postgres of the lab ended"), "{}", ended.stderr);
    assert!(ended.stderr.contains("SIGKILL"), "{}", ended.stderr);
    running.leaves_nothing();

    let folder = rig.run_folder().expect("one run, one folder");
    let name = folder.file_name().and_then(|name| name.to_str()).expect("an ASCII name");
    let kept = format!("what was recorded is in results/{name}");
    assert!(ended.stderr.contains(&kept), "{}", ended.stderr);
    let journal = read_journal(&folder.join("journal.jsonl"));
    let first = journal.iter().filter(|line| line["attempt"]["outcome"] == "acknowledged").count();
    assert!(first >= 20, "the first phase was recorded in full, not only {first} successes");
    assert!(journal.last().is_some_and(|line| line["sealed"].is_object()), "the journal is sealed");
    assert!(folder.join("logs/postgres.log").exists());
    let name = folder.to_str().expect("results folders have ASCII names");
    assert_eq!(rig.run(&["audit", name]).code, Some(3), "it proves nothing, and can be read");
}

#[test]
fn an_instance_that_dies_is_a_violation() {
    let rig = Rig::new();
    let profile = rig.profile(DYING);
    let mut running = rig.start(rig.command(&["run", profile, "--format", "json"]));
    running.until_said("  only: 2,000 attempts");
    let (instance, _) = running.process("--instance 1");
    instance.open().expect("it runs").signal(Signal::Kill).expect("it may be killed");
    let ended = running.wait();
    assert!(ended.stderr.contains("shop-1 ended, and not by the drill"), "{}", ended.stderr);
    let drilled = Drilled::of(&rig, &ended, 1);
    assert_eq!(drilled.findings("contract"), ["I27"], "{}", drilled.text);
    assert_eq!(drilled.findings("critical"), [""; 0], "the data are right");
    assert_eq!(drilled.facts("exit").count(), 1);
}

#[test]
fn an_instance_that_dies_while_it_is_frozen_is_a_violation_too() {
    let rig = Rig::new();
    let profile = rig.profile(DYING);
    let mut running = rig.start(rig.command(&["run", profile, "--format", "json"]));
    running.until_said("lab ready");
    let (instance, _) = running.process("--instance 1");
    until(Duration::from_secs(30), || match instance.stat().map(|stat| stat.state) {
        Some(State::Stopped) => Ok(()),
        other => Err(format!("{other:?}")),
    });
    instance.open().expect("it is there").signal(Signal::Kill).expect("it may be killed");
    let ended = running.wait();
    let drilled = Drilled::of(&rig, &ended, 1);
    assert!(drilled.findings("contract").contains(&"I27"), "{}", drilled.text);
}

#[test]
fn a_full_disk_ends_the_drill_and_what_was_recorded_is_kept() {
    let rig = Rig::new();
    rig.profile(LONG);
    let mount = "mount -t tmpfs -o size=256k,mode=755 none results";
    let ended = with_results_on(&rig, mount, "mkdir kept; cp -r results/2*/. kept");
    is_a_trouble(&ended, "E04");
    assert!(ended.told().contains("No space left on device"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("third:"), "the load stops: {}", ended.stderr);
    assert_eq!(rig.leftovers(), Vec::<PathBuf>::new());

    let journal = read_journal(&rig.path().join("kept/journal.jsonl"));
    let recorded = journal.iter().filter(|line| line["attempt"].is_object()).count();
    assert!(recorded >= 100, "only {recorded} attempts are kept");
    let judged = rig.run(&["audit", "kept"]);
    assert_eq!(judged.code, Some(3), "{}{}", judged.stdout, judged.stderr);
    assert!(judged.stdout.contains("inconclusive[G9]"), "{}", judged.stdout);
}

#[test]
fn a_read_only_folder_is_told_before_anything_starts() {
    let rig = Rig::new();
    rig.profile(SMALL);
    let ended = with_results_on(&rig, "mount -t tmpfs -o ro none results", "true");
    is_a_trouble(&ended, "E04");
    assert!(ended.stderr.contains("Read-only file system"), "{}", ended.stderr);
    assert!(ended.stderr.contains("--results"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("lab ready"), "{}", ended.stderr);
}

#[test]
fn a_results_folder_below_a_file_is_told_before_anything_starts() {
    let rig = Rig::new();
    let profile = rig.profile(SMALL);
    let ended = rig.run(&["run", profile, "--results", "drill.toml/results"]);
    is_a_trouble(&ended, "E04");
    assert!(ended.stderr.contains("drill.toml/results"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("lab ready"), "{}", ended.stderr);
}
