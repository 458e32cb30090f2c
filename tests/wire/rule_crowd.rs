//! Many holds at once, and one in the way of somebody else: none is lost, and none waits for ever.

use std::collections::VecDeque;
use std::time::Duration;

use dupeproof::history::{FaultEvent, FiringEnd, IntentId, StepPoint, Wire};
use dupeproof::profile::Which;
use dupeproof::wire::{HoldId, Rule};
use redis::{AsyncConnectionConfig, AsyncTypedCommands, Client};
use sqlx::postgres::PgPoolOptions;
use sqlx::{Connection, PgConnection, PgPool};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::armed::{HOLD, Notices, rule};
use crate::drivers::local;
use crate::ends::LIMIT;
use crate::lab::Ground;
use crate::watched::Watched;

/// A PostgreSQL on which every COMMIT is held.
async fn held(ground: &Ground) -> (Watched, PgConnection) {
    let server = local(ground.postgres_port());
    let watched = Watched::servers(vec![(Wire::Postgres, server, None)]).await;
    let mut direct = PgConnection::connect(&ground.lab.postgres_url).await.unwrap();
    let table = "CREATE TABLE placed (key int PRIMARY KEY)";
    sqlx::raw_sql(table).execute(&mut direct).await.unwrap();
    (watched, direct)
}

fn every_commit() -> Rule {
    let mut every = rule(StepPoint::Before, Wire::Postgres, "COMMIT", HOLD);
    every.at.which = Which::Every;
    every
}

async fn pool(watched: &Watched, size: u32) -> PgPool {
    let address = watched.address(0);
    let url = format!("postgres://postgres@{address}/postgres?sslmode=disable");
    let options = PgPoolOptions::new().max_connections(size).acquire_timeout(LIMIT);
    options.connect(&url).await.unwrap()
}

async fn place(pool: PgPool, key: i32) -> Result<(), sqlx::Error> {
    let mut transaction = pool.begin().await?;
    let insert = "INSERT INTO placed VALUES ($1)";
    sqlx::query(insert).bind(key).execute(&mut *transaction).await?;
    transaction.commit().await
}

