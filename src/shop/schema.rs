//! Brings the tables, the unique indexes, the duty to have a key and the check on stock into being, at
//! every start.
//!
//! Several instances start at once, hence the advisory lock; and an instance may be restarted
//! while another one's transaction is open, hence the look before any DDL: even a `CREATE INDEX
//! IF NOT EXISTS` that does nothing waits for every open write to the table first. Indexes and
//! check follow the settings of the instance that started last, because a leftover one would hide
//! the defect that is being tried.

use sqlx::{Connection, PgConnection};

use super::{
    defects::{
        Defect, DefectSet, d23_no_available_guard, d24_no_unique_constraint,
        d73_unique_index_lets_null_or_deleted_escape,
    },
    error::ShopError,
    scope::Scope,
    settings::{OneOrderPer, Settings},
};

const LOCK: &str = include_str!("sql/schema_lock.sql");
const TABLES_PRESENT: &str = include_str!("sql/tables_present.sql");
const PARTS_PRESENT: &str = include_str!("sql/parts_present.sql");
const TABLES: &str = include_str!("sql/tables.sql");

/// The statements that make and remove a part.
type Statements = (&'static str, &'static str);

macro_rules! part {
    ($create:literal, $drop:literal) => {
        (include_str!($create), include_str!($drop))
    };
}
const PER_KEY: Statements = part!("sql/create_one_per_key.sql", "sql/drop_one_per_key.sql");
const PER_BARE_KEY: Statements =
    part!("sql/create_one_per_bare_key.sql", "sql/drop_one_per_bare_key.sql");
const PER_LIVING_KEY: Statements =
    part!("sql/create_one_per_living_key.sql", "sql/drop_one_per_living_key.sql");
const PER_USER: Statements = part!("sql/create_one_per_user.sql", "sql/drop_one_per_user.sql");
const PER_WINDOW: Statements =
    part!("sql/create_one_per_window.sql", "sql/drop_one_per_window.sql");
const KEY_REQUIRED: Statements = part!("sql/require_key.sql", "sql/allow_no_key.sql");
const STOCK_CHECK: Statements = part!("sql/create_stock_check.sql", "sql/drop_stock_check.sql");

/// An arbitrary number that the shop's instances agree on.
const LOCK_ID: i64 = 0x6f72_6465_7273;

/// The database's last word on "one order".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UniqueIndex {
    PerKey,
    PerBareKey,
    PerLivingKey,
    PerUser,
    None,
}

/// The database's last word on what is sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StockCheck {
    NotNegative,
    None,
}

/// Which parts there are, or should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Parts {
    per_key: bool,
    per_bare_key: bool,
    per_living_key: bool,
    per_user: bool,
    per_window: bool,
    stock_check: bool,
    key_required: bool,
}

impl UniqueIndex {
    pub fn wanted(settings: &Settings) -> Self {
        let defects: DefectSet = settings.defects.iter().copied().collect();
        if defects.has(Defect::NoUniqueConstraint) {
            return d24_no_unique_constraint::index();
        }
        match settings.one_order_per {
            OneOrderPer::Key if defects.has(Defect::UniqueIndexLetsNullOrDeletedEscape) => {
                d73_unique_index_lets_null_or_deleted_escape::index()
            }
            OneOrderPer::Key => Scope::of(defects).index(),
            OneOrderPer::User => Self::PerUser,
        }
    }
}

impl Parts {
    fn wanted(settings: &Settings) -> Self {
        let defects: DefectSet = settings.defects.iter().copied().collect();
        let index = UniqueIndex::wanted(settings);
        let check = if defects.has(Defect::NoAvailableGuard) {
            d23_no_available_guard::check()
        } else {
            StockCheck::NotNegative
        };
        Self {
            per_key: index == UniqueIndex::PerKey,
            per_bare_key: index == UniqueIndex::PerBareKey,
            per_living_key: index == UniqueIndex::PerLivingKey,
            per_user: index == UniqueIndex::PerUser,
            per_window: index != UniqueIndex::None && settings.order_window.is_some(),
            stock_check: check == StockCheck::NotNegative,
            key_required: index != UniqueIndex::PerLivingKey
                && settings.order_window.is_none()
                && !defects.has(Defect::MissingKeyAccepted),
        }
    }

