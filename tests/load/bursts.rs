//! Bursts: together, counted, numbered, and stopped cleanly.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dupeproof::history::{Cause, Outcome, PhaseId, RunId, Sent};
use dupeproof::load::LoadError;
use dupeproof::profile::{Burst, Release};
use tokio::io::BufReader;
use tokio::sync::{Mutex, Notify};

use crate::rig::{Rig, burst, by_intent, client, targets};
use crate::server::{Gate, Server, created, read_request, write};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_twenty_of_each_of_200_keys_are_in_flight_together() {
    let gate = Gate::of(20);
    let (one, other) = (gate.clone(), gate);
    let servers = [
        Server::start(move |stream, _| one.clone().serve(stream)).await,
        Server::start(move |stream, _| other.clone().serve(stream)).await,
    ];
    let mut rig = Rig::new(targets(&servers.each_ref().map(|one| one.address)), client()).await;
    let summary = rig.run(&burst(200, 20)).await;
    assert_eq!((summary.planned, summary.tally.acknowledged), (4_000, 4_000));
    assert_eq!(servers.each_ref().map(Server::connections), [2_000, 2_000]);
    let progress = rig.progress.now();
    assert_eq!((progress.connected, progress.released, progress.answered), (4_000, 4_000, 4_000));
    let history = rig.history();
    for (intent, attempts) in by_intent(&history) {
        let last_release = attempts.iter().map(|attempt| attempt.released.unwrap()).max();
        let first_answer = attempts.iter().map(|attempt| attempt.completed.unwrap()).min();
        assert!(last_release <= first_answer, "intent {intent} did not overlap");
    }
    assert_eq!(history.bodies.len(), 1, "equal bodies are written down once");
    let facts = &history.bursts[0];
    assert_eq!((facts.release.as_str(), facts.connections), ("loop", 4_000));
    assert!(facts.twenty_sends_us > 0 && facts.connecting_us > 0);
    assert!(facts.spread_median_us <= facts.spread_worst_us);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attempts_of_an_intent_have_identical_bytes_and_phases_share_nothing() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let server = Server::start(move |stream, _| {
        let log = Arc::clone(&log);
        async move {
            let mut stream = BufReader::new(stream);
            while let Some(arrived) = read_request(&mut stream).await {
                log.lock().await.push((arrived.key(), arrived.head.clone() + &arrived.body));
                write(stream.get_mut(), &created("7")).await;
            }
        }
    })
    .await;
    let mut rig = Rig::with(targets(&[server.address]), client(), RunId::from_bits(9)).await;
    rig.run(&burst(4, 3)).await;
    rig.run(&burst(4, 3)).await;
    let history = rig.history();
    let texts: HashSet<_> = seen.lock().await.iter().cloned().collect();
    let keys: HashSet<_> = texts.iter().map(|(key, _)| key.clone()).collect();
    assert_eq!((texts.len(), keys.len()), (8, 8));
    assert!(keys.contains("k-0000000000009-000") && keys.contains("k-0000000000009-007"));
    let products: Vec<_> = history.intents.iter().map(|intent| intent.product).collect();
    let first = RunId::from_bits(9).first_product();
    assert_eq!(products, [0, 1, 2, 0, 0, 1, 2, 0].map(|place| first + place));
    let mut ids: Vec<_> = history.attempts.iter().map(|attempt| attempt.id.0).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..24).collect::<Vec<_>>());
    let prints: HashSet<_> = history.intents.iter().map(|intent| &intent.fingerprint).collect();
    assert_eq!(prints.len(), 8);
}

