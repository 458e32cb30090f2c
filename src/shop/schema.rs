//! Brings the tables and the unique index into being, at every start.
//!
//! Several instances start at once, hence the advisory lock; and an instance may be restarted
//! while another one's transaction is open, hence the look before any DDL: even a `CREATE INDEX
//! IF NOT EXISTS` that does nothing waits for every open write to the table first. The index
//! follows the settings of the instance that started last, because a leftover index would hide
//! the defect that is being tried.

use sqlx::{Connection, PgConnection};

use super::{
    defects::{Defect, d24_no_unique_constraint},
    error::ShopError,
    settings::{OneOrderPer, Settings},
};

const LOCK: &str = include_str!("sql/schema_lock.sql");
const PRESENT: &str = include_str!("sql/schema_present.sql");
const TABLES: &str = include_str!("sql/tables.sql");
const CREATE_ONE_PER_KEY: &str = include_str!("sql/create_one_per_key.sql");
const CREATE_ONE_PER_USER: &str = include_str!("sql/create_one_per_user.sql");
const DROP_ONE_PER_KEY: &str = include_str!("sql/drop_one_per_key.sql");
const DROP_ONE_PER_USER: &str = include_str!("sql/drop_one_per_user.sql");

/// An arbitrary number that the shop's instances agree on.
const LOCK_ID: i64 = 0x6f72_6465_7273;

/// The database's last word on "one order".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UniqueIndex {
    PerKey,
    PerUser,
    None,
}

impl UniqueIndex {
    fn wanted(settings: &Settings) -> Self {
        match settings.one_order_per {
            OneOrderPer::Key => Self::PerKey,
            OneOrderPer::User => Self::PerUser,
        }
    }
}

pub async fn ensure(connection: &mut PgConnection, settings: &Settings) -> Result<(), ShopError> {
    let index = if settings.defects.contains(&Defect::NoUniqueConstraint) {
        d24_no_unique_constraint::index()
    } else {
        UniqueIndex::wanted(settings)
    };
    create(connection, index)
        .await
        .map_err(|source| ShopError::Postgres {
            doing: "creating the tables and the unique index (does the orders table hold duplicates?)",
            source,
        })
}

async fn create(connection: &mut PgConnection, index: UniqueIndex) -> Result<(), sqlx::Error> {
    let mut tx = connection.begin().await?;
    sqlx::query(LOCK).bind(LOCK_ID).execute(&mut *tx).await?;
    let (tables, per_key, per_user): (bool, bool, bool) =
        sqlx::query_as(PRESENT).fetch_one(&mut *tx).await?;
    if !tables {
        sqlx::raw_sql(TABLES).execute(&mut *tx).await?;
    }
    for statement in changes(index, per_key, per_user) {
        sqlx::raw_sql(statement).execute(&mut *tx).await?;
    }
    tx.commit().await
}

/// The statements between the indexes that are there and the one that is wanted.
fn changes(wanted: UniqueIndex, per_key: bool, per_user: bool) -> Vec<&'static str> {
    let key = match (per_key, wanted == UniqueIndex::PerKey) {
        (false, true) => Some(CREATE_ONE_PER_KEY),
        (true, false) => Some(DROP_ONE_PER_KEY),
        _ => None,
    };
    let user = match (per_user, wanted == UniqueIndex::PerUser) {
        (false, true) => Some(CREATE_ONE_PER_USER),
        (true, false) => Some(DROP_ONE_PER_USER),
        _ => None,
    };
    key.into_iter().chain(user).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restart_with_the_same_settings_changes_nothing() {
        assert!(changes(UniqueIndex::PerKey, true, false).is_empty());
        assert!(changes(UniqueIndex::PerUser, false, true).is_empty());
        assert!(changes(UniqueIndex::None, false, false).is_empty());
    }

    #[test]
    fn the_index_follows_the_settings() {
        assert_eq!(
            changes(UniqueIndex::PerUser, true, false),
            [DROP_ONE_PER_KEY, CREATE_ONE_PER_USER]
        );
        assert_eq!(changes(UniqueIndex::None, true, false), [DROP_ONE_PER_KEY]);
        assert_eq!(
            changes(UniqueIndex::PerKey, false, false),
            [CREATE_ONE_PER_KEY]
        );
    }
}
