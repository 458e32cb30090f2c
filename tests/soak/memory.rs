//! A long drill doesn't need more memory than a short one by much: facts go to disk as they happen.

use std::fmt::Write;
use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::measured;
use crate::waiting::until;

const ATTEMPTS: u64 = 100_000;
const LIMIT_KIB: u64 = 150_000_000 / 1024;
const DRILL_LIMIT: Duration = Duration::from_secs(600);

/// Phases of the main drill's burst, on a correct shop.
fn profile(phases: usize) -> String {
    (1..=phases).fold(String::from("client.retries = { at-most = 12 }\n"), |mut text, number| {
        let burst = "burst.same-key = { users = 200, threads = 20 }";
        let _ = writeln!(text, "[[phase]]\nname = 'burst {number}'\n{burst}");
        text
    })
}

struct Drilled {
    attempts: u64,
    peak_kib: u64,
    journal_mib: u64,
    seconds: u64,
}

/// Runs a drill and watches the high-water mark of its own process.
fn drill(phases: usize) -> Drilled {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("drill.toml"), profile(phases)).expect("the folder is ours");
    let output = folder.path().join("stdout");
    let mut child = Command::new(env!("CARGO_BIN_EXE_dupeproof"))
        .args(["run", "drill.toml", "--format", "json"])
        .current_dir(folder.path())
        .stdout(File::create(&output).expect("the folder is ours"))
        .stderr(Stdio::null())
        .spawn()
        .expect("dupeproof starts");
    let status = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    let ended = until(DRILL_LIMIT, || {
        peak_kib = peak_kib.max(high_water_kib(&status));
        child.try_wait().expect("it is our child").ok_or_else(|| "still running".to_owned())
    });
    assert_eq!(ended.code(), Some(0), "a correct shop passes");
    let result = fs::read_to_string(&output).expect("the folder is ours");
    let result: Value = serde_json::from_str(&result).expect("stdout is JSON");
    let journal = folder.path().join("results/latest/journal.jsonl");
    Drilled {
        attempts: result["accounting"]["attempts"].as_u64().expect("a count"),
        peak_kib,
        journal_mib: fs::metadata(journal).expect("the journal is there").len() >> 20,
        seconds: result["run"]["took_ms"].as_u64().expect("a time") / 1_000,
    }
}

/// Peak resident memory; 0 once the process is gone.
fn high_water_kib(status: &str) -> u64 {
    let text = fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[test]
#[ignore = "minutes long: make soak"]
fn a_drill_of_100_000_attempts_stays_below_150_mb() {
    let mut page = String::from(
        "Peak resident memory of dupeproof's own process (VmHWM), from its start to its verdict; \
         the bursts are those of `profiles/checkout.toml`, one after the other.\n\n\
         | bursts | attempts | peak, MiB | journal, MiB | seconds |\n|---|---|---|---|---|\n",
    );
    let drills = [1, 10].map(|phases| (phases, drill(phases)));
    for (phases, Drilled { attempts, peak_kib, journal_mib, seconds }) in &drills {
        let peak = peak_kib >> 10;
        let _ = writeln!(page, "| {phases} | {attempts} | {peak} | {journal_mib} | {seconds} |");
    }
    let (_, long) = &drills[1];
    println!("{page}");
    assert!(long.attempts >= ATTEMPTS, "only {} attempts", long.attempts);
    assert!(long.peak_kib < LIMIT_KIB, "{} KiB", long.peak_kib);
    measured::write("memory.md", "Memory of a long drill", &page);
}
