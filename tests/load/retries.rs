//! Clients ask again as the profile says, and never behind its back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dupeproof::history::{Cause, Outcome, Sent};
use dupeproof::profile::ClientSettings;
use tokio::io::BufReader;

use crate::rig::{Rig, burst, by_intent, client, targets};
use crate::server::{Server, created, read_request, reply, write};

fn patient(at_most: u32) -> ClientSettings {
    let mut settings = client();
    settings.retries.at_most = at_most;
    settings
}

/// Answers 202 until a connection's `pending`-th request; counts every whole request.
async fn pending_server(pending: usize, arrived: &Arc<AtomicUsize>) -> Server {
    let arrived = Arc::clone(arrived);
    Server::start(move |stream, _| {
        let arrived = Arc::clone(&arrived);
        async move {
            let mut stream = BufReader::new(stream);
            for number in 0.. {
                if read_request(&mut stream).await.is_none() {
                    return;
                }
                arrived.fetch_add(1, Ordering::SeqCst);
                let text = if number < pending {
                    reply("202 Accepted", "Retry-After: 1\r\n", "")
                } else {
                    created("1")
                };
                write(stream.get_mut(), &text).await;
            }
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arrivals_equal_the_attempts_whose_last_byte_was_sent() {
    let arrived = Arc::new(AtomicUsize::new(0));
    let servers = [pending_server(2, &arrived).await, pending_server(1, &arrived).await];
    let mut rig = Rig::new(targets(&servers.each_ref().map(|one| one.address)), patient(6)).await;
    let summary = rig.run(&burst(20, 10)).await;
    let history = rig.history();
    let whole = history.attempts.iter().filter(|attempt| attempt.sent == Sent::Whole).count();
    assert_eq!(arrived.load(Ordering::SeqCst), whole);
    assert_eq!(summary.tally.acknowledged, 200);
    assert_eq!(summary.tally.retries as usize, history.attempts.len() - 200);
    assert_eq!(servers.iter().map(Server::connections).sum::<usize>(), 400, "connections are kept");
    for attempts in by_intent(&history).into_values() {
        let (first, again): (Vec<_>, Vec<_>) =
            attempts.into_iter().partition(|attempt| attempt.cause == Cause::Burst);
        assert_eq!(first.len(), 10);
        assert!(again.iter().all(|attempt| attempt.cause == Cause::Retry && attempt.id.0 >= 200));
        assert!(again.iter().all(|attempt| attempt.released == attempt.last_byte));
    }
}

#[tokio::test]
async fn retries_are_bounded_and_take_the_instances_in_turn() {
    let arrived = Arc::new(AtomicUsize::new(0));
    let servers = [pending_server(99, &arrived).await, pending_server(99, &arrived).await];
    let mut rig = Rig::new(targets(&servers.each_ref().map(|one| one.address)), patient(4)).await;
    rig.run(&burst(1, 1)).await;
    let history = rig.history();
    let asked: Vec<_> = history.attempts.iter().map(|attempt| attempt.instance.0).collect();
    assert_eq!(asked, [0, 1, 0, 1, 0]);
    assert!(history.attempts.iter().all(|attempt| attempt.outcome == Outcome::Pending));
    assert_eq!(arrived.load(Ordering::SeqCst), 5);
}

#[tokio::test]
async fn a_refused_attempt_is_not_asked_again() {
    let server = Server::start(|stream, _| async move {
        let mut stream = BufReader::new(stream);
        read_request(&mut stream).await;
        write(stream.get_mut(), &reply("409 Conflict", "", "")).await;
    })
    .await;
    let mut rig = Rig::new(targets(&[server.address]), patient(4)).await;
    rig.run(&burst(1, 3)).await;
    let history = rig.history();
    assert_eq!(history.attempts.len(), 3);
    assert!(history.attempts.iter().all(|one| one.refusal.as_deref() == Some("mismatch")));
}

#[tokio::test]
async fn a_connection_that_dies_under_a_request_is_one_unknown_attempt_and_no_resend() {
    let arrived = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&arrived);
    let server = Server::start(move |stream, number| {
        let count = Arc::clone(&count);
        async move {
            let mut stream = BufReader::new(stream);
            read_request(&mut stream).await;
            count.fetch_add(1, Ordering::SeqCst);
            if number == 0 {
                write(stream.get_mut(), &reply("202 Accepted", "", "")).await;
                read_request(&mut stream).await;
                count.fetch_add(1, Ordering::SeqCst);
            } else {
                write(stream.get_mut(), &created("1")).await;
            }
        }
    })
    .await;
    let mut rig = Rig::new(targets(&[server.address]), patient(5)).await;
    rig.run(&burst(1, 1)).await;
    let history = rig.history();
    let outcomes: Vec<_> = history.attempts.iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [Outcome::Pending, Outcome::Unknown, Outcome::Acknowledged]);
    assert!(history.attempts[1].failure.as_ref().unwrap().contains("closed before any reply"));
    assert_eq!(history.attempts[1].sent, Sent::Whole);
    assert_eq!((arrived.load(Ordering::SeqCst), server.connections()), (3, 2));
}

#[tokio::test]
async fn a_connection_that_was_closed_while_idle_is_not_written_to() {
    let arrived = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&arrived);
    let server = Server::start(move |stream, number| {
        let count = Arc::clone(&count);
        async move {
            let mut stream = BufReader::new(stream);
            read_request(&mut stream).await;
            count.fetch_add(1, Ordering::SeqCst);
            // The reply promises a connection that stays, and the end comes right behind it.
            let text = if number < 2 { reply("202 Accepted", "", "") } else { created("1") };
            write(stream.get_mut(), &text).await;
        }
    })
    .await;
    let mut settings = patient(5);
    settings.retries.first_wait = std::time::Duration::from_millis(100);
    settings.retries.longest_wait = settings.retries.first_wait;
    let mut rig = Rig::new(targets(&[server.address]), settings).await;
    rig.run(&burst(1, 1)).await;
    let history = rig.history();
    let outcomes: Vec<_> = history.attempts.iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [Outcome::Pending, Outcome::Pending, Outcome::Acknowledged]);
    assert_eq!((arrived.load(Ordering::SeqCst), server.connections()), (3, 3));
}

#[tokio::test]
async fn an_attempt_that_was_not_sent_is_asked_again_elsewhere() {
    let arrived = Arc::new(AtomicUsize::new(0));
    let server = pending_server(0, &arrived).await;
    let gone = crate::server::listen().local_addr().unwrap();
    let mut rig = Rig::new(targets(&[gone, server.address]), patient(3)).await;
    rig.run(&burst(1, 2)).await;
    let history = rig.history();
    let count = |outcome| history.attempts.iter().filter(|one| one.outcome == outcome).count();
    assert_eq!((count(Outcome::NotSent), count(Outcome::Acknowledged)), (1, 2));
    assert_eq!(arrived.load(Ordering::SeqCst), 2);
}
