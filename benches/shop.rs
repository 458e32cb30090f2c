//! What the whole chain of the reference service costs, beside its transaction alone.
//!
//! 64 connections in a closed loop, a user and a product of its own each: once `POST /orders` at an
//! instance of the lab, once the same four statements through sqlx, without HTTP, record, lease
//! and fence. Both at the same PostgreSQL, one after the other, several rounds; the ratio of the
//! medians is what counts, since a shared machine's orders a second aren't.

#![expect(clippy::unwrap_used, reason = "a bench that cannot set up its world should end there")]
#![expect(clippy::print_stdout, reason = "a bench speaks to whoever runs it")]

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use dupeproof::guard::{Guard, ProcessId, family};
use dupeproof::lab::{Lab, LabSpec};
use sqlx::{Connection, PgConnection};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const CONNECTIONS: i64 = 64;
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(4);

/// Of `/proc`, the same on every Linux: USER_HZ.
const TICKS_A_SECOND: f64 = 100.0;

const TAKE: &str = include_str!("../src/shop/sql/take_stock.sql");
const INSERT: &str = include_str!("../src/shop/sql/insert_order_unless_there.sql");
const MOVEMENT: &str = include_str!("../src/shop/sql/insert_movement.sql");

/// Orders of one round, by the processor seconds that everything took together.
struct Round {
    orders: f64,
    cpu_s: f64,
    took_s: f64,
}

fn main() {
    if std::env::args().any(|word| word == "--test") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(compare());
}

async fn compare() {
    let logs = tempfile::tempdir().unwrap();
    let guard = Guard::start(Path::new(env!("CARGO_BIN_EXE_dupeproof"))).await.unwrap();
    let spec = LabSpec {
        instances: 1,
        shop_flags: vec!["--pool-size=64".to_owned()],
        products: (1..=2 * CONNECTIONS).map(|id| (id, i32::MAX)).collect(),
        ..LabSpec::new(logs.path().join("logs"))
    };
    let lab = Lab::start(spec, &guard).await.unwrap();
    let own = ProcessId::of(std::process::id()).unwrap();
    let workers = Workers(vec![own, lab.postgres, lab.redis, lab.instances[0].process]);
    let (mut chain, mut alone) = (vec![], vec![]);
    for round in 0..ROUNDS {
        let mut orders = JoinSet::new();
        for buyer in 1..=CONNECTIONS {
            orders.spawn(post(lab.instances[0].address.to_string(), round, buyer));
        }
        chain.push(measure(orders, &workers).await);
        let mut transactions = JoinSet::new();
        for buyer in 1..=CONNECTIONS {
            transactions.spawn(transact(lab.postgres_url.clone(), round, CONNECTIONS + buyer));
        }
        alone.push(measure(transactions, &workers).await);
    }
    lab.stop().await.unwrap();
    guard.finish().await.unwrap();

    println!("{CONNECTIONS} connections, a user and a product each, median of {ROUNDS} rounds");
    println!("  {:<34} {:>9} {:>16}", "", "orders/s", "CPU ms an order");
    let row = |name: &str, rounds: &[Round]| {
        let rate = median(rounds.iter().map(|round| round.orders / round.took_s));
        let cost = median(rounds.iter().map(|round| round.cpu_s / round.orders * 1_000.0));
        println!("  {name:<34} {rate:>9.0} {cost:>16.3}");
        (rate, cost)
    };
    let (chain_rate, chain_cost) = row("the whole chain (HTTP, Redis, lease)", &chain);
    let (alone_rate, alone_cost) = row("its transaction alone (sqlx)", &alone);
    println!("  ratio of the rates {:.2}", chain_rate / alone_rate);
    println!("  ratio of the costs {:.2}", chain_cost / alone_cost);
}

/// Everything that works for an order: this process, the instance, Redis, PostgreSQL's back-ends.
struct Workers(Vec<ProcessId>);

impl Workers {
    /// CPU in seconds, also of back-ends that have ended.
    fn busy_s(&self) -> f64 {
        let families = self.0.iter().flat_map(|process| family(*process));
        let pids: BTreeSet<u32> = families.map(|process| process.pid).collect();
        let ticks: u64 = pids.into_iter().map(ticks_of).sum();
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
        let ticks = ticks as f64;
        ticks / TICKS_A_SECOND
    }
}

/// utime, stime, and those of children that were waited for: fields 14 to 17 of proc(5).
fn ticks_of(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    after_name
        .split_whitespace()
        .skip(11)
        .take(4)
        .filter_map(|ticks| ticks.parse::<u64>().ok())
        .sum()
}

async fn measure(mut tasks: JoinSet<u32>, workers: &Workers) -> Round {
    let (began, busy) = (Instant::now(), workers.busy_s());
    let mut orders = 0.0;
    while let Some(done) = tasks.join_next().await {
        orders += f64::from(done.unwrap());
    }
    Round { orders, cpu_s: workers.busy_s() - busy, took_s: began.elapsed().as_secs_f64() }
}

/// One order after the other on one connection; how many there were.
async fn post(address: String, round: usize, buyer: i64) -> u32 {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let mut reply = vec![0; 8 * 1024];
    let deadline = Instant::now() + ROUND;
    let mut orders = 0;
    while Instant::now() < deadline {
        let body = format!(r#"{{"productId":{buyer},"quantity":1}}"#);
        let request = format!(
            "POST /orders HTTP/1.1\r\nHost: shop\r\nX-User-Id: u{buyer}\r\n\
             Idempotency-Key: {round}-{orders}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        // Small enough to come in one piece.
        let length = stream.read(&mut reply).await.unwrap();
        assert!(reply[..length].starts_with(b"HTTP/1.1 201"), "{:?}", &reply[..length]);
        orders += 1;
    }
    orders
}

async fn transact(url: String, round: usize, buyer: i64) -> u32 {
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let (deadline, user) = (Instant::now() + ROUND, format!("u{buyer}"));
    let mut orders = 0;
    while Instant::now() < deadline {
        let mut tx = connection.begin().await.unwrap();
        let taken = sqlx::query(TAKE).bind(1).bind(buyer).bind(None::<i64>).bind(None::<i64>);
        taken.execute(&mut *tx).await.unwrap();
        let order: i64 = sqlx::query_scalar(INSERT)
            .bind(&user)
            .bind(format!("{round}-{orders}"))
            .bind(buyer)
            .bind(1)
            .bind(1_i64)
            .bind(None::<String>)
            .bind("fingerprint")
            .bind(None::<f64>)
            .fetch_one(&mut *tx)
            .await
            .unwrap();
        sqlx::query(MOVEMENT).bind(order).bind(buyer).bind(-1).execute(&mut *tx).await.unwrap();
        tx.commit().await.unwrap();
        orders += 1;
    }
    orders
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
