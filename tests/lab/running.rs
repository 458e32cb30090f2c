//! While a lab is up: what happens to its servers is told, and its end is complete whatever they do.

use std::time::Duration;

use dupeproof::chaos;
use dupeproof::guard::Signal;
use dupeproof::lab::{Lab, LabEvent, Server};
use tokio::time::timeout;

use crate::backends::busy_backend;
use crate::footprint::Footprint;
use crate::starting::spec;
use crate::{guard, until};

#[tokio::test]
async fn a_server_that_dies_is_an_event_with_its_status_and_log() {
    let logs = tempfile::tempdir().unwrap();
    let guard = guard().await;
    let mut lab = Lab::start(spec(&logs, 0), &guard).await.unwrap();
    let mut events = lab.events().unwrap();
    assert!(lab.events().is_none());
    lab.process(Server::Redis).unwrap().open().unwrap().signal(Signal::Kill).unwrap();
    let event = timeout(Duration::from_secs(5), events.recv()).await.unwrap().unwrap();
    let LabEvent::Exited { what, status, log_tail } = event;
    assert_eq!(what, Server::Redis);
    assert_eq!(status, "signal: 9 (SIGKILL)");
    assert!(log_tail.contains("Ready to accept connections"), "{log_tail}");
    lab.stop().await.unwrap();
    assert_eq!(events.recv().await, None, "a stop is no event");
    guard.finish().await.unwrap();
}

#[tokio::test]
async fn a_stop_ends_busy_and_stopped_backends() {
    let logs = tempfile::tempdir().unwrap();
    let guard = guard().await;
    let lab = Lab::start(spec(&logs, 0), &guard).await.unwrap();
    let mut footprint = Footprint::of(lab.folder());
    let (_busy, _) = busy_backend(&lab.postgres_url).await;
    let (_stopped, backend) = busy_backend(&lab.postgres_url).await;
    let _paused = chaos::pause(&backend, guard.journal()).await.unwrap();
    let _redis = chaos::pause(&lab.redis, guard.journal()).await.unwrap();
    footprint.look();
    lab.stop().await.unwrap();
    assert_eq!(footprint.left(), Ok(()));
    guard.finish().await.unwrap();
}

#[tokio::test]
async fn a_stop_finds_the_busy_backend_of_a_killed_postmaster() {
    let logs = tempfile::tempdir().unwrap();
    let guard = guard().await;
    let mut lab = Lab::start(spec(&logs, 0), &guard).await.unwrap();
    let mut events = lab.events().unwrap();
    let mut footprint = Footprint::of(lab.folder());
    let (_busy, backend) = busy_backend(&lab.postgres_url).await;
    footprint.look();
    lab.postgres.open().unwrap().signal(Signal::Kill).unwrap();
    timeout(Duration::from_secs(5), events.recv()).await.unwrap().unwrap();
    assert!(!backend.has_ended(), "it outlives its postmaster");
    lab.stop().await.unwrap();
    assert_eq!(footprint.left(), Ok(()));
    guard.finish().await.unwrap();
}

#[tokio::test]
async fn a_dropped_lab_and_a_cancelled_start_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let guard = guard().await;
    let lab = Lab::start(spec(&folder, 0), &guard).await.unwrap();
    let mut footprint = Footprint::of(lab.folder());
    footprint.look();
    drop(lab);
    until(Duration::from_secs(2), || footprint.left()).await;

    let start = Lab::start(spec(&folder, 0), &guard);
    assert!(timeout(Duration::from_millis(120), start).await.is_err(), "initdb takes longer");
    guard.finish().await.unwrap();
}
