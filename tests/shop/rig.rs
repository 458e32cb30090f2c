//! A lab without instances, and instances with the flags that a test wants.

use std::path::Path;
use std::time::{Duration, Instant};

use dupeproof::guard::{Guard, GuardedChild, Kind, Signal};
use dupeproof::lab::{Lab, LabSpec, PaymentsSpec};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub const EXE: &str = env!("CARGO_BIN_EXE_dupeproof");
/// The product that most tests sell.
pub const PRODUCT: i64 = 1_001;
const SOON: Duration = Duration::from_secs(20);

pub struct Rig {
    pub lab: Lab,
    guard: Guard,
    _logs: tempfile::TempDir,
}

/// An instance of the shop.
pub struct Shop {
    pub address: String,
    child: GuardedChild,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Value,
}

impl Rig {
    /// PostgreSQL and Redis; the tables are there with the first instance.
    pub async fn start() -> Self {
        Self::start_beside(None).await
    }

    /// With a payment provider too.
    pub async fn start_beside(payments: Option<PaymentsSpec>) -> Self {
        let logs = tempfile::tempdir().unwrap();
        let guard = Guard::start(Path::new(EXE)).await.unwrap();
        let spec = LabSpec { instances: 0, payments, ..LabSpec::new(logs.path().join("logs")) };
        let lab = Lab::start(spec, &guard).await.unwrap();
        Self { lab, guard, _logs: logs }
    }

    /// Starts an instance with these flags, and [`PRODUCT`] with so many units.
    pub async fn with_shop(flags: &str, units: i32) -> (Self, Shop) {
        let rig = Self::start().await;
        let shop = rig.shop(flags).await;
        rig.lab.stock_products(&[(PRODUCT, units)]).await.unwrap();
        (rig, shop)
    }

    pub async fn shop(&self, flags: &str) -> Shop {
        self.shop_at(&self.lab.postgres_url, &self.lab.redis_url, flags).await
    }

    /// With servers that are reached another way.
    pub async fn shop_at(&self, postgres: &str, redis: &str, flags: &str) -> Shop {
        let mut child = self
            .guard
            .command(Kind::Shop, Path::new(EXE))
            .args(["shop", "--listen", "127.0.0.1:0"])
            .args(["--database-url", postgres, "--redis-url", redis])
            .args(flags.split_whitespace())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::inherit())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.child.stdout.take().unwrap()).lines();
        let greeting = timeout(SOON, lines.next_line()).await.expect("it listens soon");
        let greeting = greeting.unwrap().expect("it says where it listens");
        let greeting: Value = serde_json::from_str(&greeting).unwrap();
        Shop { address: greeting["listening"].as_str().unwrap().to_owned(), child }
    }

    pub async fn postgres(&self) -> PgConnection {
        PgConnection::connect(&self.lab.postgres_url).await.unwrap()
    }

    /// The one value of a query, as text.
    pub async fn ask(&self, query: &'static str) -> String {
        sqlx::query_scalar(query).fetch_one(&mut self.postgres().await).await.unwrap()
    }

    /// Runs a statement.
    pub async fn run(&self, statement: &'static str) {
        sqlx::raw_sql(statement).execute(&mut self.postgres().await).await.unwrap();
    }

    /// The number of orders.
    pub async fn orders(&self) -> i64 {
        self.ask("SELECT count(*)::text FROM orders").await.parse().unwrap()
    }

    /// What is left of [`PRODUCT`].
    pub async fn left(&self) -> i32 {
        let left = self.ask("SELECT available::text FROM product_stock WHERE product_id = 1001");
        left.await.parse().unwrap()
    }

    pub fn redis(&self) -> redis::Connection {
        redis::Client::open(self.lab.redis_url.as_str()).unwrap().get_connection().unwrap()
    }

    /// Runs a Redis command.
    pub fn redis_do<T: redis::FromRedisValue>(&self, command: &str) -> T {
        let mut words = command.split_whitespace();
        let mut call = redis::cmd(words.next().unwrap());
        for word in words {
            call.arg(word);
        }
        call.query(&mut self.redis()).unwrap()
    }

    /// Keeps the row of [`PRODUCT`] locked: an order stops in mid transaction, at its stock.
    pub async fn hold_the_shelf(&self) -> Held {
        let mut connection = self.postgres().await;
        let hold = "BEGIN; SELECT 1 FROM product_stock WHERE product_id = 1001 FOR UPDATE";
        sqlx::raw_sql(hold).execute(&mut connection).await.unwrap();
        Held(connection)
    }

    /// The number of back-ends that wait for a lock of PostgreSQL.
    pub async fn blocked(&self) -> i64 {
        blocked(&mut self.postgres().await).await
    }

    /// Waits until so many back-ends wait for a lock of PostgreSQL.
    pub async fn until_blocked(&self, back_ends: i64) {
        let mut connection = self.postgres().await;
        until(async || {
            let found = blocked(&mut connection).await;
            if found >= back_ends { Ok(()) } else { Err(format!("{found} blocked")) }
        })
        .await;
    }

    pub async fn stop(self) {
        self.lab.stop().await.unwrap();
        self.guard.finish().await.unwrap();
    }
}

