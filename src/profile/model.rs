//! The checked profile: every value has its meaning, nothing is left to be looked up again.
//!
//! A [`Profile`] exists only if the whole file was right; who holds one needs no error handling for
//! settings. How it is read is the business of `shape.rs` and its neighbours.

use std::path::PathBuf;
use std::time::Duration;

use super::body::BodyTemplate;
use super::burst::Burst;
use super::contract::Contract;
use super::fault::Fault;
use super::target::{Actor, CustomCheck, Downstream, Postgres, Redis, Statements, Target, Wires};
use super::template::{Hole, TextTemplate};

/// One drill, as its profile describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Where it came from, as it was given on the command line.
    pub path: PathBuf,
    /// The comment at its head without `#`, a line each; what is written back begins with it.
    pub head: Vec<String>,
    /// One sentence about the drill, shown at its head.
    pub title: Option<String>,
    pub seed: u64,
    pub lab: LabSettings,
    pub target: Target,
    /// The audited database of an attached target.
    pub postgres: Option<Postgres>,
    pub redis: Redis,
    /// What an attached target pays through.
    pub payments: Option<Downstream>,
    pub wires: Wires,
    pub actor: Actor,
    /// Hosts beside loopback that the run may touch.
    pub allow_hosts: Vec<String>,
    pub setup: Statements,
    pub teardown: Statements,
    pub products: Products,
    pub contract: Contract,
    pub client: ClientSettings,
    /// In the order of the file; the first is what bursts send unless they name another.
    pub requests: Vec<Request>,
    pub audit: AuditTables,
    pub phases: Vec<Phase>,
    pub budget: Budget,
    pub limits: Limits,
    /// A published figure to stand beside ours in `demo`.
    pub published: Option<Published>,
}

/// How the embedded shop is built.
#[derive(Clone, Debug, PartialEq)]
pub struct LabSettings {
    pub instances: u16,
    /// Switch names; the shop itself knows which exist.
    pub defects: Vec<String>,
    /// `redis+postgres`, `postgres`, `token` or `none`.
    pub idempotency: Choice,
    /// `arbitrate` or `reject`.
    pub redis_down: Choice,
    /// `redis`, `postgres-advisory` or `none`.
    pub lock: Choice,
    /// `product`, `user` or `global`.
    pub lock_per: Choice,
    /// `plain` or `reentrant`.
    pub lease_kind: Choice,
    /// `after-lock`, `before-lock` or `before-lock-with-read`.
    pub begin: Choice,
    /// `read-committed`, `repeatable-read` or `serializable`.
    pub isolation: Choice,
    /// `key` or `user`.
    pub one_order_per: Choice,
    pub pool_size: u32,
    /// `conditional`, `version`, `select-for-update` or `none`.
    pub stock: Choice,
    pub lock_poll: Duration,
    pub lock_wait: Duration,
    pub lease: Duration,
    /// `None`: four leases.
    pub processing_lease: Option<Duration>,
    pub owners_at_most: u32,
    pub record_ttl: Duration,
    pub token_ttl: Duration,
    pub redis_timeout: Duration,
    /// How long an order takes inside the lock, beside its statements.
    pub work_time: Duration,
    /// Equal orders of a user within this time are one.
    pub order_window: Option<Duration>,
    /// Whether the instances reach their servers through proxies.
    pub proxies: bool,
    /// The provider that the shop pays through.
    pub payments: Option<PaymentsSettings>,
}

/// `[lab.payments]`.
#[derive(Clone, Debug, PartialEq)]
pub struct PaymentsSettings {
    /// How long every charge takes.
    pub delay: Duration,
    /// Shares of charges that fail before their effect, after it, and with the connection dropped.
    pub fail_share: f64,
    pub fail_after_share: f64,
    pub drop_share: f64,
    pub decline_share: f64,
    /// How long the shop waits for an answer.
    pub shop_timeout: Duration,
    /// How long an order may be PAYING until the shop looks after it.
    pub paying_limit: Duration,
    pub reconcile_every: Duration,
}

/// One of a fixed set of words, as the shop's flags take them.
pub type Choice = &'static str;

