//! A small order service whose behaviour follows from a contract, and which can be told to break one
//! clause of it.
//!
//! A real HTTP service at a port of its own; orders, stock and movements are rows in PostgreSQL,
//! idempotency records live in its memory. It is a service of somebody else's: of dupeproof it knows
//! the contract and nothing more.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::post;
use dupeproof::profile::{Answer, Contract, KeyScope, MissingKey, OtherParameters};
use sqlx::{AssertSqlSafe, PgPool, Postgres, Row, Transaction};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::asked::{Asked, Key};
use crate::breaks::Break;
use crate::reply::{self, Reply};

/// How long an order takes beside its statements, so that duplicates meet it at work.
const WORK: Duration = Duration::from_millis(25);

/// How much longer than the contract's longest wait a slow one takes.
const OVERDUE: Duration = Duration::from_millis(250);

/// How a service keeps its contract, where a contract leaves a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// In progress is said where there are words for it.
    Plain,
    /// A duplicate waits for the first instead.
    Waiting,
    /// What a used key with other parameters gets is a refusal of the business, where nothing is said.
    Refusing,
    /// Some requests with a new key are turned away in front of the idempotency layer; and some orders are placed and
    /// the answer is a 500: whoever asks again gets the order.
    Troubled,
}

impl Manner {
    pub const ALL: [Self; 4] = [Self::Plain, Self::Waiting, Self::Refusing, Self::Troubled];

    /// Whether a contract leaves this choice.
    pub fn is_open(self, contract: &Contract) -> bool {
        match self {
            Self::Plain | Self::Troubled => true,
            Self::Waiting => !contract.in_progress.statuses.is_empty(),
            Self::Refusing => contract.other_parameters == OtherParameters::Unsaid,
        }
    }
}

/// Every so many requests one is turned away, or has its answer lost.
const ONE_OF: u64 = 6;

pub struct Service {
    contract: Contract,
    manner: Manner,
    broken: Option<Break>,
    schema: String,
    pool: PgPool,
    records: Mutex<HashMap<Slot, Record>>,
    /// Who has been turned down once.
    turned_down: Mutex<HashSet<Slot>>,
    requests: AtomicU64,
    orders: AtomicU64,
}

/// Whose key it is; no user where it is the account's.
type Slot = (Option<String>, String);

#[derive(Clone)]
struct Record {
    print: String,
    /// Nothing while the first request is at work; the sender is gone when it came to nothing.
    answer: watch::Receiver<Option<Reply>>,
}

