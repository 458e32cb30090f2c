//! `make bench`: how exact a burst is and what a drill costs, as ratios within one run.
//!
//! Spread of a key's 20 last bytes at the client against the cost of 20 sends on connections of the
//! same kind (the floor: loopback runs the receiver inside `send`), and the overlap offered, for both
//! releases; CPU of dupeproof's own process against that of everything that it drills. All of it is
//! read from real drills in the lab; absolute times of a shared machine say little.

#![expect(clippy::print_stdout, reason = "a bench speaks to whoever runs it")]

use std::process::{Command, Stdio};

use serde_json::Value;

const RUNS: usize = 5;

const RELEASES: [&str; 2] = ["loop", "frozen"];

/// The burst of `profiles/checkout.toml`, once for each release.
fn profile() -> String {
    let phase = |release: &str| {
        format!(
            "[[phase]]\nname = '{release}'\n\
             burst.same-key = {{ users = 200, threads = 20, release = '{release}' }}\n"
        )
    };
    RELEASES.map(phase).concat()
}

struct Release {
    median: f64,
    worst: f64,
    floor: f64,
    offered: f64,
    offered_worst: f64,
}

struct Run {
    releases: Vec<Release>,
    attempts: f64,
    own_cpu: f64,
    all_cpu: f64,
}

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("bench.toml"), profile()).expect("the folder is ours");
    let runs: Vec<Run> = (0..RUNS).map(|_| drill(folder.path())).collect();
    println!("200 keys x 20, median of {RUNS} runs");
    println!("  {:<38} {:>8} {:>8}", "", RELEASES[0], RELEASES[1]);
    let row = |name: &str, value: fn(&Release) -> f64, unit: &str, decimals: usize| {
        let of = |place: usize| median(runs.iter().map(|run| value(&run.releases[place])));
        println!("  {name:<38} {:>8.decimals$} {:>8.decimals$} {unit}", of(0), of(1));
    };
    row("spread of a key, at the median key", |one| one.median, "us", 0);
    row("at the worst key", |one| one.worst, "us", 0);
    row("20 sends, same run", |one| one.floor, "us", 0);
    row("median to 20 sends (at most 2.0)", |one| one.median / one.floor, "", 2);
    row("overlap offered, at the median key", |one| one.offered, "of 20", 0);
    row("at the worst key", |one| one.offered_worst, "of 20", 0);
    let per = median(runs.iter().map(|run| run.own_cpu / run.attempts * 100_000.0));
    let share = median(runs.iter().map(|run| run.own_cpu / run.all_cpu));
    println!("  CPU of dupeproof for 100,000 attempts  {per:>8.2} s");
    println!("  share of the drill's whole CPU         {share:>8.2}");
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn drill(folder: &std::path::Path) -> Run {
    let before = cpu_of_children();
    let mut child = Command::new(env!("CARGO_BIN_EXE_dupeproof"))
        .current_dir(folder)
        .args(["run", "bench.toml", "--format", "json"])
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
    let figure = |value: &Value| value.as_f64().expect("the result has the figure");
    let release = |place: usize| {
        let burst = &result["bursts"][place];
        Release {
            median: figure(&burst["spread_median_us"]),
            worst: figure(&burst["spread_worst_us"]),
            floor: figure(&burst["twenty_sends_us"]),
            offered: figure(&burst["in_flight_median"]),
            offered_worst: figure(&burst["in_flight_worst"]),
        }
    };
    Run {
        releases: (0..RELEASES.len()).map(release).collect(),
        attempts: figure(&result["accounting"]["attempts"]),
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
