//! A drill of one service, through the door that everybody uses: a profile's text, an attached
//! target, the ordinary audit.
//!
//! One PostgreSQL serves all drills of this program, each in a schema of its own; it ends with the
//! program, by the guard. So does the runtime, on which the pool of the services rests.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use dupeproof::drill::{self, Event, Order, Watcher};
use dupeproof::guard::Guard;
use dupeproof::lab::{Lab, LabSpec};
use dupeproof::profile::{Contract, KeyCarrier, KeyScope, MissingKey, parse};
use dupeproof::report::RunResult;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use tokio::runtime::Runtime;
use tokio::sync::{OnceCell, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::breaks::Break;
use crate::service::{Manner, Service};

const EXE: &str = env!("CARGO_BIN_EXE_dupeproof");

/// Drills at once: most of a drill is waiting, but bursts must overlap.
const AT_ONCE: usize = 12;

/// Users of a burst have a product each, so that none of them waits for another.
const PRODUCTS: u32 = 4;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());
static DATABASE: OnceCell<Database> = OnceCell::const_new();
static TURNS: Semaphore = Semaphore::const_new(AT_ONCE);
static NEXT: AtomicU32 = AtomicU32::new(0);

struct Database {
    url: String,
    pool: PgPool,
    _lab: Lab,
    _guard: Guard,
}

impl Database {
    async fn start() -> Self {
        let guard = Guard::start(Path::new(EXE)).await.unwrap();
        let logs = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("presets");
        let spec = LabSpec { instances: 0, ..LabSpec::new(logs) };
        let lab = Lab::start(spec, &guard).await.unwrap();
        let pool = PgPoolOptions::new().max_connections(60).connect(&lab.postgres_url).await;
        Self { url: lab.postgres_url.clone(), pool: pool.unwrap(), _lab: lab, _guard: guard }
    }
}

struct Deaf;

impl Watcher for Deaf {
    fn see(&self, _: Event) {}
}

/// Runs what the tests do.
pub fn run<T>(test: impl Future<Output = T>) -> T {
    RUNTIME.block_on(test)
}