/// What the run buys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Products {
    pub count: u32,
    /// Units of each at the start.
    pub stock: u32,
}

/// The client's patience.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClientSettings {
    /// From release to the last byte of the reply.
    pub timeout: Duration,
    pub connect_timeout: Duration,
    /// A reply longer than this is cut off and its outcome unknown.
    pub longest_reply: usize,
    pub retries: Retries,
}

/// How the client asks again while it has no definite answer: same key, same bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retries {
    /// Requests after the first one; 0 switches retries off.
    pub at_most: u32,
    /// The wait before the first retry; doubled each time, with jitter of half.
    pub first_wait: Duration,
    pub longest_wait: Duration,
}

/// A request of the target, `[request.NAME]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub name: String,
    /// `POST`, `PUT`, `PATCH` or `DELETE`.
    pub method: &'static str,
    pub path: TextTemplate,
    pub headers: Vec<(String, TextTemplate)>,
    pub body: Option<BodyTemplate>,
    /// JSON pointer to the order id in a success.
    pub order_id: String,
    /// JSON pointers into the request's body whose values don't change the intent.
    pub ignored: Vec<String>,
    /// JSON pointers and the values that change the intent: each entry makes a mutated twin.
    pub mutate: Vec<(String, Vec<serde_json::Value>)>,
    /// Fields whose default may be left out of an equivalent variant: pointer and default.
    pub defaults: Vec<(String, serde_json::Value)>,
    /// Whether numbers may be written as 1.0 or 1e0 in an equivalent variant.
    pub number_forms: bool,
}

impl Request {
    /// Whether its path, a header or its body has this hole.
    pub fn has(&self, hole: Hole) -> bool {
        let headers = self.headers.iter().any(|(_, value)| value.has(hole));
        headers || self.path.has(hole) || self.body.as_ref().is_some_and(|body| body.has(hole))
    }
}

/// Which tables and columns the audit reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditTables {
    pub orders: OrdersTable,
    pub stock: Option<StockTable>,
    /// One row for each stock movement (I04).
    pub movements: Option<MovementsTable>,
    pub sql: Vec<CustomCheck>,
}

/// `[audit] orders`: a table name (perhaps `schema.table`) and its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrdersTable {
    pub table: String,
    pub id: String,
    pub user: Option<String>,
    pub key: Option<String>,
    pub product: Option<String>,
    pub quantity: Option<String>,
    pub fingerprint: Option<String>,
    pub status: Option<String>,
    pub created: Option<String>,
    /// Values of `status` in which an order holds stock and counts as valid; empty means all.
    pub sold: Vec<String>,
    /// When it was paid and when closed; NULL: never (I10).
    pub paid_at: Option<String>,
    pub closed_at: Option<String>,
}

/// `[audit] movements`: what was taken from the shelf for which order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovementsTable {
    pub table: String,
    pub order: String,
    pub product: String,
    /// Negative for what was taken.
    pub delta: String,
}

/// `[audit] stock`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StockTable {
    pub table: String,
    pub product: String,
    pub available: String,
    pub fence: Option<String>,
}

impl StockTable {
    pub(super) fn of_the_lab() -> Self {
        Self {
            table: "product_stock".to_owned(),
            product: "product_id".to_owned(),
            available: "available".to_owned(),
            fence: Some("last_fence".to_owned()),
        }
    }
}

impl MovementsTable {
    pub(super) fn of_the_lab() -> Self {
        Self {
            table: "stock_movements".to_owned(),
            order: "order_id".to_owned(),
            product: "product_id".to_owned(),
            delta: "delta".to_owned(),
        }
    }
}

/// `[[phase]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    pub name: String,
    pub burst: Burst,
    pub faults: Vec<Fault>,
}

/// Limits that may be missed (exit 5), judged over phases without faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    pub p99_latency: Option<Duration>,
}

/// How long the run waits for what must come to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For the drain of rule S03.
    pub drain: Duration,
    /// The quiet window between two equal reads of the run's rows, at least.
    pub quiet: Duration,
}

/// `[published]`: a figure from the literature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The figure in words: `22 users with duplicates (MySQL, REPEATABLE READ)`.
    pub figure: String,
}
