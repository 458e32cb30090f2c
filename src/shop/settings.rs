//! What the command line says: where the shop listens, what it talks to, how its chain behaves.
//!
//! The URLs may come from the environment, so that a password needn't appear in a process list.
//! The behaviour is a type of its own, because it is all that the chain may see. Every default
//! makes the correct service; the other values are the settings under which the published
//! experiments and the defects are tried.

use std::{net::SocketAddr, time::Duration};

use clap::{Args, Parser, ValueEnum};

use super::{defects::Defect, duration, error::ShopError, paying::PayingSettings};

/// How the names of its variables begin.
pub const VARIABLES: &str = "DUPEPROOF_SHOP_";

/// Serve the reference order service.
///
/// Every setting may also come from the environment, as DUPEPROOF_SHOP_ and the flag's
/// name, such as DUPEPROOF_SHOP_LOCK_PER=user; a flag wins.
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

    /// List the strategies that the flags choose between, and end
    #[arg(long)]
    pub list_strategies: bool,

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

    /// Life of the lease, renewed every third of it
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = duration::parse_nonzero)]
    pub lease: Duration,

    /// How long a record may be in progress before a duplicate looks for its order; four leases if
    /// left out
    #[arg(long, value_name = "TIME", value_parser = duration::parse_nonzero)]
    pub processing_lease: Option<Duration>,

    /// How many owners of a record may go missing before its intent is left to a person
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub owners_at_most: u32,

    /// Longest wait for a reply of Redis
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration::parse_nonzero)]
    pub redis_timeout: Duration,

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

    /// What keeps others out while an order is placed
    #[arg(long, value_enum, default_value_t = LockBy::Redis)]
    pub lock: LockBy,

    /// What the lock is taken on
    #[arg(long, value_enum, default_value_t = LockPer::Product)]
    pub lock_per: LockPer,

    /// Whether the holder of the lease may take it again
    #[arg(long, value_enum, default_value_t = LeaseKind::Plain)]
    pub lease_kind: LeaseKind,

    /// Isolation level of the order's transaction
    #[arg(long, value_enum, default_value_t = Isolation::ReadCommitted)]
    pub isolation: Isolation,

    /// When the transaction begins
    #[arg(long, value_enum, default_value_t = Begin::AfterLock)]
    pub begin: Begin,

    /// What remembers a handled intent
    #[arg(long, value_enum, default_value_t = Idempotency::RedisAndPostgres)]
    pub idempotency: Idempotency,

    /// What happens to orders while Redis can't be reached
    #[arg(long, value_enum, default_value_t = RedisDown::Arbitrate)]
    pub redis_down: RedisDown,

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
pub enum LockBy {
    /// A lease in Redis
    Redis,
    /// An advisory lock of PostgreSQL, held by the order's own connection
    PostgresAdvisory,
    /// Nothing: the database alone decides
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LockPer {
    /// lock:stock:{product}
    Product,
    /// lock:order:create:{user}
    User,
    /// lock:orders, one lock for all orders
    Global,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LeaseKind {
    /// A key that holds a token
    Plain,
    /// A hash that counts how often its holder has entered
    Reentrant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RedisDown {
    /// Orders go on without record and lease, and the unique index decides
    Arbitrate,
    /// Orders are refused with 503
    Reject,
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
    /// Read, then UPDATE ... WHERE version = the version read; repeated where it wasn't
    Version,
    /// SELECT ... FOR UPDATE, then UPDATE
    SelectForUpdate,
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

/// Lets each setting of the shop come from the environment too.
pub fn from_environment(shop: clap::Command) -> clap::Command {
    shop.mut_args(|argument| match argument.get_long() {
        Some(flag) if argument.get_env().is_none() && argument.get_action().takes_values() => {
            let variable = format!("{VARIABLES}{}", flag.to_uppercase().replace('-', "_"));
            argument.env(variable).hide_env(true)
        }
        _ => argument,
    })
}

/// Says why flags of the chain can't be meant together, before anything is started with them.
pub fn check(flags: &[String]) -> Result<(), ShopError> {
    #[derive(Parser)]
    #[command(no_binary_name = true)]
    struct Flags {
        #[command(flatten)]
        shop: ShopArgs,
    }
    match Flags::try_parse_from(flags) {
        Ok(flags) => flags.shop.settings.check(),
        Err(source) => Err(ShopError::Flags { source }),
    }
}

impl Settings {
    /// How long a record may be in progress before a duplicate looks for its order. Longer than
    /// a lease, because a holder that waits for the lease first is slow without being dead.
    pub fn processing_lease(&self) -> Duration {
        self.processing_lease.unwrap_or_else(|| self.lease.saturating_mul(4))
    }

    pub fn is_reentrant(&self) -> bool {
        self.lock == LockBy::Redis && self.lease_kind == LeaseKind::Reentrant
    }

    /// Refuses what can't be meant, with a sentence that says why.
    pub fn check(&self) -> Result<(), ShopError> {
        let impossible = |why| Err(ShopError::Impossible { why });
        let is_lease = self.lock == LockBy::Redis;
        match self {
            _ if self.lease_kind == LeaseKind::Reentrant && !is_lease => impossible(
                "--lease-kind reentrant is about the lease in Redis: use it with --lock redis",
            ),
            _ if self.lock == LockBy::None && self.lock_per != LockPer::Product => {
                impossible("--lock-per says what the lock covers, and --lock none has no lock")
            }
            _ if self.lock == LockBy::PostgresAdvisory && self.begin != Begin::AfterLock => {
                impossible(
                    "--lock postgres-advisory is taken by the order's connection before BEGIN: it \
                     goes with --begin after-lock only",
                )
            }
            _ if self.lock == LockBy::None && self.begin != Begin::AfterLock => impossible(
                "--begin says when the transaction begins beside the lock, and --lock \
                            none has no lock",
            ),
            _ if self.idempotency == Idempotency::Token && self.order_window.is_some() => {
                impossible(
                    "--idempotency token names an order by its token, and --order-window by user \
                     and product: use one of the two",
                )
            }
            _ if self.idempotency == Idempotency::None && self.lock == LockBy::None => impossible(
                "--idempotency none looks for the order under the lock, and --lock none has no \
                 lock: use --idempotency postgres",
            ),
            _ if self.processing_lease() < self.lease => impossible(
                "--processing-lease must be at least as long as --lease, or a record would be \
                 taken over from an owner that still holds the product",
            ),
            _ => self.check_defects(),
        }
    }

    /// A defect of a step that these settings never take would prove nothing.
    fn check_defects(&self) -> Result<(), ShopError> {
        for info in self.defects.iter().map(|defect| defect.info()) {
            if let Some(need) = info.needs.iter().find(|need| !need.is_met_by(self)) {
                return Err(ShopError::DefectOutOfPlace { defect: info.switch, need: need.text() });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub mod tests {
    use clap::CommandFactory;

    use super::*;

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
    fn what_cannot_be_meant_together_is_refused_with_a_sentence() {
        for (flags, why) in [
            ("shop --lock none --lock-per user", "--lock none has no lock"),
            ("shop --lock none --idempotency none", "use --idempotency postgres"),
            ("shop --lock postgres-advisory --begin before-lock", "--begin after-lock only"),
            ("shop --lock none --begin before-lock", "--lock none has no lock"),
            ("shop --lock postgres-advisory --lease-kind reentrant", "use it with --lock redis"),
            ("shop --idempotency token --order-window 10s", "use one of the two"),
            ("shop --lease 3s --processing-lease 2s", "at least as long as --lease"),
            ("shop --defects D11,D18", "it needs a fence"),
            ("shop --lock none --defects D12", "it needs a lock ("),
            ("shop --lock-per user --defects D11", "it needs a lock on the product"),
            ("shop --idempotency postgres --defects D46", "it needs the record in Redis"),
            ("shop --defects D28", "it needs transactions that see one moment"),
            ("shop --redis-down reject --defects D13", "orders that are placed without Redis"),
            ("shop --defects D24,D31", "no defect that changes the index"),
            ("shop --one-order-per user --defects D73", "it needs a unique index"),
            ("shop --defects D70", "it needs stock in its own transaction"),
        ] {
            let refusal = settings(flags).check().expect_err(flags).to_string();
            assert!(refusal.contains(why), "{flags}: {refusal}");
        }
        assert!(settings("shop").check().is_ok());
    }

    #[test]
    fn every_setting_can_come_from_the_environment() {
        let command = from_environment(Line::command());
        let variable = |flag: &str| {
            let argument = command.get_arguments().find(|one| one.get_long() == Some(flag));
            argument.and_then(|one| one.get_env()?.to_str()).map(str::to_owned)
        };
        assert_eq!(variable("lock-per").as_deref(), Some("DUPEPROOF_SHOP_LOCK_PER"));
        assert_eq!(variable("defects").as_deref(), Some("DUPEPROOF_SHOP_DEFECTS"));
        assert_eq!(
            variable("database-url").as_deref(),
            Some("DATABASE_URL"),
            "as everybody has it"
        );
        assert_eq!(variable("list-defects"), None, "that is no setting");
    }

    #[test]
    fn a_record_is_overdue_after_four_leases() {
        assert_eq!(settings("shop --lease 3s").processing_lease(), Duration::from_secs(12));
    }
}
