//! What every request shares: the settings, the pool, the Redis connection, the counter.
//!
//! All of it is opened before the shop listens, so that its "listening" line means "ready". The
//! drivers' own time limits are replaced: redis-rs gives up after 500 ms by default, and a reply
//! that late from a held or busy server would be taken for a failure that never happened.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use sqlx::{
    ConnectOptions, Connection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::time::sleep;
use tokio_util::task::TaskTracker;

use super::{
    defects::{Defect, DefectSet},
    error::ShopError,
    intent::Reader,
    lock,
    metrics::Metrics,
    paying::Provider,
    record, schema,
    scope::Scope,
    settings::{Settings, ShopArgs},
    strategy::Strategies,
};

const REDIS_CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const REDIS_RECONNECT_DELAY_MAX: Duration = Duration::from_millis(500);
/// Shorter than any buyer waits for an answer, as PostgreSQL reads it.
const ROW_WAIT: &str = "8s";
const POOL_WAIT: Duration = Duration::from_secs(30);

pub struct Shop {
    pub settings: Settings,
    /// How a request is read into an intent.
    pub reader: Reader,
    /// Within what a key names one intent.
    pub scope: Scope,
    pub postgres: PgPool,
    pub redis: ConnectionManager,
    /// Whom orders are paid through, if anybody.
    pub provider: Option<Provider>,
    /// POST requests that arrived completely.
    posts: AtomicU64,
    /// Owns the chains under way: one goes on when its client hangs up.
    pub chains: TaskTracker,
    pub defects: DefectSet,
    pub strategies: Strategies,
    pub metrics: Arc<Metrics>,
}

impl Shop {
    pub fn note_post(&self) {
        self.posts.fetch_add(1, Ordering::Relaxed);
    }

    pub fn posts(&self) -> u64 {
        self.posts.load(Ordering::Relaxed)
    }

    pub async fn open(args: ShopArgs) -> Result<Self, ShopError> {
        args.settings.check()?;
        let paying = &args.settings.paying;
        let provider = paying.payments_url.as_deref();
        let provider =
            provider.map(|url| Provider::new(url, paying.payment_timeout)).transpose()?;
        let redis = connect_redis(&args).await?;
        let postgres = connect_postgres(&args).await?;
        let defects = args.settings.defects.iter().copied().collect();
        Ok(Self {
            reader: Reader::new(&args.settings, defects),
            scope: Scope::of(defects),
            strategies: Strategies::of(&args.settings),
            metrics: Metrics::new(),
            postgres,
            redis,
            provider,
            posts: AtomicU64::new(0),
            chains: TaskTracker::new(),
            defects,
            settings: args.settings,
        })
    }

    /// True where this defect stands in for the correct step.
    pub fn has(&self, defect: Defect) -> bool {
        self.defects.has(defect)
    }

    /// The time that the work takes; within the transaction, once all is written.
    pub async fn work(&self) {
        if !self.settings.work_time.is_zero() {
            sleep(self.settings.work_time).await;
        }
    }
}

async fn connect_redis(args: &ShopArgs) -> Result<ConnectionManager, ShopError> {
    let url = args
        .redis_url
        .as_deref()
        .ok_or(ShopError::UrlMissing { flag: "redis-url", variable: "REDIS_URL" })?;
    let client = redis::Client::open(url)
        .map_err(|source| ShopError::RedisUrl { flag: "redis-url", source })?;
    let place = client.get_connection_info().addr().to_string();
    let config = ConnectionManagerConfig::new()
        .set_response_timeout(Some(args.settings.redis_timeout))
        .set_connection_timeout(Some(REDIS_CONNECT_TIMEOUT))
        // Another command tries again; a buyer isn't to wait for a server that is down.
        .set_number_of_retries(1)
        .set_max_delay(REDIS_RECONNECT_DELAY_MAX);
    let mut connection = client
        .get_connection_manager_with_config(config)
        .await
        .map_err(|source| ShopError::RedisUnreachable { place, source })?;
    // Loaded now, so that the first order makes the same steps as the thousandth.
    record::load_scripts(&mut connection).await?;
    lock::load_scripts(&mut connection).await?;
    Ok(connection)
}

/// A plain connection first: where PostgreSQL can't be reached it says so at once, while a pool
/// would wait for its whole time limit.
async fn connect_postgres(args: &ShopArgs) -> Result<PgPool, ShopError> {
    let url = args
        .database_url
        .as_deref()
        .ok_or(ShopError::UrlMissing { flag: "database-url", variable: "DATABASE_URL" })?;
    let options = url
        .parse::<PgConnectOptions>()
        .map_err(|source| ShopError::PostgresUrl { flag: "database-url", source })?
        .disable_statement_logging()
        // A holder of a row that hangs must not make everybody else hang with it.
        .options([("lock_timeout", ROW_WAIT)]);
    let place = format!("{}:{}", options.get_host(), options.get_port());
    let unreachable = |source| ShopError::PostgresUnreachable { place: place.clone(), source };

    let mut connection = options.connect().await.map_err(unreachable)?;
    schema::ensure(&mut connection, &args.settings).await?;
    connection.close().await.map_err(unreachable)?;

    PgPoolOptions::new()
        .max_connections(args.pool_size)
        .min_connections(args.pool_size)
        .acquire_timeout(POOL_WAIT)
        .connect_with(options)
        .await
        .map_err(unreachable)
}
