//! dupeproof is killed at a random moment of a drill, again and again: nothing of it is left.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::footprint::Footprint;
use crate::measured;
use crate::waiting::until;

const KILLS: usize = 20;
/// From before the guard's start to the middle of the third burst.
const LATEST: Duration = Duration::from_secs(5);
const GONE: Duration = Duration::from_secs(2);

const PROFILE: &str = "
[[phase]]
name = 'first'
burst.same-key = { users = 20, threads = 5 }
[[phase]]
name = 'second'
burst.same-key = { users = 200, threads = 20 }
[[phase]]
name = 'third'
burst.same-key = { users = 200, threads = 20 }
[[phase]]
name = 'fourth'
burst.same-key = { users = 200, threads = 20 }
";

struct Killed {
    at: Duration,
    /// What the drill was doing.
    stage: &'static str,
    gone_after: Duration,
}

#[test]
#[ignore = "minutes long: make soak"]
fn a_kill_at_any_moment_of_a_drill_leaves_nothing() {
    let mut moments = ChaCha8Rng::seed_from_u64(42);
    let latest = u64::try_from(LATEST.as_millis()).expect("seconds");
    let killed: Vec<Killed> = (0..KILLS)
        .map(|_| kill_after(Duration::from_millis(moments.random_range(0..latest))))
        .collect();
    measured::write("kills.md", "SIGKILL at random moments of a drill", &page(&killed));
}

fn kill_after(at: Duration) -> Killed {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let temporary = folder.path().join("tmp");
    fs::create_dir(&temporary).expect("the folder is ours");
    for path in [folder.path(), &temporary] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).expect("the folder is ours");
    }
    fs::write(folder.path().join("drill.toml"), PROFILE).expect("the folder is ours");
    let said = folder.path().join("stderr");
    let mut child = Command::new(env!("CARGO_BIN_EXE_dupeproof"))
        .args(["run", "drill.toml"])
        .current_dir(folder.path())
        .env("TMPDIR", &temporary)
        .stdout(Stdio::null())
        .stderr(File::create(&said).expect("the folder is ours"))
        .spawn()
        .expect("dupeproof starts");
    let begun = Instant::now();
    let mut footprint = Footprint::of(&temporary);
    // Time itself is the subject; meanwhile we remember what we see.
    while begun.elapsed() < at {
        footprint.look();
    }
    let has_ended = child.try_wait().expect("it is our child").is_some();
    assert!(!has_ended, "the drill was over before {at:?}");
    let (at, killed) = (begun.elapsed(), Instant::now());
    child.kill().expect("it is our child");
    child.wait().expect("it is our child");
    until(GONE, || footprint.left());
    let gone_after = killed.elapsed();
    assert!(gone_after < GONE, "{gone_after:?}");
    let said = fs::read_to_string(said).expect("the folder is ours");
    Killed { at, stage: stage(&said, &footprint), gone_after }
}

fn stage(said: &str, footprint: &Footprint) -> &'static str {
    let is_up = said.contains("lab ready");
    match said.lines().last() {
        Some(line) if line.contains("waiting until") => "coming to rest",
        Some(line) if line.contains("judging") => "judging",
        Some(line) if line.contains("attempts") => "a burst",
        _ if is_up => "between bursts",
        _ if footprint.find("initdb").is_some() => "starting the lab",
        _ => "before the lab",
    }
}

fn page(killed: &[Killed]) -> String {
    let mut by_stage: BTreeMap<&str, Vec<&Killed>> = BTreeMap::new();
    for one in killed {
        by_stage.entry(one.stage).or_default().push(one);
    }
    let mut page = format!(
        "{} drills (three bursts of 4,000 requests behind a small one), each killed at a random \
         moment. Looked for: processes (zombies apart), listening ports, temporary folders, System V \
         segments, files in /dev/shm. Left within {} s, in all of them: none.\n\n\
         | while | kills | killed at, s | all gone after, ms |\n|---|---|---|---|\n",
        killed.len(),
        GONE.as_secs(),
    );
    for (stage, kills) in by_stage {
        let at = |one: &&Killed| one.at.as_millis() / 100;
        let gone = |one: &&Killed| one.gone_after.as_millis();
        let tenths = |value: u128| format!("{}.{}", value / 10, value % 10);
        let _ = writeln!(
            page,
            "| {stage} | {} | {} | {} |",
            kills.len(),
            range(kills.iter().map(at).collect(), tenths),
            range(kills.iter().map(gone).collect(), |value| value.to_string()),
        );
    }
    page.push_str("\nRanges are lowest - median - highest.\n");
    page
}

fn range(mut values: Vec<u128>, tell: impl Fn(u128) -> String) -> String {
    values.sort_unstable();
    match values.as_slice() {
        [] => "-".to_owned(),
        [one] => tell(*one),
        _ => [values[0], values[values.len() / 2], values[values.len() - 1]].map(tell).join(" - "),
    }
}
