//! A steady load of a million attempts needs no more memory than one of a hundred thousand.
//!
//! The load is alone in a process of its own, the server in another one, so that nothing else is
//! weighed. Every reply has a body of its own, which is the worst case: nothing can be shared.

use std::fmt::Write;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dupeproof::profile::{Burst, ClientSettings, Rate};

use crate::measured;
use crate::other::Other;
use crate::rig::{Rig, client, targets};

const ROLE: &str = "DUPEPROOF_SOAK_STEADY";
const ATTEMPTS: u32 = 1_000_000;
/// When memory is looked at.
const MARKS: [u32; 3] = [100_000, 500_000, ATTEMPTS];
/// What a load may grow by from the first mark to the last.
const GROWTH_KIB: u64 = 16 * 1024;

/// Memory of this process, in KiB: `VmRSS`, or `VmHWM` for the most there has been.
fn memory(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().unwrap()
}

/// Not a test but the load, where the variable says so; a test run passes through.
#[test]
fn load_of_another_process() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let other = Other::start(1);
        // All of it is due at once: the target is asked as fast as it answers.
        let patient = ClientSettings { timeout: Duration::from_secs(3_600), ..client() };
        let rate = Rate {
            per_second: ATTEMPTS,
            lasts: Duration::from_secs(1),
            duplicate_share: 0.1,
            quantity: 1,
            request: 0,
        };
        let mut rig = Rig::new(targets(&[other.address]), patient).await;
        let progress = Arc::clone(&rig.progress);
        let begun = Instant::now();
        let watching = async {
            for mark in MARKS {
                while progress.now().answered < u64::from(mark) {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                println!("\nfigures {mark} {} {}", memory("VmRSS"), begun.elapsed().as_secs());
            }
        };
        let burst = Burst::Rate(rate);
        let (summary, ()) = tokio::join!(rig.phase(&burst, None), watching);
        assert_eq!(summary.unwrap().tally.acknowledged, u64::from(ATTEMPTS));
        println!("\npeak {}", memory("VmHWM"));
    });
}

#[test]
#[ignore = "a minute long: make soak"]
fn the_memory_of_a_million_attempts_is_flat() {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "steady::load_of_another_process", "--nocapture"])
        .env(ROLE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{said}");
    let numbers =
        |line: &str| -> Vec<u64> { line.split(' ').map(|word| word.parse().unwrap()).collect() };
    let marks: Vec<_> =
        said.lines().filter_map(|line| line.strip_prefix("figures ")).map(numbers).collect();
    let peak = numbers(said.lines().find_map(|line| line.strip_prefix("peak ")).unwrap())[0];
    assert_eq!(marks.len(), MARKS.len());
    // The kernel counts in batches for each thread, so that its peak may lag behind.
    let peak = marks.iter().map(|mark| mark[1]).fold(peak, u64::max);
    let mut page = String::from(
        "A `rate` phase of 1,000,000 attempts, one in ten of them a repeat, 512 in flight, asked as \
         fast as the target answers; every reply has a body of its own. Resident memory of the \
         load's own process, its journal included; the target is another process.\n\n\
         | attempts | resident, MiB | seconds |\n|---|---|---|\n",
    );
    for mark in &marks {
        let _ = writeln!(page, "| {} | {} | {} |", mark[0], tenths(mark[1]), mark[2]);
    }
    let _ = writeln!(page, "\nThe most there was, from beginning to end: {} MiB.", tenths(peak));
    println!("{page}");
    assert!(peak < marks[0][1] + GROWTH_KIB, "{} KiB became {peak}", marks[0][1]);
    measured::write("steady.md", "Memory of a steady load", &page);
}

fn tenths(kib: u64) -> String {
    let tenths = kib * 10 / 1_024;
    format!("{}.{}", tenths / 10, tenths % 10)
}
