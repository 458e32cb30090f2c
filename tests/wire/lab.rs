//! A real PostgreSQL and a real Redis for a test.

use std::path::Path;

use dupeproof::guard::Guard;
use dupeproof::lab::{Lab, LabSpec};

use crate::relay::Log;

pub struct Ground {
    pub lab: Lab,
    guard: Guard,
    _logs: tempfile::TempDir,
}

impl Ground {
    pub async fn start() -> Self {
        let logs = tempfile::tempdir().unwrap();
        let guard = Guard::start(Path::new(env!("CARGO_BIN_EXE_dupeproof"))).await.unwrap();
        let spec = LabSpec { instances: 0, ..LabSpec::new(logs.path().join("logs")) };
        let lab = Lab::start(spec, &guard).await.unwrap();
        Self { lab, guard, _logs: logs }
    }

    pub fn postgres_port(&self) -> u16 {
        port(&self.lab.postgres_url)
    }

    pub fn redis_port(&self) -> u16 {
        port(&self.lab.redis_url)
    }

    pub async fn stop(self) {
        self.lab.stop().await.unwrap();
        self.guard.finish().await.unwrap();
    }
}

pub fn port(url: &str) -> u16 {
    let digits = url.rsplit(':').next().unwrap().chars().take_while(char::is_ascii_digit);
    digits.collect::<String>().parse().unwrap()
}

/// Cuts to try on what was recorded: as large as may be, as small as may be, and odd ones.
pub fn cuts_of(log: &Log) -> Vec<Vec<usize>> {
    let sizes = log.iter().map(|(_, bytes)| bytes.len()).collect();
    vec![sizes, vec![usize::MAX], vec![1], vec![1, 5, 4096, 2, 13, 700]]
}