#[tokio::test]
async fn attempts_go_to_all_instances_in_turn() {
    let serve = |stream, _| Gate::of(1).serve(stream);
    let servers = [Server::start(serve).await, Server::start(serve).await];
    let mut rig = Rig::new(targets(&servers.each_ref().map(|one| one.address)), client()).await;
    rig.run(&burst(3, 4)).await;
    for attempt in rig.history().attempts {
        assert_eq!(u32::from(attempt.instance.0), attempt.id.0 % 2);
        assert_eq!((attempt.cause, attempt.sent), (Cause::Burst, Sent::Whole));
        assert!(attempt.first_byte <= attempt.last_byte);
        assert_eq!(attempt.last_byte, attempt.released);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_before_the_release_sends_no_last_byte_and_writes_everything_down() {
    let whole = Arc::new(AtomicUsize::new(0));
    let arrived = Arc::clone(&whole);
    let server = Server::start(move |stream, _| {
        let arrived = Arc::clone(&arrived);
        async move {
            if read_request(&mut BufReader::new(stream)).await.is_some() {
                arrived.fetch_add(1, Ordering::SeqCst);
            }
        }
    })
    .await;
    let mut rig = Rig::new(targets(&[server.address]), client()).await;
    rig.stop.cancel();
    let summary = rig.run(&burst(10, 5)).await;
    assert!(summary.interrupted && summary.release.is_none());
    let history = rig.history();
    assert_eq!((history.attempts.len(), history.bursts.len()), (50, 0));
    for attempt in &history.attempts {
        assert!(matches!(attempt.outcome, Outcome::Unknown | Outcome::NotSent));
        assert_ne!(attempt.sent, Sent::Whole);
        assert!(attempt.failure.as_ref().unwrap().contains("interrupted"), "{attempt:?}");
    }
    assert_eq!(whole.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_after_the_release_leaves_unknown_attempts_and_no_retry() {
    let all_here = Arc::new(Notify::new());
    let count = Arc::new(AtomicUsize::new(0));
    let (counted, notify) = (Arc::clone(&count), Arc::clone(&all_here));
    let server = Server::start(move |stream, _| {
        let (counted, notify) = (Arc::clone(&counted), Arc::clone(&notify));
        async move {
            let mut stream = BufReader::new(stream);
            read_request(&mut stream).await;
            if counted.fetch_add(1, Ordering::SeqCst) + 1 == 20 {
                notify.notify_one();
            }
            std::future::pending::<()>().await;
        }
    })
    .await;
    let mut settings = client();
    settings.retries.at_most = 5;
    let mut rig = Rig::new(targets(&[server.address]), settings).await;
    let stop = rig.stop.clone();
    let stopping = tokio::spawn(async move {
        all_here.notified().await;
        stop.cancel();
    });
    let summary = rig.run(&burst(4, 5)).await;
    stopping.await.unwrap();
    assert!(summary.interrupted);
    assert_eq!((summary.tally.unknown, summary.tally.retries), (20, 0));
    for attempt in rig.history().attempts {
        assert_eq!((attempt.sent, attempt.outcome), (Sent::Whole, Outcome::Unknown));
        assert!(attempt.failure.unwrap().contains("the drill was interrupted"));
    }
    assert_eq!(count.load(Ordering::SeqCst), 20);
}

#[tokio::test]
async fn what_cannot_be_the_planned_burst_is_refused_before_anything_is_sent() {
    let server = Server::start(|stream, _| Gate::of(1).serve(stream)).await;
    let mut rig = Rig::new(targets(&[server.address]), client()).await;
    let frozen = dupeproof::profile::Crowd {
        arrival: dupeproof::profile::Arrival::AtOnce,
        release: Release::Frozen,
        ..burst(1, 1)
    };
    let stop = rig.stop.clone();
    let without = rig.load.run_phase(PhaseId(0), &Burst::SameKey(frozen), None, &stop).await;
    assert!(matches!(without, Err(LoadError::NothingToFreeze)));
    let huge = Burst::SameKey(burst(1_000_000, 1_000));
    let huge = rig.load.run_phase(PhaseId(0), &huge, None, &stop).await;
    assert!(matches!(huge, Err(LoadError::OpenFiles { .. } | LoadError::TooMany { .. })));
    assert_eq!(server.connections(), 0);
}
