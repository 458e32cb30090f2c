//! Rules at the steps of a real PostgreSQL: its driver, its server and its rows agree afterwards.

use std::time::Duration;

use dupeproof::history::{FiringEnd, Proof, StepPoint, Wire};
use dupeproof::profile::{Failure, Loss, Which};
use dupeproof::wire::{Rule, WireAct};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, NoTls};

use crate::armed::{HOLD, Notices, rule};
use crate::drivers::local;
use crate::lab::Ground;
use crate::watched::Watched;

/// A proxy in front of a real server, and a driver of both ways round.
struct Scene {
    ground: Ground,
    watched: Watched,
    direct: Client,
    running: Vec<JoinHandle<()>>,
}

impl Scene {
    async fn set() -> Self {
        let ground = Ground::start().await;
        let server = local(ground.postgres_port());
        let watched = Watched::servers(vec![(Wire::Postgres, server, None)]).await;
        let (direct, running) = connect(server.port()).await;
        let table =
            "CREATE TABLE kept (id int PRIMARY KEY); CREATE TABLE IF NOT EXISTS other (id int)";
        direct.batch_execute(table).await.unwrap();
        Self { ground, watched, direct, running: vec![running] }
    }

    async fn through(&mut self) -> Client {
        let (client, running) = connect(self.watched.address(0).port()).await;
        self.running.push(running);
        client
    }

    async fn rows(&self) -> i64 {
        self.direct.query_one("SELECT count(*) FROM kept", &[]).await.unwrap().get(0)
    }

    async fn end(self) {
        drop(self.direct);
        self.watched.end().await;
        self.ground.stop().await;
    }
}

async fn connect(port: u16) -> (Client, JoinHandle<()>) {
    let settings = format!("host=127.0.0.1 port={port} user=postgres dbname=postgres");
    let (client, connection) = tokio_postgres::connect(&settings, NoTls).await.unwrap();
    // Its error is told to whoever asks, too.
    (client, tokio::spawn(async move { drop(connection.await) }))
}

