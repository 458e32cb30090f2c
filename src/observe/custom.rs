//! Checks of the profile's own: SQL of the user's, each behind a savepoint and with a time-out.
//!
//! A statement that fails must not spoil the transaction that the other reads share, and the error
//! names its check, because the statement is the user's to correct.

use std::collections::HashMap;

use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Connection, Row};

use super::ObserveError;
use super::statement::fill;
use crate::history::CustomRows;
use crate::profile::CustomCheck;

/// How long one check may take.
const LIMIT: &str = "30s";

/// Rows of one check; whoever returns more isn't a check.
const MOST_ROWS: usize = 100_000;

/// Runs all checks in the transaction of `connection`.
pub(super) async fn run(
    connection: &mut PgConnection,
    checks: &[CustomCheck],
) -> Result<Vec<CustomRows>, ObserveError> {
    let mut all = Vec::with_capacity(checks.len());
    for check in checks {
        let failed = |source| ObserveError::Custom { title: check.title.clone(), source };
        let mut savepoint = connection.begin().await.map_err(failed)?;
        let read = read(&mut savepoint, check).await;
        // The time-out goes back with it; the rows have been read.
        savepoint.rollback().await.map_err(failed)?;
        let rows = read.and_then(|rows| rows.iter().map(named).collect::<Result<Vec<_>, _>>());
        let rows = rows.map_err(failed)?;
        if rows.len() > MOST_ROWS {
            let title = check.title.clone();
            return Err(ObserveError::TooManyRows { title, most: MOST_ROWS });
        }
        let columns = rows.first().map(|(names, _)| names.clone()).unwrap_or_default();
        all.push(CustomRows { columns, rows: rows.into_iter().map(|(_, row)| row).collect() });
    }
    Ok(all)
}

async fn read(
    connection: &mut PgConnection,
    check: &CustomCheck,
) -> Result<Vec<PgRow>, sqlx::Error> {
    sqlx::query(include_str!("sql/statement_limit.sql"))
        .bind(LIMIT)
        .execute(&mut *connection)
        .await?;
    let names = HashMap::from([
        ("query", check.query.trim_end().trim_end_matches(';').to_owned()),
        ("most", (MOST_ROWS + 1).to_string()),
    ]);
    let statement = fill(include_str!("sql/custom.sql"), &names);
    sqlx::query(AssertSqlSafe(statement)).fetch_all(connection).await
}

type Named = (Vec<String>, Vec<Option<String>>);

fn named(row: &PgRow) -> Result<Named, sqlx::Error> {
    Ok((row.try_get("names")?, row.try_get("vals")?))
}
