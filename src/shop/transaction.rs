//! The connection of one attempt, and the transaction in which stock and order change together.
//!
//! Two decisions. An attempt keeps its connection from the first BEGIN to its answer, through
//! every repetition: were it to ask the pool again while it holds the lease, it would queue
//! behind others that hold connections and wait for that very lease. And PostgreSQL answers
//! COMMIT with ROLLBACK, without an error, where a statement had failed before, while sqlx
//! doesn't show that answer: so a failed statement is remembered, and COMMIT never sent after it.

use sha2::{Digest, Sha256};
use sqlx::{PgConnection, Postgres, pool::PoolConnection};

use super::{
    defects::{Defect, d33_autocommit},
    error::{ShopError, asks_for_another_try},
    settings::Isolation,
    state::Shop,
};

const TRY_ADVISORY_LOCK: &str = include_str!("sql/try_advisory_lock.sql");
const ADVISORY_UNLOCK: &str = include_str!("sql/advisory_unlock.sql");

pub struct OrderConnection {
    inner: PoolConnection<Postgres>,
    begin: &'static str,
    /// False where each statement commits by itself.
    has_transactions: bool,
    transaction: Transaction,
    /// The number of the advisory lock that this connection holds.
    advisory_lock: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transaction {
    None,
    Open,
    /// A statement failed: ROLLBACK is all that is left.
    Failed,
}

impl OrderConnection {
    pub async fn acquire(shop: &Shop) -> Result<Self, ShopError> {
        let inner = shop.postgres.acquire().await.map_err(failed("waiting for a connection"))?;
        let begin = match shop.settings.isolation {
            Isolation::ReadCommitted => "BEGIN ISOLATION LEVEL READ COMMITTED",
            Isolation::RepeatableRead => "BEGIN ISOLATION LEVEL REPEATABLE READ",
            Isolation::Serializable => "BEGIN ISOLATION LEVEL SERIALIZABLE",
        };
        let has_transactions = !shop.has(Defect::Autocommit);
        let transaction = Transaction::None;
        Ok(Self { inner, begin, has_transactions, transaction, advisory_lock: None })
    }

    pub async fn begin(&mut self) -> Result<(), ShopError> {
        self.transaction = Transaction::Open;
        self.send(self.begin).await.map_err(failed("beginning the transaction"))
    }

    pub fn has_begun(&self) -> bool {
        self.transaction != Transaction::None
    }

    /// A lock of the session, asked for outside any transaction. False if another has it.
    pub async fn try_advisory_lock(&mut self, name: &str) -> Result<bool, ShopError> {
        let number = advisory_number(name);
        let is_ours: bool = sqlx::query_scalar(TRY_ADVISORY_LOCK)
            .bind(number)
            .fetch_one(&mut *self.inner)
            .await
            .map_err(failed("taking the advisory lock"))?;
        self.advisory_lock = is_ours.then_some(number);
        Ok(is_ours)
    }

    /// False if this connection holds none.
    pub async fn advisory_unlock(&mut self) -> Result<bool, ShopError> {
        let Some(number) = self.advisory_lock else {
            return Ok(false);
        };
        let unlocked = sqlx::query_scalar(ADVISORY_UNLOCK)
            .bind(number)
            .fetch_one(&mut *self.inner)
            .await
            .map_err(failed("releasing the advisory lock"))?;
        self.advisory_lock = None;
        Ok(unlocked)
    }

    /// For one statement, whose result then goes through [`Self::checked`].
    pub fn raw(&mut self) -> &mut PgConnection {
        &mut self.inner
    }

    pub fn checked<T>(
        &mut self,
        doing: &'static str,
        result: Result<T, sqlx::Error>,
    ) -> Result<T, ShopError> {
        if result.is_err() && self.transaction == Transaction::Open {
            self.transaction = Transaction::Failed;
        }
        result.map_err(failed(doing))
    }

    /// An error here is told apart from all others: unless PostgreSQL says that it rolled back,
    /// the order may exist.
    pub async fn commit(&mut self) -> Result<(), ShopError> {
        if self.transaction != Transaction::Open {
            self.rollback().await?;
            return Err(ShopError::CommitOfFailedTransaction);
        }
        match self.send("COMMIT").await {
            Ok(()) => {
                self.transaction = Transaction::None;
                Ok(())
            }
            Err(source) if asks_for_another_try(&source) => {
                self.transaction = Transaction::None;
                let doing = "committing";
                Err(ShopError::Postgres { doing, source })
            }
            Err(source) => Err(ShopError::CommitUnclear { source }),
        }
    }

    pub async fn rollback(&mut self) -> Result<(), ShopError> {
        if self.transaction != Transaction::None {
            self.send("ROLLBACK").await.map_err(failed("rolling back"))?;
            self.transaction = Transaction::None;
        }
        Ok(())
    }

    /// BEGIN, COMMIT or ROLLBACK.
    async fn send(&mut self, statement: &'static str) -> Result<(), sqlx::Error> {
        if !self.has_transactions {
            return d33_autocommit::send();
        }
        let sent = sqlx::raw_sql(statement).execute(&mut *self.inner).await;
        sent.map(drop)
    }
}

/// A connection whose transaction or lock was never ended isn't fit for the pool: closing it ends
/// all of them.
impl Drop for OrderConnection {
    fn drop(&mut self) {
        if self.transaction != Transaction::None || self.advisory_lock.is_some() {
            self.inner.close_on_drop();
        }
    }
}

/// PostgreSQL numbers its advisory locks. Two names that met in 64 bits would only wait for each
/// other.
fn advisory_number(name: &str) -> i64 {
    let digest = Sha256::digest(name.as_bytes());
    i64::from_be_bytes(digest[..8].try_into().expect("a digest has 32 bytes"))
}

fn failed(doing: &'static str) -> impl Fn(sqlx::Error) -> ShopError {
    move |source| ShopError::Postgres { doing, source }
}