fn fail(verb: &str, sqlstate: &str) -> Rule {
    let (sqlstate, message) = (sqlstate.to_owned(), "injected".to_owned());
    let act = WireAct::Fail(Failure::Postgres { sqlstate, message });
    rule(StepPoint::Before, Wire::Postgres, verb, act)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_fails_as_the_server_would_fail_it() {
    let mut scene = Scene::set().await;
    let mut client = scene.through().await;
    let insert = client.prepare("INSERT INTO kept VALUES ($1)").await.unwrap();
    let (mut notices, _armed) =
        Notices::of(&mut scene.watched, vec![fail("INSERT", "40001")]).await;
    let transaction = client.transaction().await.unwrap();
    let error = transaction.execute(&insert, &[&1_i32]).await.unwrap_err();
    assert_eq!(error.code().unwrap().code(), "40001");
    // The transaction is aborted at the server, as after a real one.
    let next = transaction.execute(&insert, &[&1_i32]).await.unwrap_err();
    assert_eq!(next.code().unwrap().code(), "25P02");
    transaction.rollback().await.unwrap();
    assert_eq!(scene.rows().await, 0);
    notices.fired().await;
    assert_eq!(notices.effect().await, Proof::ErrorDelivered { error: "40001".to_owned() });
    assert_eq!(notices.ended().await, FiringEnd::AtOnce);
    // The retry on the same connection is kept.
    let transaction = client.transaction().await.unwrap();
    transaction.execute(&insert, &[&1_i32]).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(scene.rows().await, 1);
    drop(client);
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_fails_and_leaves_no_transaction() {
    let mut scene = Scene::set().await;
    let mut client = scene.through().await;
    let (mut notices, _armed) =
        Notices::of(&mut scene.watched, vec![fail("COMMIT", "40P01")]).await;
    for (is_first, expected) in [(true, 0), (false, 1)] {
        let transaction = client.transaction().await.unwrap();
        transaction.execute("INSERT INTO kept VALUES (1)", &[]).await.unwrap();
        let committed = transaction.commit().await;
        assert_eq!(committed.is_err(), is_first, "{committed:?}");
        if let Err(error) = committed {
            assert_eq!(error.code().unwrap().code(), "40P01");
            // Not in a transaction: this stands by itself.
            client.execute("INSERT INTO other VALUES (1)", &[]).await.unwrap();
        }
        assert_eq!(scene.rows().await, expected);
    }
    let others = scene.direct.query_one("SELECT count(*) FROM other", &[]).await.unwrap();
    assert_eq!(others.get::<_, i64>(0), 1);
    notices.fired().await;
    assert_eq!(notices.effect().await, Proof::ErrorDelivered { error: "40P01".to_owned() });
    drop(client);
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_in_the_extended_protocol_fails_alike() {
    let mut scene = Scene::set().await;
    let client = scene.through().await;
    let commit = client.prepare("COMMIT").await.unwrap();
    let (_notices, _armed) = Notices::of(&mut scene.watched, vec![fail("COMMIT", "40001")]).await;
    client.batch_execute("BEGIN; INSERT INTO kept VALUES (1)").await.unwrap();
    let error = client.execute(&commit, &[]).await.unwrap_err();
    assert_eq!(error.code().unwrap().code(), "40001");
    client.execute("INSERT INTO other VALUES (1)", &[]).await.unwrap();
    client.batch_execute("BEGIN; INSERT INTO kept VALUES (1)").await.unwrap();
    client.execute(&commit, &[]).await.unwrap();
    assert_eq!(scene.rows().await, 1);
    drop(client);
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fatal_error_ends_the_connection_and_nothing_is_committed() {
    let mut scene = Scene::set().await;
    let client = scene.through().await;
    let (mut notices, _armed) =
        Notices::of(&mut scene.watched, vec![fail("COMMIT", "57P01")]).await;
    client.batch_execute("BEGIN").await.unwrap();
    client.execute("INSERT INTO kept VALUES (1)", &[]).await.unwrap();
    client.batch_execute("COMMIT").await.unwrap_err();
    assert!(client.is_closed());
    notices.fired().await;
    assert_eq!(notices.effect().await, Proof::ServerNotAsked);
    assert_eq!(notices.ended().await, FiringEnd::AtOnce);
    assert_eq!(scene.rows().await, 0);
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_held_commit_keeps_others_out_until_it_is_let_go() {
    for point in [StepPoint::Before, StepPoint::After] {
        let mut scene = Scene::set().await;
        let first = scene.through().await;
        let second = scene.through().await;
        let rules = vec![rule(point, Wire::Postgres, "COMMIT", HOLD)];
        let (mut notices, _armed) = Notices::of(&mut scene.watched, rules).await;
        first.batch_execute("BEGIN").await.unwrap();
        first.execute("INSERT INTO kept VALUES (1)", &[]).await.unwrap();
        let commit = tokio::spawn(async move { first.batch_execute("COMMIT").await });
        let (notice, firing) = notices.fired().await;
        let step = firing.step.unwrap();
        assert_eq!((step.name.as_str(), step.point), ("postgres COMMIT", point));
        let blocking = "SELECT pid FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))";
        let pid = i32::try_from(step.backend.unwrap()).unwrap();
        if point == StepPoint::Before {
            let waits =
                tokio::spawn(
                    async move { second.batch_execute("INSERT INTO kept VALUES (1)").await },
                );
            while scene.direct.query(blocking, &[&pid]).await.unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
            assert_eq!(scene.rows().await, 0);
            let how = FiringEnd::OthersBlocked;
            scene.watched.proxies().release(notice.hold.unwrap(), how).await.unwrap();
            commit.await.unwrap().unwrap();
            assert_eq!(waits.await.unwrap().unwrap_err().code().unwrap().code(), "23505");
        } else {
            assert_eq!(scene.rows().await, 1, "it is done, and its reply is withheld");
            assert!(!commit.is_finished());
            let how = FiringEnd::OthersAnswered;
            scene.watched.proxies().release(notice.hold.unwrap(), how).await.unwrap();
            commit.await.unwrap().unwrap();
        }
        assert_eq!(scene.rows().await, 1);
        scene.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_reply_of_a_commit_leaves_its_row() {
    let mut scene = Scene::set().await;
    let mut every =
        rule(StepPoint::After, Wire::Postgres, "COMMIT", WireAct::DropReply(Loss::Reset));
    every.at.which = Which::Every;
    let (mut notices, _armed) = Notices::of(&mut scene.watched, vec![every]).await;
    let client = scene.through().await;
    client.batch_execute("BEGIN").await.unwrap();
    client.execute("INSERT INTO kept VALUES (1)", &[]).await.unwrap();
    client.batch_execute("COMMIT").await.unwrap_err();
    assert_eq!(scene.rows().await, 1);
    notices.fired().await;
    assert_eq!(notices.effect().await, Proof::ServerAnswered { answer: "COMMIT".to_owned() });
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_are_chosen_by_table_words_and_values() {
    let mut scene = Scene::set().await;
    let client = scene.through().await;
    let delayed = |change: fn(&mut Rule)| {
        let act = WireAct::Delay(Duration::from_millis(1));
        let mut rule = rule(StepPoint::After, Wire::Postgres, "INSERT", act);
        rule.at.step = None;
        change(&mut rule);
        rule
    };
    let statement = client.prepare("INSERT INTO other VALUES ($1)").await.unwrap();
    let mut notices = None;
    for (change, fires) in [
        ((|rule| rule.at.table = Some("public.other".to_owned())) as fn(&mut Rule), true),
        (|rule| rule.at.table = Some("kept".to_owned()), false),
        (|rule| rule.at.sql = Some("insert values".to_owned()), true),
        (|rule| rule.at.sql = Some("values insert".to_owned()), false),
        (|rule| rule.at.parameter = Some("42".to_owned()), true),
        (|rule| rule.at.parameter = Some("43".to_owned()), false),
    ] {
        let rules = vec![delayed(change)];
        let armed = match &mut notices {
            None => {
                let (first, armed) = Notices::of(&mut scene.watched, rules).await;
                notices = Some(first);
                armed
            }
            Some(_) => scene.watched.proxies().arm(rules).await.unwrap(),
        };
        client.execute(&statement, &[&42_i32]).await.unwrap();
        let notices = notices.as_mut().unwrap();
        if fires {
            notices.fired().await;
            notices.effect().await;
            notices.ended().await;
        }
        assert!(notices.is_silent());
        scene.watched.proxies().heal(armed).await.unwrap();
    }
    drop(client);
    scene.end().await;
}
