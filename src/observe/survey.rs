//! A live database, looked at as a whole: for `dupeproof audit PROFILE`.
//!
//! No run is behind it, so every row of the audited tables counts. The database does the adding up;
//! at most [`MOST`] rows of a kind come over, with how many there are.

use std::collections::HashMap;

use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Row};

use super::rows::constraint;
use super::statement::{TableColumns, fill, quoted, quoted_table, valid};
use super::{ObserveError, Observer, custom};
use crate::history::{
    Apart, Below, Doubled, LedgerLine, LedgerSums, Listed, PaidAndClosed, Survey,
};
use crate::profile::{BusinessColumn, Contract, KeyScope};

/// Rows of a kind that are shown.
const MOST: u64 = 1_000;

type Names = HashMap<&'static str, String>;

impl Observer {
    /// Reads what the tables show, in one read-only transaction.
    pub async fn survey(&self, contract: &Contract) -> Result<Survey, ObserveError> {
        let failed = |error: sqlx::Error| ObserveError::Query {
            doing: "surveyed the tables",
            source: error.into(),
        };
        let orders = TableColumns::of(&self.pool, &self.tables.orders.table).await?;
        let plan = Plan::new(self, contract, &orders).await?;
        let mut transaction = self
            .pool
            .begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            .await
            .map_err(failed)?;
        let read = plan.read(self, &mut transaction, contract).await.map_err(failed)?;
        let custom = custom::run(&mut transaction, &self.tables.sql).await.map_err(failed)?;
        transaction.rollback().await.map_err(failed)?;
        Ok(Survey { custom, taken: self.clock.now(), ..read })
    }
}

/// The statements that the profile allows for.
struct Plan {
    count: String,
    below_zero: Option<String>,
    doubled: Option<String>,
    nameless: Option<String>,
    apart: Option<String>,
    ledger: Option<String>,
    both: Option<String>,
}

impl Plan {
    async fn new(
        observer: &Observer,
        contract: &Contract,
        columns: &TableColumns,
    ) -> Result<Self, ObserveError> {
        let tables = &observer.tables;
        let orders = &tables.orders;
        let status = orders.status.as_ref();
        let mut names = Names::from([
            ("table", quoted_table(&orders.table)),
            ("orders", quoted_table(&orders.table)),
            ("id", columns.column(&orders.id)?),
            ("valid", valid(orders, columns)?),
            ("status", status.map_or_else(|| "NULL".to_owned(), |name| quoted(name))),
            ("paid", columns.moment(orders.paid_at.as_ref())?),
            ("closed", columns.moment(orders.closed_at.as_ref())?),
            ("most", MOST.to_string()),
        ]);
        let count = fill(include_str!("sql/survey_orders.sql"), &names);
        let both = (orders.paid_at.is_some() && orders.closed_at.is_some())
            .then(|| fill(include_str!("sql/survey_both.sql"), &names));
        let doubled = unique_columns(observer, contract).map(|unique| {
            let list =
                |of: fn(&String) -> String, by| unique.iter().map(of).collect::<Vec<_>>().join(by);
            names.insert("columns", list(|name| quoted(name), ", "));
            names.insert("names", list(|name| format!("{}::text", quoted(name)), ", "));
            names.insert(
                "given",
                list(|name| format!("btrim({}::text) <> ''", quoted(name)), " AND "),
            );
            fill(include_str!("sql/survey_doubled.sql"), &names)
        });
        let nameless =
            doubled.as_ref().map(|_| fill(include_str!("sql/survey_nameless.sql"), &names));
        let mut plan =
            Self { count, below_zero: None, doubled, nameless, apart: None, ledger: None, both };
        if let Some(stock) = &tables.stock {
            let stock_columns = TableColumns::of(&observer.pool, &stock.table).await?;
            names.insert("stock", quoted_table(&stock.table));
            names.insert("available", stock_columns.column(&stock.available)?);
            names.insert("product", stock_columns.column(&stock.product)?);
            let of_stock = Names::from([("table", names["stock"].clone())]);
            let of_stock = names.clone().into_iter().chain(of_stock).collect();
            plan.below_zero = Some(fill(include_str!("sql/survey_below_zero.sql"), &of_stock));
        }
        if let Some(movements) = &tables.movements {
            let moved = TableColumns::of(&observer.pool, &movements.table).await?;
            names.insert("movements", quoted_table(&movements.table));
            names.insert("movement_order", moved.column(&movements.order)?);
            names.insert("movement_product", moved.column(&movements.product)?);
            names.insert("delta", moved.column(&movements.delta)?);
            if tables.stock.is_some() {
                plan.ledger = Some(fill(include_str!("sql/survey_ledger.sql"), &names));
            }
            if let (Some(product), Some(quantity)) = (&orders.product, &orders.quantity) {
                names.insert("product", columns.column(product)?);
                names.insert("quantity", columns.column(quantity)?);
                names.insert("is_settled", is_settled(observer));
                plan.apart = Some(fill(include_str!("sql/survey_apart.sql"), &names));
            }
        }
        Ok(plan)
    }