    /// The statements between these parts and the wanted ones.
    fn changes_to(self, wanted: Self) -> impl Iterator<Item = &'static str> {
        [
            (self.per_key, wanted.per_key, PER_KEY),
            (self.per_bare_key, wanted.per_bare_key, PER_BARE_KEY),
            (self.per_living_key, wanted.per_living_key, PER_LIVING_KEY),
            (self.per_user, wanted.per_user, PER_USER),
            (self.per_window, wanted.per_window, PER_WINDOW),
            (self.stock_check, wanted.stock_check, STOCK_CHECK),
            (self.key_required, wanted.key_required, KEY_REQUIRED),
        ]
        .into_iter()
        .filter(|(is_there, is_wanted, _)| is_there != is_wanted)
        .map(|(_, is_wanted, (create, drop))| if is_wanted { create } else { drop })
    }
}

pub async fn ensure(connection: &mut PgConnection, settings: &Settings) -> Result<(), ShopError> {
    create(connection, Parts::wanted(settings)).await.map_err(|source| ShopError::Postgres {
        doing: "creating the tables, their indexes and the check on stock (does the orders table \
                hold duplicates, or the stock a negative number?)",
        source,
    })
}

async fn create(connection: &mut PgConnection, wanted: Parts) -> Result<(), sqlx::Error> {
    let mut tx = connection.begin().await?;
    sqlx::query(LOCK).bind(LOCK_ID).execute(&mut *tx).await?;
    let tables: bool = sqlx::query_scalar(TABLES_PRESENT).fetch_one(&mut *tx).await?;
    if !tables {
        sqlx::raw_sql(TABLES).execute(&mut *tx).await?;
    }
    let (per_key, per_bare_key, per_living_key, per_user, per_window, stock_check, key_required) =
        sqlx::query_as(PARTS_PRESENT).fetch_one(&mut *tx).await?;
    let present = Parts {
        per_key,
        per_bare_key,
        per_living_key,
        per_user,
        per_window,
        stock_check,
        key_required,
    };
    for statement in present.changes_to(wanted) {
        sqlx::raw_sql(statement).execute(&mut *tx).await?;
    }
    tx.commit().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shop::settings::tests::settings;

    fn wanted(flags: &str) -> Parts {
        Parts::wanted(&settings(flags))
    }

    fn changes(before: &str, after: &str) -> Vec<&'static str> {
        wanted(before).changes_to(wanted(after)).collect()
    }

    #[test]
    fn a_restart_with_the_same_settings_changes_nothing() {
        for flags in ["shop", "shop --one-order-per user", "shop --order-window 10m"] {
            assert!(changes(flags, flags).is_empty(), "{flags}");
        }
    }

    #[test]
    fn the_index_follows_the_settings() {
        let per_user = changes("shop", "shop --one-order-per user");
        assert_eq!(per_user, [PER_KEY.1, PER_USER.0]);
        assert_eq!(changes("shop", "shop --order-window 10m"), [PER_WINDOW.0, KEY_REQUIRED.1]);
        assert_eq!(changes("shop", "shop --defects D58"), [KEY_REQUIRED.1]);
        assert_eq!(changes("shop", "shop --defects D44"), [PER_KEY.1, PER_BARE_KEY.0]);
    }

    #[test]
    fn a_defect_takes_its_part_away_and_no_other() {
        let all = "shop --order-window 10m";
        let without_index = changes(all, "shop --order-window 10m --defects D24");
        assert_eq!(without_index, [PER_KEY.1, PER_WINDOW.1]);
        assert_eq!(changes("shop", "shop --defects D23"), [STOCK_CHECK.1]);
        let partial = changes("shop", "shop --defects D73");
        assert_eq!(partial, [PER_KEY.1, PER_LIVING_KEY.0, KEY_REQUIRED.1]);
        assert_eq!(changes("shop --defects D23", "shop"), [STOCK_CHECK.0]);
    }
}
