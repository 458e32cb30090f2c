//! Waiting for a condition, never for time.

use std::time::{Duration, Instant};

/// Looks again and again until it is so; what it saw last, when it isn't so in time.
pub fn until<T>(limit: Duration, mut look: impl FnMut() -> Result<T, String>) -> T {
    let deadline = Instant::now() + limit;
    loop {
        match look() {
            Ok(found) => return found,
            Err(seen) => assert!(Instant::now() < deadline, "after {limit:?}: {seen}"),
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
