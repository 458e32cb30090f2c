//! Checks of the profile's own: SQL of the user's, each behind a savepoint and with a time-out.
//!
//! A statement that fails must spoil neither the transaction that the other reads share nor the run:
//! its check says why it has no rows, and the rest is judged.

use std::collections::HashMap;

use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Connection, Row};

use super::Refusal;
use super::statement::fill;
use crate::history::CustomRows;
use crate::profile::CustomCheck;

/// How long one check may take.
const LIMIT: &str = "30s";

/// Rows of one check; whoever returns more isn't a check.
const MOST_ROWS: usize = 100_000;

/// Runs all checks in the transaction of `connection`; one that can't be run says so.
pub(super) async fn run(
    connection: &mut PgConnection,
    checks: &[CustomCheck],
) -> Result<Vec<CustomRows>, sqlx::Error> {
    let mut all = Vec::with_capacity(checks.len());
    for check in checks {
        let mut savepoint = connection.begin().await?;
        let read = read(&mut savepoint, check).await;
        // The time-out goes back with it; the rows have been read.
        savepoint.rollback().await?;
        all.push(read.unwrap_or_else(|trouble| CustomRows {
            trouble: Some(trouble),
            ..CustomRows::default()
        }));
    }
    Ok(all)
}

/// The rows of one check, or why there are none.
async fn read(connection: &mut PgConnection, check: &CustomCheck) -> Result<CustomRows, String> {
    let refused = |error: sqlx::Error| Refusal::from(error).to_string();
    let rows = fetched(connection, check).await.map_err(refused)?;
    if rows.len() > MOST_ROWS {
        return Err("it returns more than 100,000 rows".to_owned());
    }
    let named: Vec<Named> = rows.iter().map(named).collect::<Result<_, _>>().map_err(refused)?;
    let columns = named.first().map(|(names, _)| names.clone()).unwrap_or_default();
    Ok(CustomRows { columns, rows: named.into_iter().map(|(_, row)| row).collect(), trouble: None })
}

async fn fetched(
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
