//! The guard, the lab and pauses, with real processes: what comes up, and that nothing is left.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like the tests themselves")]

#[path = "../common/backends.rs"]
mod backends;
#[path = "../common/footprint.rs"]
mod footprint;
mod guarding;
mod killing;
mod pausing;
mod running;
mod shops;
mod starting;

use std::path::Path;
use std::time::{Duration, Instant};

use dupeproof::guard::Guard;

const EXE: &str = env!("CARGO_BIN_EXE_dupeproof");

async fn guard() -> Guard {
    Guard::start(Path::new(EXE)).await.expect("the guard starts")
}

/// Looks again and again until it is so; what it saw last, when it isn't so in time.
async fn until<T>(limit: Duration, mut look: impl FnMut() -> Result<T, String>) -> T {
    let deadline = Instant::now() + limit;
    loop {
        match look() {
            Ok(found) => return found,
            Err(seen) => assert!(Instant::now() < deadline, "after {limit:?}: {seen}"),
        }
        tokio::time::sleep(Duration::from_millis(4)).await;
    }
}