    async fn read(
        &self,
        observer: &Observer,
        connection: &mut PgConnection,
        contract: &Contract,
    ) -> Result<Survey, sqlx::Error> {
        let sold = &observer.tables.orders.sold;
        let settles = contract.settles_within.unwrap_or_default().as_secs_f64();
        let count = sqlx::query(AssertSqlSafe(self.count.as_str()))
            .bind(sold)
            .fetch_one(&mut *connection)
            .await?;
        let mut survey = Survey {
            orders: unsigned(&count, "orders")?,
            valid: unsigned(&count, "valid")?,
            ..Survey::default()
        };
        if let Some(sql) = &self.below_zero {
            let rows = sqlx::query(AssertSqlSafe(sql.as_str())).fetch_all(&mut *connection).await?;
            survey.below_zero = Some(listed(&rows, below)?);
        }
        if let Some(sql) = &self.doubled {
            let query = sqlx::query(AssertSqlSafe(sql.as_str())).bind(sold);
            survey.doubled = Some(listed(&query.fetch_all(&mut *connection).await?, doubled)?);
        }
        if let Some(sql) = &self.nameless {
            let query = sqlx::query(AssertSqlSafe(sql.as_str())).bind(sold);
            survey.nameless = unsigned(&query.fetch_one(&mut *connection).await?, "orders")?;
        }
        if let Some(sql) = &self.apart {
            let query = sqlx::query(AssertSqlSafe(sql.as_str())).bind(sold).bind(settles);
            survey.apart = Some(listed(&query.fetch_all(&mut *connection).await?, apart)?);
        }
        if let Some(sql) = &self.ledger {
            let rows = sqlx::query(AssertSqlSafe(sql.as_str())).fetch_all(&mut *connection).await?;
            let agree = rows.first().map_or(Ok(0), |row| unsigned(row, "agree"))?;
            survey.ledger = Some(LedgerSums { agree, differ: listed(&rows, ledger_line)? });
        }
        if let Some(sql) = &self.both {
            let rows = sqlx::query(AssertSqlSafe(sql.as_str())).fetch_all(&mut *connection).await?;
            survey.paid_and_closed = Some(listed(&rows, both)?);
        }
        let constraints = sqlx::query(include_str!("sql/constraints.sql"))
            .bind(observer.audited_tables())
            .fetch_all(&mut *connection)
            .await?;
        survey.constraints = constraints.iter().map(constraint).collect::<Result<_, _>>()?;
        Ok(survey)
    }
}

/// The columns that make an order unique; `None` if one of them isn't mapped.
fn unique_columns(observer: &Observer, contract: &Contract) -> Option<Vec<String>> {
    let orders = &observer.tables.orders;
    let is_account = contract.key.scope == KeyScope::Account && contract.one_order_per.is_empty();
    let by = contract.unique_by().iter();
    by.filter(|column| !is_account || **column == BusinessColumn::Key)
        .map(|column| match column {
            BusinessColumn::User => orders.user.clone(),
            BusinessColumn::Key => orders.key.clone(),
            BusinessColumn::Product => orders.product.clone(),
        })
        .collect()
}

/// Whether a saga has had its time; without a column that tells when, everything counts.
fn is_settled(observer: &Observer) -> String {
    match &observer.tables.orders.created {
        Some(created) => {
            format!("coalesce({} < now() - make_interval(secs => $2), true)", quoted(created))
        }
        None => "true".to_owned(),
    }
}

fn listed<T>(
    rows: &[PgRow],
    read: fn(&PgRow) -> Result<T, sqlx::Error>,
) -> Result<Listed<T>, sqlx::Error> {
    let total = rows.first().map_or(Ok(0), |row| unsigned(row, "total"))?;
    Ok(Listed { shown: rows.iter().map(read).collect::<Result<_, _>>()?, total })
}

fn unsigned(row: &PgRow, column: &str) -> Result<u64, sqlx::Error> {
    Ok(row.try_get::<i64, _>(column)?.unsigned_abs())
}

fn below(row: &PgRow) -> Result<Below, sqlx::Error> {
    Ok(Below { product: row.try_get("product")?, available: row.try_get("available")? })
}

fn doubled(row: &PgRow) -> Result<Doubled, sqlx::Error> {
    Ok(Doubled {
        names: row.try_get("names")?,
        orders: unsigned(row, "orders")?,
        ids: row.try_get("ids")?,
    })
}

fn apart(row: &PgRow) -> Result<Apart, sqlx::Error> {
    Ok(Apart {
        order: row.try_get("order_id")?,
        product: row.try_get::<Option<String>, _>("product")?.unwrap_or_default(),
        due: row.try_get("due")?,
        moved: row.try_get("moved")?,
        has_order: row.try_get("has_order")?,
    })
}

fn ledger_line(row: &PgRow) -> Result<LedgerLine, sqlx::Error> {
    Ok(LedgerLine {
        product: row.try_get("product")?,
        available: row.try_get("available")?,
        moved: row.try_get("moved")?,
    })
}

fn both(row: &PgRow) -> Result<PaidAndClosed, sqlx::Error> {
    Ok(PaidAndClosed {
        id: row.try_get("id")?,
        status: row.try_get("status")?,
        paid_us: row.try_get("paid_us")?,
        closed_us: row.try_get("closed_us")?,
    })
}
