//! What kind of lab is wanted.

use std::path::PathBuf;

use super::payments::PaymentsSpec;

/// `LabSpec::new(logs)` is two correct instances and nothing in stock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabSpec {
    /// Instances of the shop.
    pub instances: u16,
    /// Defects of the shop that are switched on, by name.
    pub defects: Vec<String>,
    /// Further flags of the shop, such as `--pool-size=20`.
    pub shop_flags: Vec<String>,
    /// The provider that the shop pays through; without one, paying needs nobody.
    pub payments: Option<PaymentsSpec>,
    /// Whether a second, empty Redis is started, for a failover.
    pub spare_redis: bool,
    /// The folder for postgres.log, redis.log, shop-0.log and so on. Made when missing, kept at
    /// the end.
    pub logs: PathBuf,
    /// Settings of PostgreSQL by name, such as `("fsync", "on")`. They win over the lab's own,
    /// except for those that say where it listens.
    pub postgres_settings: Vec<(String, String)>,
    /// Products and how many of each are available.
    pub products: Vec<(i64, i32)>,
}

impl LabSpec {
    pub fn new(logs: PathBuf) -> Self {
        Self {
            instances: 2,
            defects: Vec::new(),
            shop_flags: Vec::new(),
            payments: None,
            spare_redis: false,
            logs,
            postgres_settings: Vec::new(),
            products: Vec::new(),
        }
    }
}