/// A service that runs; it ends with this.
pub struct Running {
    pub url: String,
    serving: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Service {
    pub fn new(
        contract: Contract,
        manner: Manner,
        broken: Option<Break>,
        schema: &str,
        pool: PgPool,
    ) -> Self {
        Self {
            contract,
            manner,
            broken,
            schema: schema.to_owned(),
            pool,
            records: Mutex::default(),
            turned_down: Mutex::default(),
            requests: AtomicU64::new(0),
            orders: AtomicU64::new(0),
        }
    }

    pub async fn start(self) -> Running {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let app = Router::new().route("/orders", post(answer)).with_state(Arc::new(self));
        let serving = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Running { url, serving }
    }

    fn breaks(&self, what: Break) -> bool {
        self.broken == Some(what)
    }

    async fn reply(&self, headers: &HeaderMap, body: &[u8]) -> Reply {
        let asked = Asked::read(&self.contract, headers, body);
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let is_turned_away = self.manner == Manner::Troubled && number % ONE_OF == ONE_OF - 1;
        if is_turned_away && self.is_new(&asked) {
            return reply::to(&self.contract.shed);
        }
        match &asked.key {
            Key::Missing => self.without_key(&asked).await,
            Key::Malformed(key) => match &self.contract.malformed_key {
                Some(_) if self.breaks(Break::MalformedKeyStatus) => reply::outside_of_contract(),
                Some(answer) if !self.breaks(Break::MalformedKeyAccepted) => reply::to(answer),
                _ => self.with_key(&asked, key).await,
            },
            Key::Good(key) => self.with_key(&asked, key).await,
        }
    }

    /// Whether its key hasn't been seen yet. Who asks again for what a 500 left open is let in, since a
    /// client takes being turned away for an answer.
    fn is_new(&self, asked: &Asked) -> bool {
        match &asked.key {
            Key::Good(key) => !self.records.lock().unwrap().contains_key(&self.slot(asked, key)),
            Key::Missing | Key::Malformed(_) => true,
        }
    }

    async fn without_key(&self, asked: &Asked) -> Reply {
        match &self.contract.missing_key {
            MissingKey::Rejected(_) if self.breaks(Break::MissingKeyStatus) => {
                reply::outside_of_contract()
            }
            MissingKey::Rejected(answer) if self.breaks(Break::MissingKeyCode) => {
                reply::to_in_other_words(answer)
            }
            MissingKey::Rejected(answer) if !self.breaks(Break::MissingKeyAccepted) => {
                reply::to(answer)
            }
            MissingKey::Executed if self.breaks(Break::MissingKeyRefused) => {
                Reply::new(400, "{\"error\":\"no key\"}")
            }
            _ => self.execute(asked, None).await,
        }
    }

    async fn with_key(&self, asked: &Asked, key: &str) -> Reply {
        if self.breaks(Break::KeyIgnored) {
            return self.execute(asked, Some(key)).await;
        }
        if self.breaks(Break::ShedPlaces) && asked.product % 2 == 0 {
            let _ = self.once(asked, key).await;
            return reply::to(&self.contract.shed);
        }
        if self.breaks(Break::NeverDecides) && asked.product % 2 == 0 {
            return match self.contract.in_progress.statuses.is_empty() {
                true => Reply::new(503, "{}"),
                false => self.in_progress(asked),
            };
        }
        self.once(asked, key).await
    }

    /// The idempotency layer.
    async fn once(&self, asked: &Asked, key: &str) -> Reply {
        let (slot, print) = (self.slot(asked, key), self.print(asked));
        loop {
            let record = match self.claim(&slot, &print) {
                Ok(claim) => return self.first(asked, key, slot, claim).await,
                Err(record) => record,
            };
            let is_same = record.print == print || self.breaks(Break::MismatchAccepted);
            if !is_same && self.breaks(Break::MismatchExecuted) {
                return self.execute(asked, Some(key)).await;
            }
            let stored = record.answer.borrow().clone();
            if let Some(stored) = stored {
                return self.known(asked, &stored, is_same);
            }
            if self.breaks(Break::InProgressExecuted) && is_same {
                return self.execute(asked, Some(key)).await;
            }
            if let Some(early) = self.early(asked, is_same) {
                return early;
            }
            // An error says that the first request came to nothing: then this one is the first.
            if record.answer.clone().changed().await.is_err() {
                self.forget(&slot, &record);
            }
        }
    }

    fn slot(&self, asked: &Asked, key: &str) -> Slot {
        let is_of_user = match self.contract.key.scope {
            KeyScope::User => !self.breaks(Break::KeyNotScoped),
            KeyScope::Account => self.breaks(Break::KeyScopedToUser),
        };
        if self.breaks(Break::BodiesMerged) {
            let key = format!("{} of {}", asked.quantity, asked.product);
            return (Some(asked.user.clone()), key);
        }
        (is_of_user.then(|| asked.user.clone()), key.to_owned())
    }

    /// The user counts where users share keys; elsewhere the key is the user's anyway.
    fn print(&self, asked: &Asked) -> String {
        let user = match self.contract.key.scope {
            KeyScope::User => "",
            KeyScope::Account => &asked.user,
        };
        format!("{user} {} {}", asked.product, asked.quantity)
    }

    fn claim(&self, slot: &Slot, print: &str) -> Result<watch::Sender<Option<Reply>>, Record> {
        let mut records = self.records.lock().unwrap();
        if let Some(record) = records.get(slot) {
            return Err(record.clone());
        }
        let (sender, answer) = watch::channel(None);
        records.insert(slot.clone(), Record { print: print.to_owned(), answer });
        Ok(sender)
    }

    /// Takes a record away, unless there is a newer one already.
    fn forget(&self, slot: &Slot, record: &Record) {
        let mut records = self.records.lock().unwrap();
        if records.get(slot).is_some_and(|known| known.answer.same_channel(&record.answer)) {
            records.remove(slot);
        }
    }

    async fn first(
        &self,
        asked: &Asked,
        key: &str,
        slot: Slot,
        claim: watch::Sender<Option<Reply>>,
    ) -> Reply {
        let anew = self.breaks(Break::RejectionDecidedAnew)
            && self.turned_down.lock().unwrap().insert(slot.clone());
        let reply = if anew { self.sold_out() } else { self.execute(asked, Some(key)).await };
        let is_rejection = !reply.is_success;
        let is_kept = match self.broken {
            Some(Break::KeysForgotten) => false,
            Some(Break::RejectionDecidedAnew) => !is_rejection,
            Some(Break::RejectionKept) => true,
            _ => !is_rejection || self.contract.rejection_is_stored,
        };
        if is_kept {
            claim.send_replace(Some(reply.clone()));
        } else {
            self.records.lock().unwrap().remove(&slot);
        }
        if self.manner == Manner::Troubled
            && reply.is_success
            // Nobody repeats a request with a bad key, so its fate would stay open.
            && matches!(asked.key, Key::Good(_))
            && self.orders.fetch_add(1, Ordering::Relaxed).is_multiple_of(ONE_OF)
        {
            return Reply::new(500, "{}");
        }
        match &self.contract.replay_marker {
            Some(marker) if self.breaks(Break::MarkerOnFirst) => reply.with(marker, "true"),
            _ => reply,
        }
    }

    /// The answer to a key whose first request is done.
    fn known(&self, asked: &Asked, stored: &Reply, is_same: bool) -> Reply {
        if !is_same {
            match &self.contract.other_parameters {
                OtherParameters::Rejected { answer, .. } => return self.mismatch(answer),
                OtherParameters::OldResult if self.breaks(Break::OldResultRefused) => {
                    return reply::to(&self.contract.business_rejection);
                }
                OtherParameters::Unsaid if self.manner == Manner::Refusing => {
                    return reply::to(&self.contract.business_rejection);
                }
                OtherParameters::OldResult | OtherParameters::Unsaid => {}
            }
        }
        if self.breaks(Break::InProgressForEver) {
            return self.in_progress(asked);
        }
        let replay = if stored.is_success { self.replay(stored) } else { stored.clone() };
        match &self.contract.replay_marker {
            Some(marker) if !self.breaks(Break::MarkerMissing) => replay.with(marker, "true"),
            _ => replay,
        }
    }

    fn mismatch(&self, answer: &Answer) -> Reply {
        match self.broken {
            Some(Break::MismatchStatus) => reply::outside_of_contract(),
            Some(Break::MismatchCode) => reply::to_in_other_words(answer),
            _ => reply::to(answer),
        }
    }

    fn replay(&self, stored: &Reply) -> Reply {
        let number = self.requests.load(Ordering::Relaxed);
        let replay = stored.again(&self.contract.replay, number);
        match self.broken {
            Some(Break::ReplayStatus) => Reply { status: 206, ..replay },
            Some(Break::ReplayOutsideOfContract) => reply::outside_of_contract(),
            Some(Break::ReplayWithoutOrder) => Reply { body: "{\"ok\":true}".to_owned(), ..replay },
            Some(Break::ReplayBody) => {
                Reply { body: stored.body.replace("\"made\":", "\"made_at\":"), ..replay }
            }
            Some(Break::ReplayOfAnotherOrder) => {
                Reply { body: stored.body.replace("\"orderId\":", "\"orderId\":9"), ..replay }
            }
            _ => replay,
        }
    }

    /// The answer while the first request is at work; nothing where it is waited for.
    fn early(&self, asked: &Asked, is_same: bool) -> Option<Reply> {
        if let OtherParameters::Rejected { answer, while_in_progress: true } =
            &self.contract.other_parameters
            && !is_same
            && !self.breaks(Break::MismatchIgnoredInProgress)
        {
            return Some(self.mismatch(answer));
        }
        let waits = self.contract.in_progress.statuses.is_empty() || self.manner == Manner::Waiting;
        (!waits).then(|| self.in_progress(asked))
    }

    fn in_progress(&self, asked: &Asked) -> Reply {
        let reply = match self.broken {
            Some(Break::InProgressStatus) => return reply::outside_of_contract(),
            Some(Break::InProgressCode) => reply::to_in_other_words(&self.contract.in_progress),
            _ => reply::to(&self.contract.in_progress),
        };
        if self.breaks(Break::NoHint) { reply } else { reply.hinting(self.contract.hint, asked) }
    }

    fn sold_out(&self) -> Reply {
        match self.broken {
            Some(Break::RejectionStatus) => reply::outside_of_contract(),
            _ => reply::to(&self.contract.business_rejection),
        }
    }

    /// The order itself: stock, row and movement in one transaction.
    async fn execute(&self, asked: &Asked, key: Option<&str>) -> Reply {
        let late = self.contract.longest_wait + OVERDUE;
        tokio::time::sleep(if self.breaks(Break::TooSlow) { late } else { WORK }).await;
        let mut transaction = self.pool.begin().await.unwrap();
        let sql = format!(
            "UPDATE {}.stock SET available = available - $2 WHERE product_id = $1 AND available >= $2",
            self.schema
        );
        let taken = sqlx::query(AssertSqlSafe(sql))
            .bind(asked.product)
            .bind(asked.quantity)
            .execute(&mut *transaction)
            .await
            .unwrap();
        if taken.rows_affected() == 0 {
            let slot = || (Some(asked.user.clone()), key.unwrap_or_default().to_owned());
            let places = self.breaks(Break::RejectionPlaces)
                && self.turned_down.lock().unwrap().insert(slot());
            if places {
                self.insert(&mut transaction, asked, key).await;
                transaction.commit().await.unwrap();
            }
            return self.sold_out();
        }
        let order = self.insert(&mut transaction, asked, key).await;
        transaction.commit().await.unwrap();
        let status = self.contract.first.last().copied().unwrap();
        let status = if self.breaks(Break::FirstStatus) { 203 } else { status };
        reply::order(status, order, asked)
    }

    async fn insert(
        &self,
        transaction: &mut Transaction<'_, Postgres>,
        asked: &Asked,
        key: Option<&str>,
    ) -> i64 {
        let sql = format!(
            "INSERT INTO {}.orders (user_id, idempotency_key, product_id, quantity) \
             VALUES ($1, $2, $3, $4) RETURNING order_id",
            self.schema
        );
        let row = sqlx::query(AssertSqlSafe(sql))
            .bind(&asked.user)
            .bind(key)
            .bind(asked.product)
            .bind(asked.quantity)
            .fetch_one(&mut **transaction)
            .await
            .unwrap();
        let order: i64 = row.get(0);
        if !self.breaks(Break::MovementMissing) {
            let sql = format!("INSERT INTO {}.movements VALUES ($1, $2, $3)", self.schema);
            sqlx::query(AssertSqlSafe(sql))
                .bind(order)
                .bind(asked.product)
                .bind(-asked.quantity)
                .execute(&mut **transaction)
                .await
                .unwrap();
        }
        order
    }
}

async fn answer(State(service): State<Arc<Service>>, headers: HeaderMap, body: Bytes) -> Response {
    // A client that goes away doesn't end the work, as it wouldn't in a service with threads.
    let work = tokio::spawn(async move { service.reply(&headers, &body).await });
    work.await.unwrap().into_response()
}