/// Drills a service.
pub async fn drill(preset: &str, manner: Manner, broken: Option<Break>) -> RunResult {
    let _turn = TURNS.acquire().await.unwrap();
    let database = DATABASE.get_or_init(Database::start).await;
    let schema = format!("s{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let contract = contract(preset, broken);
    let pool = database.pool.clone();
    let service = Service::new(contract.clone(), manner, broken, &schema, pool).start().await;
    let text = profile(&contract, broken, &service.url, &database.url, &schema);
    let profile = parse(Path::new("preset.toml"), &text, &|_| None);
    let profile = profile.unwrap_or_else(|mistakes| panic!("{preset}: {mistakes:?}\n{text}"));
    assert_eq!(profile.contract, contract, "the service keeps what the profile says");
    let results = tempfile::tempdir().unwrap();
    let order = Order {
        profile,
        exe: EXE.into(),
        results: results.path().to_owned(),
        stop: CancellationToken::new(),
    };
    let drilled = drill::run(order, Arc::new(Deaf)).await;
    let outcome = drilled.unwrap_or_else(|broken| panic!("{preset}: {:?}", broken.error));
    outcome.result
}

/// A preset, with the times that would make a test long in small.
fn contract(preset: &str, broken: Option<Break>) -> Contract {
    let mut contract = Contract::of_preset(preset).expect("the schema lists the presets");
    contract.recovery_limit = RECOVERY;
    if broken == Some(Break::TooSlow) {
        contract.longest_wait = SHORT_WAIT;
    }
    contract
}

const RECOVERY: Duration = Duration::from_millis(300);
const SHORT_WAIT: Duration = Duration::from_millis(300);

fn profile(
    contract: &Contract,
    broken: Option<Break>,
    url: &str,
    postgres: &str,
    schema: &str,
) -> String {
    let (header, field) = match &contract.key.carrier {
        KeyCarrier::Header(name) => (format!("{name} = \"{{key}}\""), String::new()),
        KeyCarrier::Body(pointer) => (String::new(), field(pointer)),
    };
    let longest_wait = match broken {
        Some(Break::TooSlow) => format!("longest-wait = '{SHORT_WAIT:?}'"),
        _ => String::new(),
    };
    let phases = phases(broken);
    let tables: String = tables(contract, broken, schema)
        .iter()
        .map(|sql| format!("  \"\"\"{sql}\"\"\",\n"))
        .collect();
    format!(
        r#"
target.urls = ["{url}"]
postgres.url = "{postgres}"
products = {{ count = {PRODUCTS}, stock = 1000 }}

[contract]
preset = "{preset}"
recovery-limit = "{RECOVERY:?}"
{longest_wait}

[client]
timeout = "5s"
retries = {{ at-most = 6, first-wait = "20ms", longest-wait = "80ms" }}

[limits]
quiet = "20ms"

[request.place]
post = "/orders"
headers = {{ {header} }}
body = {{ {field} user = "{{user}}", productId = "{{product}}", quantity = "{{quantity}}", trace = "{{uuid}}" }}
ignored = ["/trace"]
mutate = {{ "/quantity" = [2, 3] }}

[audit]
orders = {{ table = "{schema}.orders", id = "order_id", user = "user_id", key = "idempotency_key", product = "product_id", quantity = "quantity", created = "created_at" }}
stock = {{ table = "{schema}.stock", product = "product_id", available = "available" }}
movements = {{ table = "{schema}.movements", order = "order_id", product = "product_id", delta = "delta" }}

[setup]
sql = [
{tables}]
{phases}"#,
        preset = contract.preset
    )
}

/// Where one user asks alone, a pending answer can't be about anything but its key.
const PHASES: [(&str, &str); 10] = [
    ("changed", "mutated = { users = 4, threads = 4, again = 1 }"),
    ("changed, alone", "mutated = { users = 1, threads = 4, again = 1 }"),
    ("double click", "same-key = { users = 4, threads = 4 }"),
    ("other bytes", "same-fingerprint = { users = 4, threads = 4 }"),
    ("one key of eight users", "shared-key = { users = 8, sharing = 8 }"),
    ("one body under three keys", "fresh-key = { users = 2, threads = 3 }"),
    ("the last units", "last-unit = { users = 4, threads = 2, stock = 2 }"),
    ("the last units, asked for once", "last-unit = { users = 4, stock = 2 }"),
    ("bad keys", "bad-keys = { users = 2 }"),
    ("in turn", "sequential = { users = 2, repeats = 2, vary = [\"body\", \"headers\"] }"),
];

/// Those in which a break shows; all of them for a service that keeps its contract.
fn phases(broken: Option<Break>) -> String {
    let are_played = |name: &&str| broken.is_none_or(|it| it.phases().contains(name));
    let played = PHASES.iter().filter(|(name, _)| are_played(name));
    played.map(|(name, burst)| format!("[[phase]]\nname = \"{name}\"\nburst.{burst}\n")).collect()
}

/// The key's field in the body, with what has to be around it.
fn field(pointer: &str) -> String {
    let mut names = pointer.split('/').skip(1).collect::<Vec<_>>();
    let last = names.pop().unwrap();
    let inner = names
        .iter()
        .rev()
        .fold(format!("{last} = \"{{key}}\""), |inner, name| format!("{name} = {{ {inner} }}"));
    format!("{inner},")
}

/// The tables of a careful service; those of one that breaks something let it through where that is
/// the point.
fn tables(contract: &Contract, broken: Option<Break>, schema: &str) -> Vec<String> {
    let is_weak = broken.is_some_and(Break::needs_a_weak_schema);
    let key = match contract.missing_key {
        MissingKey::Rejected(_) if !is_weak => "text NOT NULL",
        _ => "text",
    };
    let unique = match contract.key.scope {
        KeyScope::User => "user_id, idempotency_key",
        KeyScope::Account => "idempotency_key",
    };
    let mut sql = vec![
        format!("CREATE SCHEMA {schema}"),
        format!(
            "CREATE TABLE {schema}.orders (order_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, \
             user_id text NOT NULL, idempotency_key {key}, product_id bigint NOT NULL, \
             quantity bigint NOT NULL, created_at timestamptz NOT NULL DEFAULT now())"
        ),
        format!(
            "CREATE TABLE {schema}.stock (product_id bigint PRIMARY KEY, \
             available bigint NOT NULL CHECK (available >= 0))"
        ),
        format!(
            "CREATE TABLE {schema}.movements (order_id bigint NOT NULL, \
             product_id bigint NOT NULL, delta bigint NOT NULL)"
        ),
        // Products of a phase's own come after those of all phases.
        format!(
            "INSERT INTO {schema}.stock SELECT id, CASE WHEN place > {PRODUCTS} THEN 2 ELSE 1000 END \
             FROM unnest('{{products}}'::bigint[]) WITH ORDINALITY AS product (id, place)"
        ),
    ];
    if !is_weak {
        sql.push(format!("CREATE UNIQUE INDEX ON {schema}.orders ({unique})"));
    }
    sql
}
