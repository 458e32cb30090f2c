//! Proxies in front of the servers of somebody else's service.

use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use dupeproof::audit::Verdict;
use dupeproof::codes;
use dupeproof::drill::DrillError;
use dupeproof::profile::{Downstream, Profile, Secret, Target};
use sqlx::{Connection, PgConnection};

use crate::attached::{Running, server};
use crate::rig::{Database, Rig, TABLES, attached, full, profile, python};

/// Claims the key in Redis by hand, through whatever listens on the port, and answers.
const CLAIMS: &str = r#"
import socket
key = "idem:" + self.headers["X-User-Id"] + ":" + self.headers["Idempotency-Key"]
with socket.create_connection(("127.0.0.1", PORT)) as redis:
    redis.sendall(f"*5\r\n$3\r\nSET\r\n${len(key)}\r\n{key}\r\n$1\r\n1\r\n$2\r\nPX\r\n$4\r\n9000\r\n".encode())
    redis.recv(100)
self.answer(503, b"{}")
"#;

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Whether nobody listens there.
fn is_free(address: SocketAddr) -> bool {
    TcpListener::bind(address).is_ok()
}

fn facts(rig: &Rig, kind: &str) -> Vec<serde_json::Value> {
    let journal = rig.text("journal.jsonl");
    let lines = journal.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.filter_map(|line: serde_json::Value| line.get(kind).cloned()).collect()
}

