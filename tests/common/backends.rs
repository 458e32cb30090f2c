//! Back-ends of a lab's PostgreSQL, for tests that need one in a certain state.

use std::time::Duration;

use dupeproof::guard::ProcessId;
use sqlx::{Connection, PgConnection};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The one value that a query answers with.
pub async fn ask(url: &str, query: &'static str) -> Result<String, sqlx::Error> {
    let mut connection = PgConnection::connect(url).await?;
    let answer = sqlx::query_scalar(query).fetch_one(&mut connection).await?;
    connection.close().await?;
    Ok(answer)
}

/// A back-end that never looks up from its work, and its process.
pub async fn busy_backend(url: &str) -> (JoinHandle<()>, ProcessId) {
    let mut connection = PgConnection::connect(url).await.expect("PostgreSQL takes connections");
    let pid: i32 = sqlx::query_scalar("SELECT pg_backend_pid()")
        .fetch_one(&mut connection)
        .await
        .expect("a back-end knows its pid");
    let busy = tokio::spawn(async move {
        // It ends with the server.
        let _ = sqlx::raw_sql("DO $$ BEGIN LOOP END LOOP; END $$").execute(&mut connection).await;
    });
    let working =
        "SELECT count(*)::text FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'DO %'";
    let at_work = async { while ask(url, working).await.expect("PostgreSQL answers") == "0" {} };
    timeout(Duration::from_secs(5), at_work).await.expect("it begins at once");
    (busy, ProcessId::of(pid.unsigned_abs()).expect("a back-end is a process"))
}
