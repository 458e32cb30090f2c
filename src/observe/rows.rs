//! The rows of a run, read in one REPEATABLE READ READ ONLY transaction.
//!
//! Rows are matched by the exact sets of users, keys and products, never by a prefix, and by the order
//! ids that were acknowledged by then: a row that has lost all the rest is still the run's. The sets
//! are cast to the columns' own types (not the columns to text), so that indexes of a large staging
//! table still serve.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions, PgRow};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};

use super::statement::{TableColumns, castable, fill, quoted, quoted_table};
use super::{ObserveError, custom};
use crate::history::{
    Clock, Constraint, ConstraintKind, MovementRow, OrderRow, SCHEMA_VERSION, Snapshot, StockRow,
};
use crate::profile::{AuditTables, CustomCheck, MovementsTable, StockTable};

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
    pub(super) tables: AuditTables,
    subject: Subject,
    /// Whether the users existed before the run (rule S09).
    users_are_a_pool: bool,
    /// Order ids that were acknowledged so far.
    acknowledged: Arc<Mutex<BTreeSet<String>>>,
    pub(super) clock: Clock,
    orders_sql: String,
    id_type: String,
    stock_sql: Option<String>,
    movements_sql: Option<String>,
}

impl Observer {
    /// Connects and checks that the tables and columns of the profile exist.
    pub async fn connect(
        url: &str,
        tables: &AuditTables,
        subject: Subject,
        clock: Clock,
    ) -> Result<Self, ObserveError> {
        let refused = |error: sqlx::Error| ObserveError::Connect {
            place: place_of(url),
            source: error.into(),
        };
        let options: PgConnectOptions = url.parse().map_err(refused)?;
        // A pool asks again and again; whoever refuses is told at once.
        let first = options.clone().connect().await.map_err(refused)?;
        first.close().await.map_err(refused)?;
        let pool = PgPoolOptions::new()
            .max_connections(2)
            .acquire_timeout(std::time::Duration::from_secs(10))
            .connect_with(options.application_name("dupeproof"))
            .await
            .map_err(refused)?;
        let columns = TableColumns::of(&pool, &tables.orders.table).await?;
        let orders_sql = orders_sql(tables, &columns)?;
        let id_type = columns.type_of(&tables.orders.id)?.to_owned();
        let stock_sql = match &tables.stock {
            None => None,
            Some(stock) => Some(stock_sql(stock, &TableColumns::of(&pool, &stock.table).await?)?),
        };
        let movements_sql = match &tables.movements {
            None => None,
            Some(of) => Some(movements_sql(of, &TableColumns::of(&pool, &of.table).await?)?),
        };
        Ok(Self {
            pool,
            tables: tables.clone(),
            subject,
            users_are_a_pool: false,
            acknowledged: Arc::default(),
            clock,
            orders_sql,
            id_type,
            stock_sql,
            movements_sql,
        })
    }

    /// The users existed before the run, and may have orders at the baseline.
    #[must_use]
    pub fn with_existing_users(mut self) -> Self {
        self.users_are_a_pool = true;
        self
    }

