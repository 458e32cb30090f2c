//! Statements of `sql/*.sql`, filled with the profile's tables and columns.
//!
//! Names are quoted, and what is put in is never looked into again. Where a set of users, keys or
//! products is compared with a column, the set is cast to the column's type and not the column to
//! text, so that its index still serves.

use std::collections::{BTreeMap, HashMap};

use sqlx::Row;
use sqlx::postgres::PgPool;

use super::ObserveError;
use crate::profile::OrdersTable;

/// The columns of a table, with their types.
#[derive(Clone, Debug)]
pub(super) struct TableColumns {
    table: String,
    types: BTreeMap<String, String>,
}

impl TableColumns {
    /// Looks at a table; refuses one that isn't there.
    pub async fn of(pool: &PgPool, table: &str) -> Result<Self, ObserveError> {
        let types: BTreeMap<String, String> = sqlx::query(include_str!("sql/column_types.sql"))
            .bind(quoted_table(table))
            .fetch_all(pool)
            .await
            .and_then(|rows| {
                rows.iter().map(|row| Ok((row.try_get("name")?, row.try_get("type")?))).collect()
            })
            .map_err(|error| ObserveError::Query {
                doing: "looked at the schema",
                source: error.into(),
            })?;
        if types.is_empty() {
            return Err(ObserveError::NoTable { table: table.to_owned() });
        }
        Ok(Self { table: table.to_owned(), types })
    }

    pub fn type_of(&self, column: &str) -> Result<&str, ObserveError> {
        self.types.get(column).map(String::as_str).ok_or_else(|| ObserveError::NoColumn {
            table: self.table.clone(),
            column: column.to_owned(),
            known: self.types.keys().cloned().collect::<Vec<_>>().join(", "),
        })
    }

    /// A column that is there, quoted.
    pub fn column(&self, column: &str) -> Result<String, ObserveError> {
        self.type_of(column)?;
        Ok(quoted(column))
    }

    /// Microseconds since 1970 of a column that says when, or 0 of one that only says whether; NULL
    /// for never, and for a column that isn't mapped.
    pub fn moment(&self, column: Option<&String>) -> Result<String, ObserveError> {
        let Some(column) = column else { return Ok("NULL::bigint".to_owned()) };
        let name = self.column(column)?;
        let kind = self.type_of(column)?;
        Ok(if kind.starts_with("timestamp") || kind == "date" {
            format!("(extract(epoch FROM {name}) * 1000000)::bigint")
        } else if kind == "boolean" {
            format!("CASE WHEN {name} THEN 0::bigint END")
        } else {
            format!("CASE WHEN {name} IS NOT NULL THEN 0::bigint END")
        })
    }
}

/// The condition under which an order counts, with the values of `sold` as parameter 1.
pub(super) fn valid(orders: &OrdersTable, columns: &TableColumns) -> Result<String, ObserveError> {
    match &orders.status {
        Some(status) if !orders.sold.is_empty() => {
            Ok(format!("{}::text = ANY ($1::text[])", columns.column(status)?))
        }
        _ => Ok("true".to_owned()),
    }
}

/// Puts names into a statement's braces, each once, without looking into what was put in.
pub(super) fn fill(statement: &str, names: &HashMap<&'static str, String>) -> String {
    let mut out = String::new();
    let body =
        statement.lines().filter(|line| !line.starts_with("--")).collect::<Vec<_>>().join("\n");
    let mut rest = body.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').expect("our statements close their braces");
        out.push_str(before);
        out.push_str(names.get(name).expect("our statements name only what is given"));
        rest = after;
    }
    out.push_str(rest);
    out
}

pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// `schema.table` or `table`, quoted part by part.
pub(super) fn quoted_table(name: &str) -> String {
    name.split('.').map(quoted).collect::<Vec<_>>().join(".")
}

/// Those of a set of ids that a column of this type can hold; a single other one would spoil the
/// whole cast.
pub(super) fn castable<'a>(ids: impl Iterator<Item = &'a String>, kind: &str) -> Vec<String> {
    let fits = |id: &String| match kind {
        "smallint" => id.parse::<i16>().is_ok(),
        "integer" => id.parse::<i32>().is_ok(),
        "bigint" => id.parse::<i64>().is_ok(),
        "uuid" => id.len() == 36 && id.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit()),
        kind => kind == "text" || kind.starts_with("character"),
    };
    ids.filter(|id| fits(id)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_whatever_they_hold() {
        assert_eq!(quoted_table("shop.orders"), r#""shop"."orders""#);
        assert_eq!(quoted(r#"a"; DROP TABLE x; --"#), r#""a""; DROP TABLE x; --""#);
    }

    #[test]
    fn what_is_filled_in_is_not_looked_into() {
        let names = HashMap::from([("a", "{b}".to_owned()), ("b", "x".to_owned())]);
        assert_eq!(fill("-- {no}\n{a} {b}", &names), "{b} x");
    }

    #[test]
    fn ids_that_a_column_cannot_hold_are_left_out() {
        let ids = ["17", "order-17", "99999999999"].map(str::to_owned);
        assert_eq!(castable(ids.iter(), "integer"), ["17"]);
        assert_eq!(castable(ids.iter(), "bigint"), ["17", "99999999999"]);
        assert_eq!(castable(ids.iter(), "text"), ids);
        assert!(castable(ids.iter(), "uuid").is_empty());
    }
}
