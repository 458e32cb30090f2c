//! Reads of a real PostgreSQL: what a run's rows are, what the schema forbids, and what a live database
//! shows by itself.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like the tests themselves")]

mod rows;
mod survey;
mod tables;

use std::path::Path;

use dupeproof::guard::Guard;
use dupeproof::history::Clock;
use dupeproof::lab::{Lab, LabSpec};
use dupeproof::observe::{ObserveError, Observer, Subject};
use dupeproof::profile::AuditTables;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

/// A private PostgreSQL that was filled by a script.
pub struct Database {
    lab: Lab,
    guard: Guard,
    _logs: tempfile::TempDir,
}

impl Database {
    pub async fn with(script: &str) -> Self {
        let logs = tempfile::tempdir().unwrap();
        let guard = Guard::start(Path::new(env!("CARGO_BIN_EXE_dupeproof"))).await.unwrap();
        let spec = LabSpec { instances: 0, ..LabSpec::new(logs.path().join("logs")) };
        let lab = Lab::start(spec, &guard).await.unwrap();
        let database = Self { lab, guard, _logs: logs };
        database.run(script).await;
        database
    }

    pub async fn run(&self, script: &str) {
        let mut connection = PgConnection::connect(&self.lab.postgres_url).await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(script.to_owned())).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }

    pub async fn observer(
        &self,
        tables: &AuditTables,
        subject: Subject,
    ) -> Result<Observer, ObserveError> {
        Observer::connect(&self.lab.postgres_url, tables, subject, Clock::start()).await
    }

    pub async fn end(self) {
        self.lab.stop().await.unwrap();
        self.guard.finish().await.unwrap();
    }
}
