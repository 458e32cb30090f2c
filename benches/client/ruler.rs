//! The ruler: CPU time of child processes, as the kernel tells it (proc_pid_stat(5)).

use std::process::Command;

/// Clock ticks a second; the kernel's interface has had this value on Linux ever since.
const TICKS: f64 = 100.0;

/// CPU seconds for 100,000 requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub user: f64,
    pub system: f64,
}

impl Cost {
    pub fn total(&self) -> f64 {
        self.user + self.system
    }
}

/// Runs a program on the first core; what it cost for so many requests, which its output tells.
pub fn measure(command: &mut Command, requests: impl Fn(&str) -> Option<u64>) -> Option<Cost> {
    let before = children();
    let output = command.output().ok()?;
    let after = children();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let Some(requests) = requests(&said).filter(|_| output.status.success()) else {
        panic!("{command:?} failed: {said}{}", String::from_utf8_lossy(&output.stderr));
    };
    let per = 100_000.0 / requests as f64;
    Some(Cost { user: (after.0 - before.0) * per, system: (after.1 - before.1) * per })
}

/// A command that is pinned to the first core.
pub fn pinned(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", "0"]).arg(program);
    command
}

/// The middle one by its total.
pub fn median(costs: &[Cost]) -> Option<Cost> {
    let mut costs = costs.to_vec();
    costs.sort_by(|one, other| one.total().total_cmp(&other.total()));
    costs.get(costs.len() / 2).copied()
}

/// User and system seconds of all children that have ended.
fn children() -> (f64, f64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<_> = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().collect();
    let seconds = |place: usize| fields[place].parse::<f64>().unwrap() / TICKS;
    (seconds(13), seconds(14))
}