async fn blocked(connection: &mut PgConnection) -> i64 {
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    sqlx::query_scalar(waiting).fetch_one(connection).await.unwrap()
}

/// A lock that a test holds; see [`Rig::hold_the_shelf`].
pub struct Held(PgConnection);

impl Held {
    pub async fn release(mut self) {
        sqlx::raw_sql("ROLLBACK").execute(&mut self.0).await.unwrap();
        self.0.close().await.unwrap();
    }
}

impl Shop {
    pub async fn order(&self, user: &str, key: &str, quantity: i64) -> Reply {
        self.order_of(user, key, json!({ "productId": PRODUCT, "quantity": quantity })).await
    }

    pub async fn order_of(&self, user: &str, key: &str, wish: Value) -> Reply {
        place(self.address.clone(), user.to_owned(), key.to_owned(), wish.to_string()).await
    }

    /// The same in a task of its own.
    pub fn ordering(&self, user: &str, key: &str, quantity: i64) -> JoinHandle<Reply> {
        let wish = json!({ "productId": PRODUCT, "quantity": quantity }).to_string();
        tokio::spawn(place(self.address.clone(), user.to_owned(), key.to_owned(), wish))
    }

    /// Asks on while the answer is "come back later".
    pub async fn order_until_definite(&self, user: &str, key: &str, quantity: i64) -> Reply {
        until(async || match self.order(user, key, quantity).await {
            reply if reply.status == 202 => Err(format!("still {}", reply.body)),
            reply => Ok(reply),
        })
        .await
    }

    pub async fn get(&self, path: &str) -> Reply {
        send(&self.address, &format!("GET {path} HTTP/1.1\r\n"), b"").await
    }

    /// The value of a metric with its labels, 0 if it isn't told.
    pub async fn metric(&self, name: &str) -> f64 {
        let text = self.text("/metrics").await;
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.map_or(0.0, |value| value.parse().unwrap())
    }

    pub async fn text(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }

    pub fn signal(&self, signal: Signal) {
        self.child.process.open().unwrap().signal(signal).unwrap();
    }

    /// SIGKILL, and gone.
    pub async fn kill(mut self) {
        self.signal(Signal::Kill);
        self.child.child.wait().await.unwrap();
    }
}

pub async fn place(address: String, user: String, key: String, wish: String) -> Reply {
    let head = format!(
        "POST /orders HTTP/1.1\r\nX-User-Id: {user}\r\nIdempotency-Key: {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n",
        wish.len()
    );
    send(&address, &head, wish.as_bytes()).await
}

/// One request on a connection of its own; status 0 if none came back.
pub async fn send(address: &str, head: &str, body: &[u8]) -> Reply {
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        stream
            .write_all(format!("{head}Host: shop\r\nConnection: close\r\n\r\n").as_bytes())
            .await?;
        stream.write_all(body).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    let answer = timeout(SOON * 2, exchange).await.expect("an answer or an end in time");
    let answer = String::from_utf8(answer.unwrap_or_default()).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    Reply {
        status: head.split(' ').nth(1).map_or(0, |status| status.parse().unwrap()),
        head: head.to_ascii_lowercase(),
        body: serde_json::from_str(body).unwrap_or(Value::Null),
    }
}

/// The flags with these defects, or without any.
pub fn flags(flags: &str, defects: &[&str]) -> String {
    match defects {
        [] => flags.to_owned(),
        defects => format!("{flags} --defects {}", defects.join(",")),
    }
}

/// By what a request names this script.
pub fn sha(script: &str) -> String {
    redis::Script::new(script).get_hash().to_owned()
}

/// Looks again and again until it is so.
pub async fn until<T>(mut look: impl AsyncFnMut() -> Result<T, String>) -> T {
    let deadline = Instant::now() + SOON;
    loop {
        match look().await {
            Ok(found) => return found,
            Err(seen) => assert!(Instant::now() < deadline, "after {SOON:?}: {seen}"),
        }
        tokio::time::sleep(Duration::from_millis(4)).await;
    }
}