/// Connects as soon as somebody listens.
async fn connected(url: String) -> PgConnection {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    loop {
        match PgConnection::connect(&url).await {
            Ok(connection) => return connection,
            Err(error) => assert!(tokio::time::Instant::now() < deadline, "{error}"),
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attached_service_is_seen_through_the_proxies_of_its_profile() {
    let database = Database::start().await;
    let (redis, postgres) = (free_address(), free_address());
    let running = Running::start(&CLAIMS.replace("PORT", &redis.port().to_string()));
    let rig = Rig::new();
    let mut profile = profile(attached(&running.url(), Some("/ready")));
    profile.postgres = database.as_profile();
    profile.setup.sql = vec![TABLES.to_owned()];
    profile.redis.url = Some(Secret::plain(&database.redis_url));
    profile.redis.proxy = Some(redis);
    profile.postgres.as_mut().unwrap().proxy = Some(postgres);
    // The service itself knows no PostgreSQL; somebody connects in its place.
    let url = format!("postgres://postgres@{postgres}/postgres?sslmode=disable");
    let client = tokio::spawn(connected(url));
    let outcome = rig.drill(profile).await;
    let outcome = outcome.unwrap_or_else(|error| panic!("{}", full(&error)));
    client.await.unwrap();
    assert_eq!(outcome.result.verdict, Verdict::Inconclusive, "nothing was acknowledged");

    let links = facts(&rig, "link");
    let of = |wire: &str| links.iter().filter(|link| link["wire"] == wire).count();
    assert!(of("redis") >= 20, "each of 4 x 5 attempts claims its key: {links:?}");
    assert!(of("postgres") >= 1, "{links:?}");
    assert!(links.iter().all(|link| link.get("instance").is_none()), "they share a proxy");
    let owners: std::collections::BTreeSet<_> =
        facts(&rig, "step").iter().filter_map(|step| step["intent"].as_u64()).collect();
    assert_eq!(owners.len(), 4, "keys name their intents");
    let wires = &outcome.result.wires;
    assert_eq!(wires.iter().map(|wire| wire.links as usize).sum::<usize>(), links.len());
    assert!(is_free(redis) && is_free(postgres), "they are there for the run alone");
    database.stop().await;
}

#[tokio::test]
async fn an_address_that_is_taken_ends_the_drill_before_anything_is_sent() {
    let database = Database::start().await;
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let other = free_address();
    let mut profile = profile(attached("http://127.0.0.1:1", None));
    profile.postgres = database.as_profile();
    profile.postgres.as_mut().unwrap().proxy = Some(other);
    profile.redis.url = Some(Secret::plain(&database.redis_url));
    profile.redis.proxy = Some(held.local_addr().unwrap());
    profile.setup.sql = vec!["CREATE TABLE touched ()".to_owned()];
    let error = Rig::new().drill(profile).await.unwrap_err();
    assert_eq!(error.code().unwrap().id, codes::E11.id);
    let text = full(&error);
    assert!(text.contains(&held.local_addr().unwrap().to_string()), "{text}");
    assert!(is_free(other), "the other proxy has gone too");
    let touched = database.ask("SELECT (to_regclass('touched') IS NOT NULL)::text").await;
    assert_eq!(touched, "false");
    database.stop().await;
}

#[tokio::test]
async fn servers_elsewhere_and_open_doors_are_refused_before_anything_starts() {
    let base = || {
        let mut profile = profile(attached("http://127.0.0.1:1", None));
        let url = Secret::plain("postgres://me@127.0.0.1:1/shop");
        profile.postgres = Some(dupeproof::profile::Postgres { url, proxy: None });
        profile
    };
    let refusal = async |change: &dyn Fn(&mut Profile)| {
        let (rig, mut profile) = (Rig::new(), base());
        change(&mut profile);
        match rig.drill(profile).await {
            Err(DrillError::Refused { what, cure }) => {
                assert_eq!(rig.files(), [], "nothing was written");
                format!("{what}\n{cure}")
            }
            other => panic!("{other:?}"),
        }
    };
    let hidden = |url: &str, name: &str| Secret::new(url.to_owned(), format!("${{{name}}}"));
    let text = refusal(&|profile| {
        profile.redis.url = Some(hidden("redis://:hunter22@192.0.2.9:6379", "REDIS"));
    })
    .await;
    assert!(text.contains("the target's Redis is not on this machine"), "{text}");
    assert!(text.contains("allow-hosts = [\"192.0.2.9\"]") && !text.contains("hunter22"), "{text}");

    let text = refusal(&|profile| {
        let proxy = free_address();
        profile.payments = Some(Downstream { url: hidden("http://192.0.2.8", "PAY"), proxy });
    })
    .await;
    assert!(text.contains("the payment provider is not on this machine"), "{text}");

    let open = |profile: &mut Profile| {
        profile.postgres.as_mut().unwrap().proxy = Some("0.0.0.0:16432".parse().unwrap());
    };
    let text = refusal(&open).await;
    assert!(text.contains("a proxy would listen on 0.0.0.0"), "{text}");
    assert!(text.contains("listen-on = [\"0.0.0.0\"]"), "{text}");

    let text = refusal(&|profile| {
        let url = Secret::plain("postgres:///shop?host=/run/postgresql");
        profile.postgres = Some(dupeproof::profile::Postgres { url, proxy: Some(free_address()) });
    })
    .await;
    assert!(text.contains("leads to a socket in the file system"), "{text}");
}

#[tokio::test]
async fn a_launched_command_finds_its_own_proxies_or_the_servers_themselves() {
    for proxies in [true, false] {
        let rig = Rig::new();
        let does = CLAIMS.replace("PORT", "int(os.environ['REDIS'].rsplit(':', 1)[1].strip('/'))");
        let mut launched = python(&server(&does));
        launched.instances = 2;
        launched.env = vec![("REDIS".to_owned(), Secret::plain("{redis.url}"))];
        launched.proxies = proxies;
        let mut profile = profile(Target::Launched(launched));
        profile.setup.sql = vec![TABLES.to_owned()];
        let outcome = rig.drill(profile).await;
        outcome.unwrap_or_else(|error| panic!("{}", full(&error)));
        let seen: std::collections::BTreeSet<_> =
            facts(&rig, "link").iter().filter_map(|link| link["instance"].as_u64()).collect();
        let expected: &[u64] = if proxies { &[0, 1] } else { &[] };
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected);
        assert_eq!(facts(&rig, "wire").is_empty(), !proxies);
    }
}
