//! What the command line says: where the shop listens, what it talks to, how its chain behaves.
//!
//! The URLs may come from the environment, so that a password needn't appear in a process list.
//! The behaviour is a type of its own, because it is all that the chain may see. Every default
//! makes the correct service; the other values are the settings under which the published
//! experiments and the defects are tried.

use std::{net::SocketAddr, time::Duration};

use clap::{Args, ValueEnum};

use super::{defects::Defect, duration, paying::PayingSettings};

/// Serve the reference order service.
#[derive(Debug, Clone, Args)]
pub struct ShopArgs {
    /// Where to serve orders; port 0 takes a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,

    /// Where to serve the number of POST requests that arrived
    #[arg(long, value_name = "ADDRESS")]
    pub counter_listen: Option<SocketAddr>,

    /// PostgreSQL, such as postgres://user@127.0.0.1/orders
    #[arg(long, value_name = "URL", env = "DATABASE_URL", hide_env_values = true)]
    pub database_url: Option<String>,

    /// Redis, such as redis://127.0.0.1/
    #[arg(long, value_name = "URL", env = "REDIS_URL", hide_env_values = true)]
    pub redis_url: Option<String>,

    /// Connections to PostgreSQL, all opened at the start
    #[arg(long, value_name = "N", default_value_t = 20,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub pool_size: u32,

    /// List the defects that can be switched on, and end
    #[arg(long)]
    pub list_defects: bool,

    #[command(flatten)]
    pub settings: Settings,
}

/// How the chain of `POST /orders` behaves.
#[derive(Debug, Clone, Args)]
pub struct Settings {
    /// Number of this instance, told by its counter and its log
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub instance: u32,

    /// Pause between two attempts to take the lease (half to one and a half times this)
    #[arg(long, value_name = "TIME", default_value = "5ms", value_parser = duration::parse_nonzero)]
    pub lock_poll: Duration,

    /// Longest wait for the lease; then the answer is 202 BUSY
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = duration::parse)]
    pub lock_wait: Duration,

    /// Life of the lease; a record in progress is overdue after four times this
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = duration::parse_nonzero)]
    pub lease: Duration,

    /// Life of an idempotency record
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = duration::parse_nonzero)]
    pub record_ttl: Duration,

    /// Life of a submit token
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration::parse_nonzero)]
    pub token_ttl: Duration,

    /// Sleep within each transaction, before COMMIT: a slow handler
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = duration::parse)]
    pub work_time: Duration,

    /// Accept orders without a key: one per user and product within this time
    #[arg(long, value_name = "TIME", value_parser = duration::parse_nonzero)]
    pub order_window: Option<Duration>,

    /// What the lease is taken on
    #[arg(long, value_enum, default_value_t = LockPer::Product)]
    pub lock_per: LockPer,

    /// Isolation level of the order's transaction
    #[arg(long, value_enum, default_value_t = Isolation::ReadCommitted)]
    pub isolation: Isolation,

    /// When the transaction begins
    #[arg(long, value_enum, default_value_t = Begin::AfterLock)]
    pub begin: Begin,

    /// What remembers a handled intent
    #[arg(long, value_enum, default_value_t = Idempotency::RedisAndPostgres)]
    pub idempotency: Idempotency,

    /// How an order takes its units from the shelf
    #[arg(long, value_enum, default_value_t = Stock::Conditional)]
    pub stock: Stock,

    /// What there may be one order for; the unique index follows
    #[arg(long, value_enum, default_value_t = OneOrderPer::Key)]
    pub one_order_per: OneOrderPer,

    #[command(flatten)]
    pub paying: PayingSettings,

    /// Defects to switch on, by name or id, separated by commas
    #[arg(long, value_name = "DEFECTS", value_delimiter = ',')]
    pub defects: Vec<Defect>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LockPer {
    /// lock:stock:{product}
    Product,
    /// lock:order:create:{user}
    User,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Isolation {
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Begin {
    /// Once the lease is held
    AfterLock,
    /// A connection is taken and BEGIN sent before the lease is asked for
    BeforeLock,
    /// The same, and the product is read: from repeatable read upwards the snapshot is older than
    /// the lease
    BeforeLockWithRead,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Idempotency {
    /// A record in Redis, with the unique index behind it
    #[value(name = "redis+postgres")]
    RedisAndPostgres,
    /// No record: the unique index alone decides, and the winner is read and compared
    Postgres,
    /// A one-time token in the header X-Submit-Token, from POST /tokens, is the key
    Token,
    /// No record: look for the order under the lease, then a plain INSERT
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Stock {
    /// UPDATE ... WHERE available >= quantity
    Conditional,
    /// Nothing is taken: what is sold doesn't run out. The stock row is a second lock in disguise,
    /// so the published experiment (check, then insert) is without it
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OneOrderPer {
    /// (user, idempotency key)
    Key,
    /// The user: a business key
    User,
}

impl Settings {
    /// How long a record may be in progress before a duplicate looks for its order. Longer than
    /// a lease, because a holder that waits for the lease first is slow without being dead.
    pub fn processing_lease(&self) -> Duration {
        self.lease.saturating_mul(4)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        shop: ShopArgs,
    }

    fn parse(line: &str) -> Result<ShopArgs, clap::Error> {
        Line::try_parse_from(line.split(' ')).map(|line| line.shop)
    }

    pub fn settings(line: &str) -> Settings {
        parse(line).expect("good flags").settings
    }

    #[test]
    fn without_flags_it_is_the_correct_service() {
        let args = parse("shop").expect("every flag has a default");
        assert_eq!(args.settings.idempotency, Idempotency::RedisAndPostgres);
        assert_eq!(args.settings.begin, Begin::AfterLock);
        assert_eq!(args.settings.lock_per, LockPer::Product);
        assert_eq!(args.settings.one_order_per, OneOrderPer::Key);
        assert_eq!(args.settings.work_time, Duration::ZERO);
        assert_eq!(args.settings.order_window, None);
        assert!(args.settings.defects.is_empty());
    }

    #[test]
    fn defects_are_given_by_name_or_by_id() {
        let args = parse("shop --defects D01,no-unique-constraint").expect("both exist");
        assert_eq!(args.settings.defects, [Defect::UnlockBeforeCommit, Defect::NoUniqueConstraint]);
    }

    #[test]
    fn every_strategy_has_the_name_that_profiles_use() {
        for (name, strategy) in [
            ("redis+postgres", Idempotency::RedisAndPostgres),
            ("postgres", Idempotency::Postgres),
            ("token", Idempotency::Token),
            ("none", Idempotency::None),
        ] {
            assert_eq!(settings(&format!("shop --idempotency {name}")).idempotency, strategy);
        }
    }

    #[test]
    fn a_misspelt_defect_is_refused_with_the_nearest_name() {
        let error = parse("shop --defects unlock-before-comit").map(|_| ()).expect_err("misspelt");
        let text = error.to_string();
        assert!(text.contains("did you mean `unlock-before-commit`?"), "{text}");
    }

    #[test]
    fn a_record_is_overdue_after_four_leases() {
        assert_eq!(settings("shop --lease 3s").processing_lease(), Duration::from_secs(12));
    }
}
