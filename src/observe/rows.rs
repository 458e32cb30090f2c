//! The rows of a run, read in one REPEATABLE READ READ ONLY transaction.
//!
//! Rows are matched by the exact sets of users, keys and products, never by a prefix. The sets are
//! cast to the columns' own types (not the columns to text), so that indexes of a large staging
//! table still serve.

use std::collections::{BTreeMap, HashMap};

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions, PgRow};
use sqlx::{AssertSqlSafe, Row};

use super::ObserveError;
use crate::history::{
    Clock, Constraint, ConstraintKind, OrderRow, SCHEMA_VERSION, Snapshot, StockRow,
};
use crate::profile::AuditTables;

/// The exact sets that make a row one of the run's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    pub users: Vec<String>,
    pub keys: Vec<String>,
    pub products: Vec<i64>,
}

impl Subject {
    fn product_texts(&self) -> Vec<String> {
        self.products.iter().map(i64::to_string).collect()
    }
}

/// Looks at one database through the profile's tables.
#[derive(Clone, Debug)]
pub struct Observer {
    pub(super) pool: PgPool,
    tables: AuditTables,
    subject: Subject,
    clock: Clock,
    orders_sql: String,
    stock_sql: Option<String>,
}

impl Observer {
    /// Connects and checks that the tables and columns of the profile exist.
    pub async fn connect(
        url: &str,
        tables: &AuditTables,
        subject: Subject,
        clock: Clock,
    ) -> Result<Self, ObserveError> {
        let refused = |source| ObserveError::Connect { place: place_of(url), source };
        let options: PgConnectOptions = url.parse().map_err(refused)?;
        let pool = PgPoolOptions::new()
            .max_connections(2)
            .acquire_timeout(std::time::Duration::from_secs(10))
            .connect_with(options.application_name("dupeproof"))
            .await
            .map_err(refused)?;
        let orders_types = column_types(&pool, &tables.orders.table).await?;
        let orders_sql = orders_sql(tables, &orders_types)?;
        let stock_sql = match &tables.stock {
            None => None,
            Some(stock) => Some(stock_sql(stock, &column_types(&pool, &stock.table).await?)?),
        };
        Ok(Self { pool, tables: tables.clone(), subject, clock, orders_sql, stock_sql })
    }

    /// The state before the run; refuses to go on when rows of the run's users or keys exist.
    pub async fn baseline(&self) -> Result<Snapshot, ObserveError> {
        let snapshot = self.snapshot().await?;
        let ours = |row: &&OrderRow| {
            row.user.as_ref().is_some_and(|user| self.subject.users.contains(user))
                || row.key.as_ref().is_some_and(|key| self.subject.keys.contains(key))
        };
        match snapshot.orders.iter().find(ours) {
            None => Ok(snapshot),
            Some(row) => Err(ObserveError::NotFresh {
                found: snapshot.orders.iter().filter(ours).count(),
                example: row.id.clone(),
            }),
        }
    }

    /// Everything that an audit reads, as it stands now.
    pub async fn snapshot(&self) -> Result<Snapshot, ObserveError> {
        let failed = |source| ObserveError::Query { doing: "read the run's rows", source };
        let mut transaction = self
            .pool
            .begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            .await
            .map_err(failed)?;
        let orders = sqlx::query(AssertSqlSafe(self.orders_sql.as_str()))
            .bind(&self.subject.users)
            .bind(&self.subject.keys)
            .bind(self.subject.product_texts())
            .fetch_all(&mut *transaction)
            .await
            .map_err(failed)?;
        let stock = match &self.stock_sql {
            None => Vec::new(),
            Some(sql) => sqlx::query(AssertSqlSafe(sql.as_str()))
                .bind(self.subject.product_texts())
                .fetch_all(&mut *transaction)
                .await
                .map_err(failed)?,
        };
        let constraints = sqlx::query(include_str!("sql/constraints.sql"))
            .bind(self.audited_tables())
            .fetch_all(&mut *transaction)
            .await
            .map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        Ok(Snapshot {
            schema_version: SCHEMA_VERSION,
            taken: self.clock.now(),
            orders: orders.iter().map(order_row).collect::<Result<_, _>>().map_err(failed)?,
            stock: stock.iter().map(stock_row).collect::<Result<_, _>>().map_err(failed)?,
            constraints: constraints
                .iter()
                .map(constraint)
                .collect::<Result<_, _>>()
                .map_err(failed)?,
            movements: None,
            custom: Vec::new(),
            refused_inserts: None,
        })
    }

    /// The server's version, for the record.
    pub async fn server_version(&self) -> Result<String, ObserveError> {
        sqlx::query_scalar("SHOW server_version")
            .fetch_one(&self.pool)
            .await
            .map_err(|source| ObserveError::Query { doing: "asked for the version", source })
    }

    /// Closes the connections.
    pub async fn close(self) {
        self.pool.close().await;
    }

    fn audited_tables(&self) -> Vec<String> {
        let stock = self.tables.stock.as_ref().map(|stock| stock.table.as_str());
        std::iter::once(self.tables.orders.table.as_str()).chain(stock).map(quoted_table).collect()
    }
}

fn order_row(row: &PgRow) -> Result<OrderRow, sqlx::Error> {
    Ok(OrderRow {
        id: row.try_get("id")?,
        user: row.try_get("user_name")?,
        key: row.try_get("key_text")?,
        product: row.try_get("product")?,
        quantity: row.try_get("quantity")?,
        fingerprint: row.try_get("fingerprint")?,
        status: row.try_get("status")?,
        created_us: row.try_get("created_us")?,
        paid_us: None,
        closed_us: None,
    })
}

