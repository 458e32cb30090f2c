//! A private PostgreSQL and a private Redis for the bench.

use std::path::Path;

use dupeproof::guard::Guard;
use dupeproof::lab::{Lab, LabSpec};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};
use tokio::runtime::Runtime;

use crate::cases::{Tools, fill};

/// Where everything runs when it is to run on one CPU.
const ONE_CPU: usize = 0;

pub struct Ground {
    runtime: Runtime,
    lab: Lab,
    guard: Guard,
    pub folder: tempfile::TempDir,
    pub postgres: u16,
    pub redis: u16,
}

impl Ground {
    pub fn start(tools: &Tools) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let spec = LabSpec { instances: 0, ..LabSpec::new(folder.path().join("logs")) };
        let runtime = Runtime::new().unwrap();
        let (lab, guard) = runtime.block_on(async {
            let program = Path::new(env!("CARGO_BIN_EXE_dupeproof"));
            let guard = Guard::start(program).await.unwrap();
            (Lab::start(spec, &guard).await.unwrap(), guard)
        });
        let (postgres, redis) = (port(&lab.postgres_url), port(&lab.redis_url));
        fill(&tools.pgbench, postgres);
        Self { runtime, lab, guard, folder, postgres, redis }
    }

    /// Keeps the servers on one CPU from now on; a connection's process of PostgreSQL inherits it.
    pub fn pin(&self) {
        [self.lab.postgres.pid, self.lab.redis.pid].into_iter().for_each(pin_process);
    }

    pub fn stop(self) {
        let Self { runtime, lab, guard, .. } = self;
        runtime.block_on(async {
            lab.stop().await.unwrap();
            guard.finish().await.unwrap();
        });
    }
}

/// Keeps all threads of a process on one CPU.
pub fn pin_process(pid: u32) {
    for thread in std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten() {
        let id = thread.file_name().to_string_lossy().parse().unwrap();
        pin(Pid::from_raw(id));
    }
}

/// Keeps a thread on one CPU; none is the one that asks.
pub fn pin(thread: Option<Pid>) {
    let mut cpus = CpuSet::new();
    cpus.set(ONE_CPU);
    sched_setaffinity(thread, &cpus).unwrap();
}

fn port(url: &str) -> u16 {
    let digits = url.rsplit(':').next().unwrap().chars().take_while(char::is_ascii_digit);
    digits.collect::<String>().parse().unwrap()
}
