//! Waiting until nothing of the load can change a row any more (rule S03).
//!
//! Three things must have come to rest: every transaction and statement that the target had open
//! when the load stopped; every connection of ours at the target; and the run's rows, which must be
//! equal in two reads one quiet window apart. Back-ends that start later don't hinder it: other
//! traffic may go on for ever.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use sqlx::Row;
use tokio::time::{Instant, sleep};

use super::sockets::open_connections;
use super::{ObserveError, Observer};
use crate::history::Snapshot;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// How long a drain may take, and what it looks at besides the database.
#[derive(Clone, Debug)]
pub struct DrainLimits {
    /// After this, it has failed.
    pub limit: Duration,
    /// The longest time in which a request was handled so far.
    pub quiet: Duration,
    /// Stands in for `quiet` where the target's connections can't be seen.
    pub client_timeout: Duration,
    pub targets: Vec<SocketAddr>,
}

/// How a drain ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Drained {
    /// At rest; the rows as they stand.
    Yes { rows: Box<Snapshot>, waited_for: String },
    /// What was still going on when the limit ran out.
    No { still: String },
}

/// An open transaction or running statement: the back-end and when it began.
type Work = BTreeMap<(i32, i64), String>;

impl Observer {
    /// Waits for rest.
    pub async fn drain(&self, limits: &DrainLimits) -> Result<Drained, ObserveError> {
        let deadline = Instant::now() + limits.limit;
        let mut open = self.work().await?;
        let began_with = open.len();
        let quiet = loop {
            let prepared = self.prepared_transactions().await?;
            let connections = open_connections(&limits.targets);
            if open.is_empty() && prepared == 0 && connections.unwrap_or(0) == 0 {
                break if connections.is_some() { limits.quiet } else { limits.client_timeout };
            }
            if Instant::now() >= deadline {
                let still = still_going(&open, prepared, connections.unwrap_or(0));
                return Ok(Drained::No { still });
            }
            sleep(PAUSE).await;
            let now = self.work().await?;
            open.retain(|work, _| now.contains_key(work));
        };
        let mut before = self.glance().await?;
        loop {
            sleep(quiet).await;
            let mut after = self.glance().await?;
            let mut is_equal = same_rows(&before, &after);
            if is_equal && !self.tables.sql.is_empty() {
                // Their rows must be of the same moment as the others.
                let whole = self.snapshot().await?;
                is_equal = same_rows(&after, &whole);
                after = whole;
            }
            if is_equal {
                let waited_for = format!(
                    "{began_with} open transactions at the start; rows equal in two reads {} ms apart",
                    quiet.as_millis()
                );
                return Ok(Drained::Yes { rows: Box::new(after), waited_for });
            }
            if Instant::now() >= deadline {
                let still = format!(
                    "rows still changed within {} ms ({} orders, then {})",
                    quiet.as_millis(),
                    before.orders.len(),
                    after.orders.len()
                );
                return Ok(Drained::No { still });
            }
            before = after;
        }
    }

    async fn work(&self) -> Result<Work, ObserveError> {
        let failed = |error: sqlx::Error| ObserveError::Query {
            doing: "looked for open transactions",
            source: error.into(),
        };
        let rows = sqlx::query(include_str!("sql/activity.sql"))
            .fetch_all(&self.pool)
            .await
            .map_err(failed)?;
        rows.iter()
            .map(|row| {
                let identity = (row.try_get("pid")?, row.try_get("began_us")?);
                let (state, query): (String, String) =
                    (row.try_get("state")?, row.try_get("query")?);
                Ok((identity, format!("back-end {} is {state}: {query}", identity.0)))
            })
            .collect::<Result<_, _>>()
            .map_err(failed)
    }

    async fn prepared_transactions(&self) -> Result<i64, ObserveError> {
        sqlx::query_scalar(include_str!("sql/prepared_transactions.sql"))
            .fetch_one(&self.pool)
            .await
            .map_err(|error| ObserveError::Query {
                doing: "looked for prepared transactions",
                source: error.into(),
            })
    }
}

fn same_rows(one: &Snapshot, other: &Snapshot) -> bool {
    one.orders == other.orders && one.stock == other.stock && one.movements == other.movements
}

fn still_going(open: &Work, prepared: i64, connections: usize) -> String {
    let mut parts = Vec::new();
    if let Some(example) = open.values().next() {
        parts.push(format!("{} open transactions ({example})", open.len()));
    }
    if prepared > 0 {
        parts.push(format!("{prepared} prepared transactions"));
    }
    if connections > 0 {
        parts.push(format!("{connections} connections still open at the target"));
    }
    parts.join("; ")
}
