//! `make bench`: what a drill costs, as ratios within one run.
//!
//! Spread of a key's last bytes at the client against the cost of 20 sends on connections of the
//! same kind (the floor: loopback runs the receiver inside `send`); CPU of dupeproof's own process
//! against that of everything that it drills. Both are read from real drills of
//! `profiles/checkout.toml`; absolute times of a shared machine say little.

#![expect(clippy::print_stdout, reason = "a bench speaks to whoever runs it")]

use std::process::{Command, Stdio};

use serde_json::Value;

const RUNS: usize = 5;

struct Run {
    spread: f64,
    floor: f64,
    offered: u64,
    attempts: f64,
    own_cpu: f64,
    all_cpu: f64,
}

fn main() {
    let results = tempfile::tempdir().expect("a temporary folder");
    let runs: Vec<Run> = (0..RUNS).map(|_| drill(results.path())).collect();
    let median = |value: fn(&Run) -> f64| {
        let mut values: Vec<f64> = runs.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    println!("checkout.toml, 200 keys x 20, frozen release, median of {RUNS} runs");
    println!("  spread at the median key          {:>8.0} us", median(|run| run.spread));
    println!("  20 sends, same run                {:>8.0} us", median(|run| run.floor));
    println!("  ratio (at most 2.0)               {:>8.2}", median(|run| run.spread / run.floor));
    println!("  offered at the median key         {:>8.0} of 20", median(|run| run.offered as f64));
    println!(
        "  CPU of dupeproof per 100,000      {:>8.2} s",
        median(|run| run.own_cpu / run.attempts * 100_000.0)
    );
    println!(
        "  share of the drill's whole CPU    {:>8.2}",
        median(|run| run.own_cpu / run.all_cpu)
    );
}

fn drill(results: &std::path::Path) -> Run {
    let before = cpu_of_children();
    let mut child = Command::new(env!("CARGO_BIN_EXE_dupeproof"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["run", "profiles/checkout.toml", "--format", "json", "--results"])
        .arg(results)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("dupeproof runs");
    let stdout = child.stdout.take().expect("it is piped");
    let result: Value = serde_json::from_reader(stdout).expect("its result is JSON");
    // Read after its result, before it is waited for: the process is a zombie or about to be one,
    // and its own times are complete.
    let own_cpu = own_cpu(child.id());
    child.wait().expect("it ends");
    let burst = &result["bursts"][0];
    let number = |value: &Value| value.as_f64().expect("the result has the figure");
    Run {
        spread: number(&burst["spread_median_us"]),
        floor: number(&burst["twenty_sends_us"]),
        offered: burst["in_flight_median"].as_u64().expect("the result has the figure"),
        attempts: number(&result["accounting"]["attempts"]),
        own_cpu,
        all_cpu: cpu_of_children() - before,
    }
}

/// User and system seconds of one process, without its children.
fn own_cpu(pid: u32) -> f64 {
    let stat =
        std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it isn't waited for yet");
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    ticks(fields[11]) + ticks(fields[12])
}

/// User and system seconds of all children that were waited for, and theirs.
fn cpu_of_children() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("this is Linux");
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    ticks(fields[13]) + ticks(fields[14])
}

/// The kernel counts in hundredths of a second for user space.
fn ticks(field: &str) -> f64 {
    field.parse::<f64>().expect("a number") / 100.0
}
