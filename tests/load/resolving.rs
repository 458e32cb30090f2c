//! The resolver: the identical request, until the answer is definite or the time is over.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use dupeproof::history::{Cause, Outcome};
use tokio::io::BufReader;
use tokio::sync::Mutex;

use crate::rig::{Rig, burst, client, targets};
use crate::server::{Server, created, read_request, reply, write};

/// What each key's requests were, byte for byte.
type Log = Arc<Mutex<HashMap<String, Vec<String>>>>;

/// Answers a key with 202 until its `until`-th request.
async fn slow_server(until: usize, log: &Log) -> Server {
    let log = Arc::clone(log);
    Server::start(move |stream, _| {
        let log = Arc::clone(&log);
        async move {
            let mut stream = BufReader::new(stream);
            while let Some(arrived) = read_request(&mut stream).await {
                let asked = {
                    let mut log = log.lock().await;
                    let texts = log.entry(arrived.key()).or_default();
                    texts.push(arrived.head + &arrived.body);
                    texts.len()
                };
                let text = if asked < until { reply("202 Accepted", "", "") } else { created("1") };
                write(stream.get_mut(), &text).await;
            }
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_identical_request_is_sent_again_until_the_answer_is_definite() {
    let log = Log::default();
    let server = slow_server(4, &log).await;
    let mut rig = Rig::new(targets(&[server.address]), client()).await;
    rig.run(&burst(100, 1)).await;
    let phase_two = rig.run(&burst(100, 1)).await;
    assert_eq!(phase_two.tally.pending, 100);
    let intents: Vec<_> = rig.intents(200).into_iter().rev().collect();
    let until = rig.clock.now().plus(Duration::from_secs(30));
    let stop = rig.stop.clone();
    let resolved = rig.load.ask_again(&intents, until, &stop).await.unwrap();
    assert!(resolved.iter().all(|one| one.outcome == Some(Outcome::Acknowledged)));
    assert!(resolved.iter().zip(&intents).all(|(one, intent)| one.intent == intent.id));
    assert!(resolved.iter().all(|one| one.attempts == 3));
    let history = rig.history();
    let asked = history.attempts.iter().filter(|one| one.cause == Cause::Resolve).count();
    assert_eq!(asked, 600);
    for texts in log.lock().await.values() {
        assert_eq!(texts.len(), 4);
        assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_resolver_ends_with_the_time_and_says_what_it_last_heard() {
    let log = Log::default();
    let server = slow_server(usize::MAX, &log).await;
    let mut rig = Rig::new(targets(&[server.address]), client()).await;
    rig.run(&burst(80, 1)).await;
    let intents = rig.intents(80);
    let until = rig.clock.now().plus(Duration::from_millis(300));
    let stop = rig.stop.clone();
    let resolved = rig.load.ask_again(&intents, until, &stop).await.unwrap();
    assert!(rig.clock.now() < until.plus(Duration::from_secs(5)));
    let asked = resolved.iter().filter(|one| one.attempts > 0);
    assert!(asked.clone().count() >= 64);
    assert!(asked.clone().all(|one| one.outcome.is_some_and(|outcome| !outcome.is_definite())));
    let none = rig.load.ask_again(&intents, until, &stop).await.unwrap();
    assert!(none.iter().all(|one| (one.outcome, one.attempts) == (None, 0)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_resolver_writes_down_what_it_had_sent() {
    let server = Server::start(|stream, number| async move {
        let mut stream = BufReader::new(stream);
        read_request(&mut stream).await;
        if number == 0 {
            write(stream.get_mut(), &reply("202 Accepted", "Connection: close\r\n", "")).await;
        } else {
            std::future::pending::<()>().await;
        }
    })
    .await;
    let mut rig = Rig::new(targets(&[server.address]), client()).await;
    rig.run(&burst(1, 1)).await;
    let intents = rig.intents(1);
    let until = rig.clock.now().plus(Duration::from_secs(30));
    let stop = rig.stop.clone();
    let resolved = {
        let asking = rig.load.ask_again(&intents, until, &stop);
        let stopping = async {
            while server.connections() < 2 {
                tokio::task::yield_now().await;
            }
            stop.cancel();
        };
        tokio::join!(asking, stopping).0.unwrap()
    };
    assert!(matches!(resolved[0].outcome, Some(Outcome::Unknown | Outcome::NotSent)));
    let last = rig.history().attempts.pop().unwrap();
    assert!(last.failure.unwrap().contains("the drill was interrupted"));
}
