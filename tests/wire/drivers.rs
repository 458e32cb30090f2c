//! Real drivers and real servers through the proxies: what they get is what they would get directly.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Output;

use dupeproof::history::Wire;
use dupeproof::wire::{Counts, Side};
use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, Client, Script};
use sqlx::postgres::PgPoolCopyExt;
use sqlx::{Connection, PgConnection, PgPool};
use tokio::process::Command;

use crate::ends::{LIMIT, Proxy, proxy_to, until};
use crate::lab::Ground;

pub fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

pub async fn postgres_proxy(ground: &Ground) -> (Proxy, String) {
    let proxy = proxy_to(Wire::Postgres, local(ground.postgres_port())).await;
    // With `prefer` the driver asks for encryption first.
    let url = format!("postgres://postgres@{}/postgres?sslmode=prefer", proxy.address());
    (proxy, url)
}

/// Ends a proxy whose links have all ended by themselves, read to the last byte.
pub async fn finish(proxy: Proxy) -> Counts {
    let counts = until(&proxy, |counts| counts.open == 0).await;
    assert_eq!((counts.opaque, counts.reset, counts.untold), (0, 0, 0), "{counts:?}");
    assert_eq!(counts.frames(Side::Client, "other") + counts.frames(Side::Server, "other"), 0);
    proxy.stop().await.unwrap();
    counts
}

/// What an order service does, and everything that it is told.
async fn use_postgres(url: &str) -> Vec<String> {
    let mut told = Vec::new();
    let mut connection = PgConnection::connect(url).await.unwrap();
    let table = "CREATE TABLE orders (id int8 PRIMARY KEY, name text)";
    sqlx::raw_sql(table).execute(&mut connection).await.unwrap();
    for id in [1_i64, 2, 1] {
        let mut transaction = connection.begin().await.unwrap();
        let insert = "INSERT INTO orders VALUES ($1, $2) RETURNING id + 1";
        let inserted: Result<i64, _> =
            sqlx::query_scalar(insert).bind(id).bind("x").fetch_one(&mut *transaction).await;
        told.push(format!("{inserted:?}"));
        match inserted {
            Ok(_) => transaction.commit().await.unwrap(),
            Err(_) => transaction.rollback().await.unwrap(),
        }
    }
    told.push(format!("{:?}", sqlx::raw_sql("SELECT nonsense").execute(&mut connection).await));
    let rows: Vec<(i64, String)> = sqlx::query_as("SELECT * FROM orders ORDER BY id")
        .fetch_all(&mut connection)
        .await
        .unwrap();
    told.push(format!("{rows:?}"));
    let many: Vec<i32> = sqlx::query_scalar("SELECT generate_series(1, 20000)")
        .fetch_all(&mut connection)
        .await
        .unwrap();
    told.push(format!("{}", many.iter().map(|one| i64::from(*one)).sum::<i64>()));
    sqlx::raw_sql("DROP TABLE orders").execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    told
}

#[tokio::test]
async fn sqlx_is_told_the_same_as_directly() {
    let ground = Ground::start().await;
    let (proxy, url) = postgres_proxy(&ground).await;
    assert_eq!(use_postgres(&url).await, use_postgres(&ground.lab.postgres_url).await);
    let counts = finish(proxy).await;
    let asked = |kind| counts.frames(Side::Client, kind);
    assert_eq!((asked("SSLRequest"), asked("StartupMessage"), asked("Terminate")), (1, 1, 1));
    assert_eq!(counts.frames(Side::Server, "ErrorResponse"), 2);
    assert!(asked("Execute") >= 5 && asked("Query") >= 8, "{counts:?}");
    ground.stop().await;
}

