//! How often, and after which pause, a transaction is tried again that PostgreSQL rolled back for
//! the sake of another one (40001, 40P01).

use std::time::Duration;

use tokio::time::sleep;

/// Enough for a crowd at one row; more would be a wait without a bound.
pub const TRANSACTION_TRIES: u32 = 10;

pub async fn back_off(tries: u32) {
    sleep(pause(tries)).await;
}

/// Random within a window that grows by 4 ms a try, so that rivals don't meet again.
fn pause(tries: u32) -> Duration {
    Duration::from_millis(4).saturating_mul(tries).mul_f64(rand::random_range(0.25..1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tries_together_take_less_than_a_lease() {
        let longest: Duration = (1..TRANSACTION_TRIES).map(pause).sum();
        assert!(longest < Duration::from_millis(200), "{longest:?}");
    }
}
