//! The whole reference shop behind three proxies: it places and pays orders as if they weren't there.

use std::net::SocketAddr;
use std::path::Path;

use dupeproof::guard::{Guard, Kind};
use dupeproof::history::Wire;
use dupeproof::lab::{Lab, LabSpec, PaymentsSpec};
use dupeproof::wire::{Counts, Side};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::ends::{LIMIT, Proxy, proxy_to};
use crate::lab::port;

const EXE: &str = env!("CARGO_BIN_EXE_dupeproof");
const ORDERS: usize = 20;

async fn post(address: SocketAddr, path: &str, key: &str, body: &Value) -> (u16, Value) {
    let body = body.to_string();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: shop\r\nConnection: close\r\nX-User-Id: u1\r\n\
         Idempotency-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    timeout(LIMIT, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

/// A proxy in front of what a URL names, and the URL through it.
async fn before(protocol: Wire, url: &str) -> (Proxy, String) {
    let upstream = SocketAddr::from(([127, 0, 0, 1], port(url)));
    let proxy = proxy_to(protocol, upstream).await;
    let through = url.replace(&upstream.to_string(), &proxy.address().to_string());
    assert_ne!(through, url);
    (proxy, through)
}

async fn finish(proxy: Proxy) -> Counts {
    let counts = proxy.counts().await.unwrap();
    assert_eq!((counts.opaque, counts.unreached, counts.untold), (0, 0, 0), "{counts:?}");
    assert_eq!(counts.frames(Side::Client, "other") + counts.frames(Side::Server, "other"), 0);
    proxy.stop().await.unwrap();
    counts
}

#[tokio::test(flavor = "multi_thread")]
async fn the_shop_places_and_pays_orders_behind_proxies() {
    let logs = tempfile::tempdir().unwrap();
    let guard = Guard::start(Path::new(EXE)).await.unwrap();
    let spec = LabSpec {
        instances: 0,
        payments: Some(PaymentsSpec::default()),
        ..LabSpec::new(logs.path().join("logs"))
    };
    let lab = Lab::start(spec, &guard).await.unwrap();
    let (postgres, postgres_url) = before(Wire::Postgres, &lab.postgres_url).await;
    let (redis, redis_url) = before(Wire::Redis, &lab.redis_url).await;
    let provider = lab.payments.as_ref().unwrap().url();
    let (payments, payments_url) = before(Wire::Http, &provider).await;
    let mut shop = guard
        .command(Kind::Shop, Path::new(EXE))
        .args(["shop", "--listen", "127.0.0.1:0", "--database-url", &postgres_url])
        .args(["--redis-url", &redis_url, "--payments-url", &payments_url])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::inherit())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(shop.child.stdout.take().unwrap()).lines();
    let greeting = timeout(LIMIT, lines.next_line()).await.unwrap().unwrap().unwrap();
    let greeting: Value = serde_json::from_str(&greeting).unwrap();
    let address: SocketAddr = greeting["listening"].as_str().unwrap().parse().unwrap();
    lab.stock_products(&[(1001, 50)]).await.unwrap();

    let buys = (0..ORDERS).map(|number| {
        tokio::spawn(async move {
            let wish = json!({ "productId": 1001, "quantity": 2 });
            let key = format!("k-{number}");
            let (status, placed) = post(address, "/orders", &key, &wish).await;
            assert_eq!(status, 201, "{placed}");
            let pay = format!("/orders/{}/pay", placed["orderId"]);
            let (status, paid) = post(address, &pay, &key, &json!({})).await;
            assert_eq!((status, &paid["status"]), (200, &json!("PAID")), "{paid}");
        })
    });
    for buy in buys.collect::<Vec<_>>() {
        buy.await.unwrap();
    }

    let mut connection = PgConnection::connect(&lab.postgres_url).await.unwrap();
    let sum = "SELECT count(*) || ' ' || sum(quantity) FROM orders WHERE status = 'PAID'";
    let sum: String = sqlx::query_scalar(sum).fetch_one(&mut connection).await.unwrap();
    assert_eq!(sum, "20 40");
    connection.close().await.unwrap();
    shop.child.start_kill().unwrap();
    shop.child.wait().await.unwrap();

    let counts = finish(payments).await;
    assert_eq!(counts.frames(Side::Client, "POST"), ORDERS as u64);
    assert_eq!(counts.frames(Side::Server, "2xx"), ORDERS as u64);
    let counts = finish(redis).await;
    assert!(counts.frames(Side::Client, "script") >= ORDERS as u64, "{counts:?}");
    let counts = finish(postgres).await;
    assert!(counts.frames(Side::Client, "Execute") >= 3 * ORDERS as u64, "{counts:?}");
    lab.stop().await.unwrap();
    guard.finish().await.unwrap();
}