#[tokio::test]
async fn twenty_megabytes_are_copied_both_ways() {
    let ground = Ground::start().await;
    let (proxy, url) = postgres_proxy(&ground).await;
    let pool = PgPool::connect(&url).await.unwrap();
    sqlx::raw_sql("CREATE TABLE copied (line text)").execute(&pool).await.unwrap();
    let lines: String = (0..200_000).map(|number| format!("{number:0100}\n")).collect();
    let mut copy = pool.copy_in_raw("COPY copied FROM STDIN").await.unwrap();
    for piece in lines.as_bytes().chunks(1 << 18) {
        copy.send(piece).await.unwrap();
    }
    assert_eq!(copy.finish().await.unwrap(), 200_000);
    pool.close().await;

    let psql = |port: u16| async move {
        let mut command = Command::new("psql");
        command.args(["-X", "-h", "127.0.0.1", "-U", "postgres", "-p", &port.to_string()]);
        command.args(["-c", "COPY copied TO STDOUT"]);
        let Output { status, stdout, .. } = command.output().await.unwrap();
        assert!(status.success());
        stdout
    };
    assert!(psql(proxy.address().port()).await == lines.into_bytes(), "not a byte is changed");
    let counts = finish(proxy).await;
    assert_eq!(counts.frames(Side::Client, "CopyData"), 20_200_000_u64.div_ceil(1 << 18));
    assert_eq!(counts.frames(Side::Server, "CopyData"), 200_000);
    assert_eq!(counts.frames(Side::Client, "CopyDone"), 1);
    ground.stop().await;
}

/// Waits until the statement runs: a cancellation that comes sooner is ignored.
async fn sleeps(ground: &Ground) {
    let mut connection = PgConnection::connect(&ground.lab.postgres_url).await.unwrap();
    let asleep = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    let waiting = async {
        while sqlx::query_scalar::<_, i64>(asleep).fetch_one(&mut connection).await.unwrap() == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, waiting).await.unwrap();
}

