//! What applications are told when rules meet their drivers, and what is in the servers then.
//!
//! Each driver places an order through a pool of one connection, or gives back a lease, while a rule
//! waits at one step of it; what it can't be certain of it tries again with the same key. In the end there is
//! exactly one order, and the pool can be used. The drivers of Rust are tried by `cargo test`; those of
//! Python and Node need packages: `make drivers` installs them, tries all, and writes
//! `docs/measured/drivers.md`.

mod cases;
mod expected;
mod orders;
mod page;
mod redis_rs;
mod scenes;
mod sqlx;
mod tokio_postgres;
mod unlocks;

use cases::{Case, LOSSES};
use scenes::{Driver, Way};

/// The cases of a driver of PostgreSQL.
fn orders() -> Vec<Case> {
    let mut cases = vec![Case::Held];
    cases.extend(LOSSES.map(Case::ReplyLost));
    cases.extend([Case::RequestLost, Case::FirstFails, Case::LastFails, Case::Terminated]);
    cases
}

/// The cases of a driver of Redis.
fn unlocks() -> Vec<Case> {
    let mut cases = vec![Case::Held];
    cases.extend(LOSSES.map(Case::ReplyLost));
    cases.push(Case::LastFails);
    cases
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_of_rust_are_placed_once_whatever_their_driver_is_told() {
    for driver in [Driver::Sqlx, Driver::TokioPostgres] {
        orders::try_all(driver, Way::Plain, &orders()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn leases_of_rust_are_given_back_once_whatever_their_driver_is_told() {
    for driver in [Driver::Multiplexed, Driver::ConnectionManager] {
        unlocks::try_all(driver, &unlocks()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs packages of Python and Node: make drivers"]
async fn orders_of_python_and_node_are_placed_once_whatever_their_driver_is_told() {
    for driver in [Driver::Psycopg, Driver::Asyncpg, Driver::NodePg] {
        orders::try_all(driver, Way::Plain, &orders()).await;
    }
    let in_pipeline = [Case::Held, Case::FirstFails, Case::LastFails];
    orders::try_all(Driver::Psycopg, Way::Pipeline, &in_pipeline).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs packages of Python and Node: make drivers"]
async fn node_pg_without_a_listener_exits_and_places_its_order_when_it_is_started_again() {
    orders::exits(Driver::NodePg, Way::Deaf, Case::ReplyLost(LOSSES[0])).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs packages of Python and Node: make drivers"]
async fn leases_of_python_and_node_are_given_back_once_whatever_their_driver_is_told() {
    for driver in [Driver::RedisPy, Driver::Ioredis] {
        unlocks::try_all(driver, &unlocks()).await;
    }
}
