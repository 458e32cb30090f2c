//! Real drivers at real servers, as steps; what one wire has seen names steps of another.

use std::net::{Ipv4Addr, SocketAddr};

use dupeproof::history::{InstanceId, Wire};
use redis::{AsyncCommands, Client, Script};
use sqlx::{Connection, PgConnection};

use crate::lab::Ground;
use crate::watched::Watched;

fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

#[tokio::test]
async fn an_order_by_sqlx_and_the_redis_crate_is_told_step_by_step() {
    let ground = Ground::start().await;
    let mut direct = PgConnection::connect(&ground.lab.postgres_url).await.unwrap();
    let tables = "CREATE TABLE orders (user_id text, n int8, owner text); CREATE SCHEMA shop; \
        CREATE TABLE shop.stock (product int8, n int8); INSERT INTO shop.stock VALUES (9000000, 5)";
    sqlx::raw_sql(tables).execute(&mut direct).await.unwrap();
    let watched = Watched::servers(vec![
        (Wire::Redis, local(ground.redis_port()), Some(0)),
        (Wire::Postgres, local(ground.postgres_port()), Some(0)),
        (Wire::Postgres, local(ground.postgres_port()), Some(1)),
    ])
    .await;
    watched.expect_two().await;

    let client = Client::open(format!("redis://{}/", watched.address(0))).unwrap();
    let mut redis = client.get_multiplexed_async_connection().await.unwrap();
    let owner = "owner-0123456789";
    let _: bool = redis.set_nx("idem:u-run-000:k-run-000", owner).await.unwrap();
    let lock = "lock:stock:9000000";
    let mut grant = redis::cmd("SET");
    let grant = grant.arg(lock).arg("tok-0123456789").arg("PX").arg(30_000).arg("NX");
    let _: () = grant.query_async(&mut redis).await.unwrap();

    for door in [1, 2] {
        let url = format!("postgres://postgres@{}/postgres?sslmode=disable", watched.address(door));
        let mut connection = PgConnection::connect(&url).await.unwrap();
        let mut transaction = connection.begin().await.unwrap();
        let take = "UPDATE shop.stock SET n = n - 1 WHERE product = $1";
        sqlx::query(take).bind(9_000_000_i64).execute(&mut *transaction).await.unwrap();
        let insert = "INSERT INTO orders VALUES ('somebody', $1, $2)";
        sqlx::query(insert).bind(1_i64).bind(owner).execute(&mut *transaction).await.unwrap();
        transaction.commit().await.unwrap();
        connection.close().await.unwrap();
    }

    let unlock = Script::new(
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
    );
    let mut unlock = unlock.key(lock);
    for _ in 0..2 {
        let _: i64 = unlock.arg("tok-0123456789").invoke_async(&mut redis).await.unwrap();
    }
    drop(redis);
    let seen = watched.end().await;
    let of_order = |tx: u32| {
        [
            format!("postgres BEGIN in {tx}: done BEGIN, open"),
            format!("postgres UPDATE shop.stock (stock-write) in {tx}: done UPDATE 1, open"),
            format!("postgres INSERT orders (order-insert) of 0 in {tx}: done INSERT 0 1, open"),
            format!("postgres COMMIT (commit) of 0 in {tx}: done COMMIT, idle"),
        ]
    };
    let told = seen.told();
    assert_eq!(
        &told[..2],
        ["redis SETNX idem (claim) of 0: done 1", "redis SET lock:stock (lock): done OK",]
    );
    assert_eq!(told[2..6], of_order(1));
    assert_eq!(told[6..10], of_order(1), "each connection counts its own");
    assert_eq!(
        &told[10..],
        [
            "redis EVAL unlock lock:stock (unlock): done 1",
            "redis EVAL unlock lock:stock (unlock): done 0",
        ]
    );
    let instances: Vec<_> = seen.history.links.iter().map(|link| link.instance).collect();
    assert_eq!(instances.iter().filter(|it| **it == Some(InstanceId(1))).count(), 1);
    assert!(
        seen.history.links.iter().all(|link| (link.wire == Wire::Redis) == link.backend.is_none())
    );
    assert!(seen.wires.iter().all(|wire| wire.unnamed.is_empty() && wire.unread == 0));
    direct.close().await.unwrap();
    ground.stop().await;
}