#[tokio::test]
async fn a_cancellation_reaches_the_statement() {
    let ground = Ground::start().await;
    let (proxy, _) = postgres_proxy(&ground).await;
    let mut psql = Command::new("psql");
    psql.args(["-X", "-h", "127.0.0.1", "-U", "postgres"]);
    psql.args(["-p", &proxy.address().port().to_string(), "-c", "SELECT pg_sleep(600)"]);
    let psql = psql.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    let child = psql.kill_on_drop(true).spawn().unwrap();
    sleeps(&ground).await;
    // As Ctrl-C does: psql sends a CancelRequest on a connection of its own.
    let pid = rustix::process::Pid::from_raw(child.id().unwrap().try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = tokio::time::timeout(LIMIT, child.wait_with_output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("canceling statement"), "{said}");
    let counts = finish(proxy).await;
    assert_eq!((counts.links, counts.frames(Side::Client, "CancelRequest")), (2, 1));
    ground.stop().await;
}

async fn connect(address: &str) -> MultiplexedConnection {
    let client = Client::open(format!("redis://{address}/?protocol=resp3")).unwrap();
    client.get_multiplexed_async_connection().await.unwrap()
}

async fn use_redis(address: &str) -> Vec<String> {
    let mut connection = connect(address).await;
    let mut told = Vec::new();
    let mut pipeline = redis::pipe();
    for number in 0..100 {
        pipeline.rpush("list", number).lrange("list", -2, -1).cmd("NONSENSE");
    }
    let all: Result<redis::Value, _> = pipeline.query_async(&mut connection).await;
    told.push(format!("{all:?}"));
    let mut atomic = redis::pipe();
    atomic.atomic().set("a", 1).incr("a", 4).get("missing");
    let all: redis::Value = atomic.query_async(&mut connection).await.unwrap();
    told.push(format!("{all:?}"));
    let script = Script::new("return {KEYS[1], ARGV[1], {1, {2}}, redis.call('GET', 'a')}");
    for _ in 0..2 {
        let mut call = script.key("k");
        let said: redis::Value = call.arg("v").invoke_async(&mut connection).await.unwrap();
        told.push(format!("{said:?}"));
    }
    let _: () = connection.hset_multiple("hash", &[("x", "1"), ("y", "2")]).await.unwrap();
    let map: HashMap<String, String> = connection.hgetall("hash").await.unwrap();
    told.push(format!("{}{}", map["x"], map["y"]));
    let _: () = redis::cmd("FLUSHALL").query_async(&mut connection).await.unwrap();
    let _: () = redis::cmd("SCRIPT").arg("FLUSH").query_async(&mut connection).await.unwrap();
    told
}

#[tokio::test]
async fn the_redis_crate_is_told_the_same_as_directly() {
    let ground = Ground::start().await;
    let redis = local(ground.redis_port());
    let proxy = proxy_to(Wire::Redis, redis).await;
    let through = use_redis(&proxy.address().to_string()).await;
    assert_eq!(through, use_redis(&redis.to_string()).await);
    let counts = finish(proxy).await;
    let asked = |kind| counts.frames(Side::Client, kind);
    // EVALSHA that isn't known, then two that are.
    assert_eq!((asked("script"), asked("transaction")), (3, 2));
    assert_eq!(counts.kinds(Side::Client).map(|(_, count)| count).sum::<u64>(), {
        let pushes = counts.frames(Side::Server, "push");
        counts.kinds(Side::Server).map(|(_, count)| count).sum::<u64>() - pushes
    });
    ground.stop().await;
}

#[tokio::test]
async fn a_subscription_is_a_stream() {
    let ground = Ground::start().await;
    let proxy = proxy_to(Wire::Redis, local(ground.redis_port())).await;
    let address = proxy.address().to_string();
    let heard = tokio::task::spawn_blocking({
        let client = Client::open(format!("redis://{address}")).unwrap();
        move || {
            let mut connection = client.get_connection().unwrap();
            connection.set_read_timeout(Some(LIMIT)).unwrap();
            let mut subscription = connection.as_pubsub();
            subscription.subscribe("news").unwrap();
            let heard: Vec<String> = (0..3)
                .map(|_| subscription.get_message().unwrap().get_payload().unwrap())
                .collect();
            heard
        }
    });
    until(&proxy, |counts| counts.streams == 1 && counts.frames(Side::Server, "array") >= 1).await;
    let mut speaker = connect(&address).await;
    for news in ["a", "b", "c"] {
        let heard_by: i64 = speaker.publish("news", news).await.unwrap();
        assert_eq!(heard_by, 1);
    }
    assert_eq!(heard.await.unwrap(), ["a", "b", "c"]);
    drop(speaker);
    let counts = finish(proxy).await;
    assert_eq!((counts.streams, counts.frames(Side::Client, "subscription")), (1, 1));
    ground.stop().await;
}

#[tokio::test]
async fn replication_passes_as_a_stream() {
    let ground = Ground::start().await;
    let (proxy, _) = postgres_proxy(&ground).await;
    let folder = tempfile::tempdir().unwrap();
    let at = format!("host=127.0.0.1 user=postgres port={}", proxy.address().port());
    let mut psql = Command::new("psql");
    psql.args(["-X", "-c", "IDENTIFY_SYSTEM", &format!("{at} replication=database")]);
    let output = psql.output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(finish(proxy).await.streams, 1);

    let proxy = proxy_to(Wire::Redis, local(ground.redis_port())).await;
    let mut speaker = connect(&proxy.address().to_string()).await;
    let _: () = speaker.set("large", "x".repeat(3 << 20)).await.unwrap();
    drop(speaker);
    let copy = folder.path().join("copy.rdb");
    let mut cli = Command::new("redis-cli");
    cli.args(["-h", "127.0.0.1", "-p", &proxy.address().port().to_string(), "--rdb"]).arg(&copy);
    let output = cli.output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let copied = std::fs::read(&copy).unwrap();
    assert!(copied.starts_with(b"REDIS") && copied.len() > 1 << 10, "{}", copied.len());
    let counts = until(&proxy, |counts| counts.open == 0).await;
    assert_eq!((counts.streams, counts.frames(Side::Client, "replication")), (1, 1));
    assert!(counts.opaque >= 1, "what a replica gets can't be read: {counts:?}");
    proxy.stop().await.unwrap();
    ground.stop().await;
}