async fn rows(direct: &mut PgConnection) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM placed").fetch_one(direct).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_commits_are_held_at_once_and_all_are_let_go() {
    const MANY: i32 = 200;
    let ground = Ground::start().await;
    let (mut watched, mut direct) = held(&ground).await;
    let (mut notices, armed) = Notices::of(&mut watched, vec![every_commit()]).await;
    let pool = pool(&watched, 200).await;
    let mut placing = JoinSet::new();
    for key in 0..MANY {
        placing.spawn(place(pool.clone(), key));
    }
    let mut holds = Vec::new();
    for _ in 0..MANY {
        holds.extend(notices.fired().await.0.hold);
    }
    assert_eq!((holds.len(), rows(&mut direct).await), (200, 0));
    assert!(placing.try_join_next().is_none(), "nobody is told anything");
    // One half by name, the last ones first; the other half by taking the rule back.
    for hold in holds.iter().rev().take(100) {
        watched.proxies().release(*hold, FiringEnd::OthersAnswered).await.unwrap();
    }
    watched.proxies().heal(armed).await.unwrap();
    while let Some(placed) = timeout(LIMIT, placing.join_next()).await.expect("nobody waits") {
        placed.unwrap().unwrap();
    }
    assert_eq!(rows(&mut direct).await, 200);
    pool.close().await;
    watched.end().await;
    let (mut released, mut healed, mut effects) = (0, 0, 0);
    while !notices.is_closed() {
        match notices.next().await.facts.event {
            FaultEvent::Ended { how: FiringEnd::OthersAnswered, .. } => released += 1,
            FaultEvent::Ended { how: FiringEnd::Healed, .. } => healed += 1,
            FaultEvent::Effect { .. } => effects += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((released, healed, effects), (100, 100, 200));
    direct.close().await.unwrap();
    ground.stop().await;
}

/// 20 connections for 400 attempts at 20 keys: those that are held, those that wait for a row of
/// theirs, and those that wait for a connection.
#[tokio::test(flavor = "multi_thread")]
async fn holds_queue_where_connections_are_few_and_nobody_waits_for_ever() {
    let ground = Ground::start().await;
    let (mut watched, mut direct) = held(&ground).await;
    let (mut notices, armed) = Notices::of(&mut watched, vec![every_commit()]).await;
    let pool = pool(&watched, 20).await;
    let mut placing = JoinSet::new();
    for attempt in 0..400 {
        placing.spawn(place(pool.clone(), attempt / 20));
    }
    let (mut placed, mut refused) = (0, 0);
    let mut standing: VecDeque<HoldId> = VecDeque::new();
    let all = async {
        while placed + refused < 400 {
            tokio::select! {
                notice = notices.next() => standing.extend(notice.hold),
                told = placing.join_next() => match told.unwrap().unwrap() {
                    Ok(()) => placed += 1,
                    Err(error) => {
                        let error = error.into_database_error().expect("it is refused");
                        assert_eq!(error.code().as_deref(), Some("23505"));
                        refused += 1;
                    }
                },
                // Nothing has moved for a while: the first one is let go.
                () = tokio::time::sleep(Duration::from_millis(30)) => {
                    if let Some(first) = standing.pop_front() {
                        let how = FiringEnd::OthersBlocked;
                        watched.proxies().release(first, how).await.unwrap();
                    }
                }
            }
        }
    };
    timeout(LIMIT, all).await.expect("nobody waits for ever");
    assert_eq!((placed, refused, rows(&mut direct).await), (20, 380, 20));
    watched.proxies().heal(armed).await.unwrap();
    pool.close().await;
    watched.end().await;
    direct.close().await.unwrap();
    ground.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_stops_what_comes_behind_it_on_its_connection_and_nothing_else() {
    let ground = Ground::start().await;
    let server = local(ground.redis_port());
    let mut watched = Watched::servers(vec![(Wire::Redis, server, None)]).await;
    watched.expect_two().await;
    let client = Client::open(format!("redis://{}/", watched.address(0))).unwrap();
    let patient = AsyncConnectionConfig::new().set_response_timeout(None);
    let shared = client.get_multiplexed_async_connection_with_config(&patient).await.unwrap();
    let mut other = client.get_multiplexed_async_connection_with_config(&patient).await.unwrap();
    other.set("stock:u-run-001", 5).await.unwrap();
    let rules = vec![rule(StepPoint::Before, Wire::Redis, "GET", HOLD)];
    let (mut notices, _armed) = Notices::of(&mut watched, rules).await;
    let ask = |key: &'static str| {
        let mut shared = shared.clone();
        tokio::spawn(async move { shared.get(key).await.unwrap() })
    };
    let first = ask("stock:u-run-000");
    let (notice, firing) = notices.fired().await;
    assert_eq!(firing.step.unwrap().intent, Some(IntentId(0)));
    let mut behind = ask("stock:u-run-001");
    assert!(timeout(Duration::from_millis(100), &mut behind).await.is_err(), "it is in the way");
    assert_eq!(other.get("stock:u-run-001").await.unwrap().as_deref(), Some("5"));
    watched.proxies().release(notice.hold.unwrap(), FiringEnd::OwnHold).await.unwrap();
    assert_eq!(first.await.unwrap(), None);
    assert_eq!(behind.await.unwrap().as_deref(), Some("5"));
    notices.effect().await;
    assert_eq!(notices.ended().await, FiringEnd::OwnHold);
    drop((shared, other));
    let steps = watched.end().await.history.steps;
    let gets: Vec<_> = steps.iter().filter(|step| &*step.verb == "GET").collect();
    // That of the other connection was over first.
    assert_eq!(gets.len(), 3);
    assert!(gets[0].delivered.unwrap() < gets[2].forwarded.unwrap(), "{gets:#?}");
    ground.stop().await;
}