    /// Orders that the target has acknowledged: their rows are read from now on, whatever they hold.
    pub fn expect_orders(&self, ids: impl IntoIterator<Item = String>) {
        self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner).extend(ids);
    }

    /// The state before the run; refuses to go on when rows of the run's users or keys exist. Users of
    /// a pool may have some.
    pub async fn baseline(&self) -> Result<Snapshot, ObserveError> {
        let snapshot = self.snapshot().await?;
        let users: HashSet<&str> = match self.users_are_a_pool {
            true => HashSet::new(),
            false => self.subject.users.iter().map(String::as_str).collect(),
        };
        let keys: HashSet<&str> = self.subject.keys.iter().map(String::as_str).collect();
        let ours = |row: &&OrderRow| {
            row.user.as_deref().is_some_and(|user| users.contains(user))
                || row.key.as_deref().is_some_and(|key| keys.contains(key))
        };
        let mut found = snapshot.orders.iter().filter(ours);
        let Some(first) = found.next() else { return Ok(snapshot) };
        let example = first.id.to_string();
        Err(ObserveError::NotFresh { found: 1 + found.count(), example })
    }

    /// Everything that an audit reads, as it stands now.
    pub async fn snapshot(&self) -> Result<Snapshot, ObserveError> {
        self.look(&self.tables.sql).await
    }

    /// The same without the profile's own checks, which may take long.
    pub(super) async fn glance(&self) -> Result<Snapshot, ObserveError> {
        self.look(&[]).await
    }

    async fn look(&self, checks: &[CustomCheck]) -> Result<Snapshot, ObserveError> {
        let failed = |error: sqlx::Error| ObserveError::Query {
            doing: "read the run's rows",
            source: error.into(),
        };
        let mut transaction = self
            .pool
            .begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            .await
            .map_err(failed)?;
        let rows = self.read(&mut transaction).await.map_err(failed)?;
        let custom = custom::run(&mut transaction, checks).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        Ok(Snapshot { custom, taken: self.clock.now(), ..rows })
    }

    async fn read(&self, connection: &mut PgConnection) -> Result<Snapshot, sqlx::Error> {
        let products = self.subject.product_texts();
        let orders = sqlx::query(AssertSqlSafe(self.orders_sql.as_str()))
            .bind(&self.subject.users)
            .bind(&self.subject.keys)
            .bind(&products)
            .bind(self.acknowledged_ids())
            .fetch_all(&mut *connection)
            .await?;
        let orders = orders.iter().map(order_row).collect::<Result<_, _>>()?;
        let stock = match &self.stock_sql {
            None => Vec::new(),
            Some(sql) => {
                let query = sqlx::query(AssertSqlSafe(sql.as_str())).bind(&products);
                query.fetch_all(&mut *connection).await?
            }
        };
        let movements = match &self.movements_sql {
            None => None,
            Some(sql) => {
                let query = sqlx::query(AssertSqlSafe(sql.as_str())).bind(&products);
                let rows = query.fetch_all(&mut *connection).await?;
                Some(rows.iter().map(movement_row).collect::<Result<_, _>>()?)
            }
        };
        let constraints = sqlx::query(include_str!("sql/constraints.sql"))
            .bind(self.audited_tables())
            .fetch_all(&mut *connection)
            .await?;
        Ok(Snapshot {
            schema_version: SCHEMA_VERSION,
            orders,
            stock: stock.iter().map(stock_row).collect::<Result<_, _>>()?,
            constraints: constraints.iter().map(constraint).collect::<Result<_, _>>()?,
            movements,
            ..Snapshot::default()
        })
    }

    /// Those acknowledged ids that the id column can hold.
    fn acknowledged_ids(&self) -> Vec<String> {
        let ids = self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner);
        castable(ids.iter(), &self.id_type)
    }

    /// The server's version, for the record.
    pub async fn server_version(&self) -> Result<String, ObserveError> {
        sqlx::query_scalar("SHOW server_version").fetch_one(&self.pool).await.map_err(|error| {
            ObserveError::Query { doing: "asked for the version", source: error.into() }
        })
    }

    /// Closes the connections.
    pub async fn close(self) {
        self.pool.close().await;
    }

    pub(super) fn audited_tables(&self) -> Vec<String> {
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
        paid_us: row.try_get("paid_us")?,
        closed_us: row.try_get("closed_us")?,
    })
}

fn stock_row(row: &PgRow) -> Result<(String, StockRow), sqlx::Error> {
    let stock = StockRow { available: row.try_get("available")?, fence: row.try_get("fence")? };
    Ok((row.try_get("product")?, stock))
}

fn movement_row(row: &PgRow) -> Result<MovementRow, sqlx::Error> {
    Ok(MovementRow {
        order: row.try_get("order_id")?,
        product: row.try_get("product")?,
        delta: row.try_get("delta")?,
    })
}