fn stock_row(row: &PgRow) -> Result<(String, StockRow), sqlx::Error> {
    let stock = StockRow { available: row.try_get("available")?, fence: row.try_get("fence")? };
    Ok((row.try_get("product")?, stock))
}

fn constraint(row: &PgRow) -> Result<Constraint, sqlx::Error> {
    let kind: String = row.try_get("kind")?;
    Ok(Constraint {
        table: row.try_get("table_name")?,
        name: row.try_get("name")?,
        kind: if kind == "unique" { ConstraintKind::Unique } else { ConstraintKind::Check },
        columns: row.try_get("columns")?,
        definition: row.try_get("definition")?,
        partial: row.try_get("partial")?,
        nullable: Vec::new(),
    })
}

async fn column_types(
    pool: &PgPool,
    table: &str,
) -> Result<BTreeMap<String, String>, ObserveError> {
    let types: BTreeMap<String, String> = sqlx::query(include_str!("sql/column_types.sql"))
        .bind(quoted_table(table))
        .fetch_all(pool)
        .await
        .and_then(|rows| {
            rows.iter().map(|row| Ok((row.try_get("name")?, row.try_get("type")?))).collect()
        })
        .map_err(|source| ObserveError::Query { doing: "looked at the schema", source })?;
    if types.is_empty() {
        return Err(ObserveError::NoTable { table: table.to_owned() });
    }
    Ok(types)
}

fn type_of<'a>(
    types: &'a BTreeMap<String, String>,
    table: &str,
    column: &str,
) -> Result<&'a str, ObserveError> {
    types.get(column).map(String::as_str).ok_or_else(|| ObserveError::NoColumn {
        table: table.to_owned(),
        column: column.to_owned(),
        known: types.keys().cloned().collect::<Vec<_>>().join(", "),
    })
}

fn orders_sql(
    tables: &AuditTables,
    types: &BTreeMap<String, String>,
) -> Result<String, ObserveError> {
    let orders = &tables.orders;
    let mut names = HashMap::from([("table", quoted_table(&orders.table))]);
    let columns: [(&'static str, Option<&String>, &str); 8] = [
        ("id", Some(&orders.id), ""),
        ("user", orders.user.as_ref(), "NULL"),
        ("key", orders.key.as_ref(), "NULL"),
        ("product", orders.product.as_ref(), "NULL"),
        ("quantity", orders.quantity.as_ref(), "NULL"),
        ("fingerprint", orders.fingerprint.as_ref(), "NULL"),
        ("status", orders.status.as_ref(), "NULL"),
        ("created", orders.created.as_ref(), "NULL::timestamptz"),
    ];
    for (name, column, otherwise) in columns {
        let sql = match column {
            Some(column) => {
                type_of(types, &orders.table, column)?;
                quoted(column)
            }
            None => otherwise.to_owned(),
        };
        names.insert(name, sql);
    }
    // Every parameter is mentioned even where its column isn't mapped, so that the number of
    // parameters stays the same.
    let mut conditions = Vec::new();
    for (parameter, column) in [(1, &orders.user), (2, &orders.key), (3, &orders.product)] {
        conditions.push(match column {
            Some(column) => {
                let kind = type_of(types, &orders.table, column)?;
                format!("{} = ANY (${parameter}::text[]::{kind}[])", quoted(column))
            }
            None => format!("(false AND ${parameter}::text[] IS NULL)"),
        });
    }
    names.insert("of_the_run", conditions.join(" OR "));
    Ok(fill(include_str!("sql/orders.sql"), &names))
}

fn stock_sql(
    stock: &crate::profile::StockTable,
    types: &BTreeMap<String, String>,
) -> Result<String, ObserveError> {
    let product_type = type_of(types, &stock.table, &stock.product)?;
    type_of(types, &stock.table, &stock.available)?;
    let fence = match &stock.fence {
        Some(fence) => {
            type_of(types, &stock.table, fence)?;
            quoted(fence)
        }
        None => "NULL".to_owned(),
    };
    let names = HashMap::from([
        ("table", quoted_table(&stock.table)),
        ("product", quoted(&stock.product)),
        ("available", quoted(&stock.available)),
        ("fence", fence),
        ("product_type", product_type.to_owned()),
    ]);
    Ok(fill(include_str!("sql/stock.sql"), &names))
}

/// Puts names into a statement's braces, each once, without looking into what was put in.
fn fill(statement: &str, names: &HashMap<&'static str, String>) -> String {
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

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// `schema.table` or `table`, quoted part by part.
fn quoted_table(name: &str) -> String {
    name.split('.').map(quoted).collect::<Vec<_>>().join(".")
}

/// Host, port and database of a URL, without the credentials.
fn place_of(url: &str) -> String {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let place = after_scheme.rsplit_once('@').map_or(after_scheme, |(_, place)| place);
    place.split('?').next().unwrap_or_default().to_owned()
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
    fn a_place_never_shows_credentials() {
        assert_eq!(place_of("postgres://me:s3cret@127.0.0.1:5432/shop?a=b"), "127.0.0.1:5432/shop");
        assert_eq!(place_of("postgres://127.0.0.1/shop"), "127.0.0.1/shop");
        assert_eq!(place_of("postgres://me:p@ss@h/db"), "h/db");
    }

    #[test]
    fn what_is_filled_in_is_not_looked_into() {
        let names = HashMap::from([("a", "{b}".to_owned()), ("b", "x".to_owned())]);
        assert_eq!(fill("-- {no}\n{a} {b}", &names), "{b} x");
    }
}
