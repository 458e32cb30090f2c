//! What the drivers told their applications when this was first measured, by the first and the last of
//! its attempts. Other versions may tell other things, which are written down and hold nothing up.

use dupeproof::profile::Loss;

use super::cases::Case;
use super::scenes::{Driver, Told, Way};

/// What they have said before, and whether a fault that doesn't end had to be healed for it.
struct Expected {
    first: &'static str,
    last: &'static str,
    needs_help: bool,
}

/// What differs from what was told before, in words; the same version has to say the same.
pub fn compare(driver: Driver, way: Way, case: Case, told: &Told, was_helped: bool) -> String {
    let Expected { first, last, needs_help } = expected(driver, case);
    let of = |attempt: Option<&String>| attempt.map(String::as_str).unwrap_or_default().to_owned();
    let found = (of(told.attempts.first()), of(told.attempts.last()), was_helped);
    let is_equal = found == (first.to_owned(), last.to_owned(), needs_help);
    let known = known_version(driver);
    let is_known = told.version == known || known.is_empty();
    assert!(is_equal || !is_known, "{driver:?} {way:?} {case:?}: {told:?}, helped: {was_helped}");
    if is_equal { String::new() } else { format!(", unlike {known}: {first}; then {last}") }
}

fn expected(driver: Driver, case: Case) -> Expected {
    let first = match case {
        Case::Held => {
            return Expected { first: done(driver), last: done(driver), needs_help: true };
        }
        Case::ReplyLost(loss) => lost(driver, loss),
        Case::RequestLost => lost(driver, Loss::Close),
        Case::FirstFails | Case::LastFails => match driver {
            Driver::RedisPy => "ReadOnlyError",
            Driver::Ioredis | Driver::Multiplexed | Driver::ConnectionManager => "READONLY",
            _ => "40001",
        },
        Case::Terminated => match driver {
            Driver::TokioPostgres => "connection closed",
            Driver::Asyncpg => "08003",
            _ => "57P01",
        },
    };
    let recovers = matches!(driver, Driver::Asyncpg | Driver::RedisPy);
    Expected {
        first,
        last: if matches!(case, Case::ReplyLost(_)) { again(driver) } else { done(driver) },
        needs_help: !(recovers && case == Case::ReplyLost(Loss::Stall)),
    }
}

const fn is_of_redis(driver: Driver) -> bool {
    use Driver::{ConnectionManager, Ioredis, Multiplexed, RedisPy};
    matches!(driver, RedisPy | Ioredis | Multiplexed | ConnectionManager)
}

/// It was done by this attempt.
const fn done(driver: Driver) -> &'static str {
    if is_of_redis(driver) { "1" } else { "placed" }
}

/// It had been done by an earlier one.
const fn again(driver: Driver) -> &'static str {
    if is_of_redis(driver) { "0" } else { "23505" }
}

/// The reply of the last step was lost.
const fn lost(driver: Driver, loss: Loss) -> &'static str {
    match (driver, loss) {
        (Driver::Sqlx, Loss::Close) => "Io UnexpectedEof",
        (Driver::Sqlx, Loss::Reset) => "Io ConnectionReset",
        (Driver::Sqlx | Driver::TokioPostgres, Loss::Stall) => "given up",
        (Driver::TokioPostgres, _) => "connection closed",
        (Driver::Psycopg, _) => "OperationalError, closed",
        (Driver::Asyncpg, Loss::Stall) => "TimeoutError",
        (Driver::Asyncpg, _) => "08003",
        (Driver::NodePg, Loss::Close) => "Connection terminated unexpectedly",
        (Driver::NodePg, _) => "ECONNRESET",
        // They ask again by themselves, and their applications never hear of it.
        (Driver::RedisPy, _) | (Driver::Ioredis, Loss::Close | Loss::Reset) => "0",
        (Driver::Ioredis, Loss::Stall) => "Command timed out",
        (Driver::Multiplexed | Driver::ConnectionManager, Loss::Close) => "broken pipe",
        (Driver::Multiplexed | Driver::ConnectionManager, Loss::Reset) => {
            "Connection reset by peer (os error 104)"
        }
        (Driver::Multiplexed | Driver::ConnectionManager, Loss::Stall) => "timed out",
    }
}

/// Those of Rust are as `Cargo.lock` has them.
const fn known_version(driver: Driver) -> &'static str {
    match driver {
        Driver::Psycopg => "3.3.9",
        Driver::Asyncpg => "0.32.0",
        Driver::NodePg => "8.23.1",
        Driver::RedisPy => "8.1.0",
        Driver::Ioredis => "6.0.0",
        Driver::Sqlx | Driver::TokioPostgres => "",
        Driver::Multiplexed | Driver::ConnectionManager => "",
    }
}