pub(super) fn constraint(row: &PgRow) -> Result<Constraint, sqlx::Error> {
    let kind: String = row.try_get("kind")?;
    Ok(Constraint {
        table: row.try_get("table_name")?,
        name: row.try_get("name")?,
        kind: if kind == "unique" { ConstraintKind::Unique } else { ConstraintKind::Check },
        columns: row.try_get("columns")?,
        definition: row.try_get("definition")?,
        partial: row.try_get("partial")?,
        nullable: row.try_get("nullable")?,
    })
}

fn orders_sql(tables: &AuditTables, columns: &TableColumns) -> Result<String, ObserveError> {
    let orders = &tables.orders;
    let mut names = HashMap::from([
        ("table", quoted_table(&orders.table)),
        ("paid", columns.moment(orders.paid_at.as_ref())?),
        ("closed", columns.moment(orders.closed_at.as_ref())?),
    ]);
    let mapped: [(&'static str, Option<&String>, &str); 8] = [
        ("id", Some(&orders.id), ""),
        ("user", orders.user.as_ref(), "NULL"),
        ("key", orders.key.as_ref(), "NULL"),
        ("product", orders.product.as_ref(), "NULL"),
        ("quantity", orders.quantity.as_ref(), "NULL"),
        ("fingerprint", orders.fingerprint.as_ref(), "NULL"),
        ("status", orders.status.as_ref(), "NULL"),
        ("created", orders.created.as_ref(), "NULL::timestamptz"),
    ];
    for (name, column, otherwise) in mapped {
        let sql = match column {
            Some(column) => columns.column(column)?,
            None => otherwise.to_owned(),
        };
        names.insert(name, sql);
    }
    // Every parameter is mentioned even where its column isn't mapped, so that the number of
    // parameters stays the same.
    let mut conditions = Vec::new();
    for (parameter, column) in
        [(1, &orders.user), (2, &orders.key), (3, &orders.product), (4, &Some(orders.id.clone()))]
    {
        conditions.push(match column {
            Some(column) => {
                let kind = columns.type_of(column)?;
                format!("{} = ANY (${parameter}::text[]::{kind}[])", quoted(column))
            }
            None => format!("(false AND ${parameter}::text[] IS NULL)"),
        });
    }
    names.insert("of_the_run", conditions.join(" OR "));
    Ok(fill(include_str!("sql/orders.sql"), &names))
}

fn stock_sql(stock: &StockTable, columns: &TableColumns) -> Result<String, ObserveError> {
    let fence = stock.fence.as_ref().map(|fence| columns.column(fence)).transpose()?;
    let names = HashMap::from([
        ("table", quoted_table(&stock.table)),
        ("product", columns.column(&stock.product)?),
        ("available", columns.column(&stock.available)?),
        ("fence", fence.unwrap_or_else(|| "NULL".to_owned())),
        ("product_type", columns.type_of(&stock.product)?.to_owned()),
    ]);
    Ok(fill(include_str!("sql/stock.sql"), &names))
}

fn movements_sql(
    movements: &MovementsTable,
    columns: &TableColumns,
) -> Result<String, ObserveError> {
    let names = HashMap::from([
        ("table", quoted_table(&movements.table)),
        ("order", columns.column(&movements.order)?),
        ("product", columns.column(&movements.product)?),
        ("delta", columns.column(&movements.delta)?),
        ("product_type", columns.type_of(&movements.product)?.to_owned()),
    ]);
    Ok(fill(include_str!("sql/movements.sql"), &names))
}

/// Host, port and database of a URL, without the credentials.
pub(super) fn place_of(url: &str) -> String {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let place = after_scheme.rsplit_once('@').map_or(after_scheme, |(_, place)| place);
    place.split('?').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_never_shows_credentials() {
        assert_eq!(place_of("postgres://me:s3cret@127.0.0.1:5432/shop?a=b"), "127.0.0.1:5432/shop");
        assert_eq!(place_of("postgres://127.0.0.1/shop"), "127.0.0.1/shop");
        assert_eq!(place_of("postgres://me:p@ss@h/db"), "h/db");
    }
}
