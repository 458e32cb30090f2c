//! Orders through a proxy in front of a real PostgreSQL, and the rows that are there in the end.

use dupeproof::history::{FiringEnd, Wire};
use dupeproof::profile::Loss;
use dupeproof::wire::Armed;
use tokio::time::timeout;
use tokio_postgres::{Client, NoTls};

use crate::armed::Notices;
use crate::drivers::local;
use crate::ends::LIMIT;
use crate::lab::Ground;
use crate::watched::Watched;

use super::cases::{Case, HELD, STALLED};
use super::scenes::{Driver, Running, Scene, Told, Way};
use super::{expected, page};

/// A server, and a way to it that no rule knows.
struct Shop {
    ground: Ground,
    direct: Client,
}

/// A proxy with a rule, and an application that has met it.
struct Met {
    watched: Watched,
    notices: Notices,
    armed: Armed,
    hold: Option<dupeproof::wire::HoldId>,
    key: String,
}

pub async fn try_all(driver: Driver, way: Way, cases: &[Case]) {
    let shop = Shop::open().await;
    for case in cases {
        let (met, running) = shop.meet(driver, way, *case).await;
        let (told, was_helped) = shop.see_through(met, running, *case).await;
        let unlike = expected::compare(driver, way, *case, &told, was_helped);
        let rows = format!("1 order{unlike}");
        page::add(Wire::Postgres, way, *case, &told, was_helped, &rows);
    }
    shop.close().await;
}

/// The application ends with its fault; started again with the same key it knows what is.
pub async fn exits(driver: Driver, way: Way, case: Case) {
    let shop = Shop::open().await;
    let (met, running) = shop.meet(driver, way, case).await;
    let complaint = timeout(LIMIT, running).await.unwrap().unwrap().expect_err("it exits");
    assert!(complaint.contains("Unhandled 'error' event"), "{complaint}");
    let port = met.watched.address(0).port();
    let again = Scene { port, key: met.key.clone(), way, patience: None };
    let mut told = driver.start(again).await.unwrap().unwrap();
    assert_eq!(told.attempts, ["23505"]);
    shop.assert_once(&met.key).await;
    met.watched.end().await;
    told.attempts.insert(0, "exits, and is started again".to_owned());
    page::add(Wire::Postgres, way, case, &told, false, "1 order");
    shop.close().await;
}

impl Shop {
    async fn open() -> Self {
        let ground = Ground::start().await;
        let settings =
            format!("host=127.0.0.1 port={} user=postgres dbname=postgres", ground.postgres_port());
        let (direct, connection) = tokio_postgres::connect(&settings, NoTls).await.unwrap();
        tokio::spawn(async move { drop(connection.await) });
        // Nothing but the transaction keeps lines from being written twice.
        let tables = "CREATE TABLE orders (key text PRIMARY KEY); CREATE TABLE lines (key text)";
        direct.batch_execute(tables).await.unwrap();
        Self { ground, direct }
    }

    async fn close(self) {
        drop(self.direct);
        self.ground.stop().await;
    }

    /// Starts an application, and comes back when its fault has fired.
    async fn meet(&self, driver: Driver, way: Way, case: Case) -> (Met, Running) {
        let server = local(self.ground.postgres_port());
        let mut watched = Watched::servers(vec![(Wire::Postgres, server, None)]).await;
        let (mut notices, armed) = Notices::of(&mut watched, vec![case.rule(Wire::Postgres)]).await;
        let key = format!("{driver:?} {way:?} {case:?}");
        let port = watched.address(0).port();
        let scene = Scene { port, key: key.clone(), way, patience: case.patience() };
        let running = driver.start(scene);
        let (notice, _) = notices.fired().await;
        if matches!(case, Case::ReplyLost(_)) {
            assert_eq!(self.rows(&key).await, (1, 1), "{key}: the server had done it");
        }
        (Met { watched, notices, armed, hold: notice.hold, key }, running)
    }

    /// Up to the end; and whether it needed the fault to be healed for it.
    async fn see_through(&self, mut met: Met, mut running: Running, case: Case) -> (Told, bool) {
        let mut ended = None;
        let proxies = met.watched.proxies();
        match (case, met.hold) {
            (Case::Held, Some(hold)) => {
                assert!(timeout(HELD, &mut running).await.is_err(), "{}: it is held", met.key);
                assert_eq!(self.rows(&met.key).await, (0, 0), "{}", met.key);
                proxies.release(hold, FiringEnd::OthersAnswered).await.unwrap();
            }
            (Case::ReplyLost(Loss::Stall), _) => {
                ended = timeout(STALLED, &mut running).await.ok();
                proxies.heal(met.armed).await.unwrap();
            }
            _ => {}
        }
        let was_helped = ended.is_none();
        let told = match ended {
            Some(told) => told,
            None => timeout(LIMIT + LIMIT, running).await.expect("it ends"),
        };
        let told = told.unwrap().unwrap();
        assert_eq!(told.after, ["placed"; 6], "{}: its pool can be used: {told:?}", met.key);
        self.assert_once(&met.key).await;
        met.watched.end().await;
        while !met.notices.is_closed() {
            let event = met.notices.next().await.facts.event;
            let is_again = matches!(event, dupeproof::history::FaultEvent::Fired(_));
            assert!(!is_again, "{}: it fires once", met.key);
        }
        (told, was_helped)
    }

    /// One order for each key, and no transaction that goes on.
    async fn assert_once(&self, key: &str) {
        assert_eq!(self.rows(key).await, (1, 1), "{key}");
        let after = self.rows(&format!("{key}-after-%")).await;
        assert_eq!(after, (6, 6), "{key}");
        let open = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in %'";
        assert_eq!(self.direct.query_one(open, &[]).await.unwrap().get::<_, i64>(0), 0, "{key}");
    }

    /// Orders and lines of a key.
    async fn rows(&self, key: &str) -> (i64, i64) {
        let count = "SELECT (SELECT count(*) FROM orders WHERE key LIKE $1), \
             (SELECT count(*) FROM lines WHERE key LIKE $1)";
        let row = self.direct.query_one(count, &[&key]).await.unwrap();
        (row.get(0), row.get(1))
    }
}
