//! `[setup]` and `[teardown]`: the user's own statements, and the only ones of dupeproof that ever
//! change a row.
//!
//! They go over a connection of their own, before the audit's: a setup may well make the tables that
//! the audit asks for. Each is sent by the simple protocol, so that one entry may hold several
//! statements; PostgreSQL runs those in one transaction.

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

use super::{ObserveError, Subject};

/// How much of a statement an error shows.
const SHOWN: usize = 60;

/// Runs all statements in order, with the run's users, products and stock filled in; `stocks` has the
/// units of each product, in their order. `which` is
/// `setup` or `teardown`.
///
/// # Errors
/// [`ObserveError::Statement`] for the first one that fails; those after it are not run.
pub async fn run_statements(
    url: &str,
    which: &'static str,
    statements: &[String],
    subject: &Subject,
    stock: u32,
    stocks: &[u32],
) -> Result<(), ObserveError> {
    if statements.is_empty() {
        return Ok(());
    }
    let place = super::place::shown(url);
    let refused =
        |error: sqlx::Error| ObserveError::Connect { place: place.clone(), source: error.into() };
    let options: PgConnectOptions = url.parse().map_err(refused)?;
    let connecting = options.application_name("dupeproof");
    let mut connection = connecting.connect().await.map_err(refused)?;
    for (number, statement) in (1..).zip(statements) {
        let filled = fill(statement, subject, stock, stocks);
        sqlx::raw_sql(AssertSqlSafe(filled)).execute(&mut connection).await.map_err(|error| {
            let (begins, source) = (beginning(statement), error.into());
            ObserveError::Statement { which, number, begins, source }
        })?;
    }
    // Everything is done; a connection that doesn't close in order changes nothing.
    let _ = connection.close().await;
    Ok(())
}

/// Puts array literals and the number into the holes, which may stand in quotes like any other array
/// literal. All other braces are the statement's own.
fn fill(statement: &str, subject: &Subject, stock: u32, stocks: &[u32]) -> String {
    let users: Vec<String> = subject.users.iter().map(|user| literal(user)).collect();
    let products: Vec<String> = subject.products.iter().map(i64::to_string).collect();
    let users = format!("ARRAY[{}]::text[]", users.join(","));
    let products = format!("ARRAY[{}]::bigint[]", products.join(","));
    let stock = stock.to_string();
    let stocks: Vec<String> = stocks.iter().map(u32::to_string).collect();
    let stocks = format!("ARRAY[{}]::integer[]", stocks.join(","));
    let holes = [
        ("{users}", &users),
        ("'{users}'", &users),
        ("{products}", &products),
        ("'{products}'", &products),
        ("{stock}", &stock),
        ("{stocks}", &stocks),
        ("'{stocks}'", &stocks),
    ];
    let mut out = String::with_capacity(statement.len());
    let mut rest = statement;
    while let Some((at, hole, value)) = holes
        .iter()
        .filter_map(|(hole, value)| Some((rest.find(hole)?, hole, value)))
        .min_by_key(|(at, ..)| *at)
    {
        out.push_str(&rest[..at]);
        out.push_str(value);
        rest = &rest[at + hole.len()..];
    }
    out + rest
}

/// A string literal that means the same whatever `standard_conforming_strings` is.
fn literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    if quoted.contains('\\') {
        format!("E'{}'", quoted.replace('\\', "\\\\"))
    } else {
        format!("'{quoted}'")
    }
}

/// The first words of a statement, in one line.
fn beginning(statement: &str) -> String {
    let line = statement.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= SHOWN {
        return line;
    }
    let cut: String = line.chars().take(SHOWN).collect();
    format!("{} ...", cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_become_literals_and_other_braces_stay() {
        let subject = Subject {
            users: vec!["u-1".to_owned(), r"o'\hara {stock}".to_owned()],
            keys: Vec::new(),
            products: vec![7, 8],
        };
        let filled = fill("{users} {products} {stock} '{}' {\"a\":1} {keys}", &subject, 5, &[]);
        assert_eq!(
            filled,
            r#"ARRAY['u-1',E'o''\\hara {stock}']::text[] ARRAY[7,8]::bigint[] 5 '{}' {"a":1} {keys}"#
        );
        assert_eq!(fill("{users}", &Subject::default(), 0, &[]), "ARRAY[]::text[]");
        let both = fill("unnest({products}, {stocks})", &subject, 0, &[10, 1]);
        assert_eq!(both, "unnest(ARRAY[7,8]::bigint[], ARRAY[10,1]::integer[])");
        let quoted = fill("unnest('{products}'::bigint[])", &subject, 0, &[]);
        assert_eq!(quoted, "unnest(ARRAY[7,8]::bigint[]::bigint[])");
    }

    #[test]
    fn a_long_statement_is_named_by_its_first_words() {
        assert_eq!(beginning("DELETE\n  FROM orders"), "DELETE FROM orders");
        let long = beginning(&format!("INSERT INTO orders VALUES {}", "(1, 2), ".repeat(40)));
        assert!(long.starts_with("INSERT INTO orders VALUES (1,") && long.ends_with(" ..."));
        assert!(long.len() <= SHOWN + 4, "{long}");
    }
}
