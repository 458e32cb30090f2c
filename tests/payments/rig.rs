//! A lab with a provider, and the requests of a buyer.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dupeproof::guard::Guard;
use dupeproof::lab::{Lab, LabSpec, PaymentsSpec};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

use crate::http::{Reply, get, post};
use crate::waiting::until;

const EXE: &str = env!("CARGO_BIN_EXE_dupeproof");
const LIMIT: Duration = Duration::from_secs(15);

/// The whole lines of a provider's log.
pub fn lines(log: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(log).unwrap();
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub struct Rig {
    pub lab: Lab,
    guard: Guard,
    _logs: tempfile::TempDir,
}

impl Rig {
    /// Two instances. Nobody reconciles within a test unless its flags say so.
    pub async fn start(defects: &[&str], flags: &[&str]) -> Self {
        let logs = tempfile::tempdir().unwrap();
        let guard = Guard::start(Path::new(EXE)).await.unwrap();
        let quiet = ["--pool-size=5", "--paying-limit=24h"];
        let spec = LabSpec {
            defects: defects.iter().map(|&defect| defect.to_owned()).collect(),
            shop_flags: [if flags.is_empty() { &quiet[..] } else { &quiet[..1] }, flags]
                .concat()
                .into_iter()
                .map(str::to_owned)
                .collect(),
            products: vec![(1001, 50)],
            payments: Some(PaymentsSpec::default()),
            ..LabSpec::new(logs.path().join("logs"))
        };
        let lab = Lab::start(spec, &guard).await.unwrap();
        Self { lab, guard, _logs: logs }
    }

    pub async fn stop(self) {
        self.lab.stop().await.unwrap();
        self.guard.finish().await.unwrap();
    }

    /// The one value that a query answers with.
    pub async fn ask(&self, query: &'static str) -> String {
        let mut connection = PgConnection::connect(&self.lab.postgres_url).await.unwrap();
        sqlx::query_scalar(query).fetch_one(&mut connection).await.unwrap()
    }

    pub fn buyer(&self) -> Buyer {
        let payments = self.lab.payments.as_ref().unwrap();
        Buyer {
            shops: self.lab.instances.iter().map(|instance| instance.address).collect(),
            control: payments.control,
            ledger: payments.ledger.clone(),
        }
    }
}

/// What a test asks of shops and provider; blocks.
#[derive(Clone)]
pub struct Buyer {
    pub shops: Vec<SocketAddr>,
    control: SocketAddr,
    ledger: PathBuf,
}

impl Buyer {
    /// Places an order of two units and tells its id.
    pub fn place(&self, key: &str) -> i64 {
        let headers = format!("X-User-Id: u1\r\nIdempotency-Key: {key}\r\n");
        let body = json!({ "productId": 1001, "quantity": 2 });
        let reply = post(self.shops[0], "/orders", &headers, &body);
        assert_eq!(reply.status, 201, "{reply:?}");
        reply.body["orderId"].as_i64().unwrap()
    }

    pub fn pay_at(&self, shop: usize, order: i64) -> Reply {
        self.step(shop, order, "pay")
    }

    pub fn pay(&self, order: i64) -> Reply {
        self.pay_at(0, order)
    }

    pub fn close(&self, order: i64) -> Reply {
        self.step(1, order, "close")
    }

    pub fn status(&self, order: i64) -> String {
        let reply = get(self.shops[1], &format!("/orders/{order}"));
        reply.body["status"].as_str().unwrap_or_default().to_owned()
    }

    pub fn until_status(&self, order: i64, wanted: &str) {
        until(LIMIT, || match self.status(order) {
            status if status == wanted => Ok(()),
            status => Err(status),
        });
    }

    /// What the provider does with the next charge.
    pub fn next_charge(&self, mood: &str, delay_ms: u64) {
        let order = json!({ "count": 1, "do": mood, "delay-ms": delay_ms });
        assert_eq!(post(self.control, "/next", "", &order).status, 200);
    }

    pub fn logged(&self, event: &str) -> Vec<Value> {
        lines(&self.ledger).into_iter().filter(|line| line["event"] == event).collect()
    }

    pub fn until_logged(&self, event: &str, count: usize) {
        until(LIMIT, || match self.logged(event).len() {
            found if found >= count => Ok(()),
            found => Err(format!("{found} of {event}")),
        });
    }

    /// The ids of the charges that took effect.
    pub fn charges(&self) -> Vec<String> {
        let ids = self.logged("charge").into_iter();
        ids.map(|line| line["id"].as_str().unwrap().to_owned()).collect()
    }

    fn step(&self, shop: usize, order: i64, step: &str) -> Reply {
        let path = format!("/orders/{order}/{step}");
        post(self.shops[shop], &path, "X-User-Id: u1\r\n", &json!({}))
    }
}
