//! Rules at the steps of Redis, byte for byte: both ends are plain sockets.

use std::io::Read;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use dupeproof::history::{FiringEnd, IntentId, Proof, StepPoint, Wire};
use dupeproof::profile::{Failure, Loss, Owned, Which};
use dupeproof::wire::{Rule, WireAct};

use crate::armed::{HOLD, Notices, rule};
use crate::ends::{End, exactly, reset, rest, send};
use crate::redis_meaning::array;
use crate::watched::{Watched, exchange};

const BEFORE: StepPoint = StepPoint::Before;
const AFTER: StepPoint = StepPoint::After;

fn get(point: StepPoint, act: WireAct) -> Rule {
    rule(point, Wire::Redis, "GET", act)
}

pub fn brings_nothing(mut end: &TcpStream) -> bool {
    end.set_read_timeout(Some(Duration::from_millis(60))).unwrap();
    let read = end.read(&mut [0; 16]);
    end.set_read_timeout(Some(crate::ends::LIMIT)).unwrap();
    read.is_err()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_held_before_it_is_forwarded_and_what_is_behind_it_waits() {
    let mut watched = Watched::set(Wire::Redis).await;
    let (mut notices, _armed) = Notices::of(&mut watched, vec![get(BEFORE, HOLD)]).await;
    let (client, server) = watched.link();
    let (ping, held, behind) = (array(&["PING"]), array(&["GET", "a"]), array(&["SET", "b", "1"]));
    send(&client, &[ping.clone(), held.clone(), behind.clone()].concat());
    assert_eq!(exactly(&server, ping.len()), ping);
    let (notice, firing) = notices.fired().await;
    assert_eq!(firing.step.unwrap().name, "redis GET a");
    assert!(brings_nothing(&server));
    send(&server, b"+PONG\r\n");
    assert_eq!(exactly(&client, 7), b"+PONG\r\n");
    watched.proxies().release(notice.hold.unwrap(), FiringEnd::OthersAnswered).await.unwrap();
    assert_eq!(exactly(&server, held.len() + behind.len()), [held.clone(), behind].concat());
    assert_eq!(notices.effect().await, Proof::ServerNotAsked);
    assert_eq!(notices.ended().await, FiringEnd::OthersAnswered);
    // It was once: the next one passes.
    send(&server, b"$-1\r\n+OK\r\n");
    assert_eq!(exactly(&client, 10), b"$-1\r\n+OK\r\n");
    exchange(&(client, server), &held, b"$-1\r\n");
    watched.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_is_withheld_when_the_step_is_done() {
    let mut watched = Watched::set(Wire::Redis).await;
    let (mut notices, _armed) = Notices::of(&mut watched, vec![get(AFTER, HOLD)]).await;
    let (client, server) = watched.link();
    let request = array(&["GET", "a"]);
    send(&client, &request);
    assert_eq!(exactly(&server, request.len()), request);
    for piece in [&b"$3"[..], b"\r\nab", b"c\r\n"] {
        send(&server, piece);
        assert!(brings_nothing(&client));
    }
    let (notice, firing) = notices.fired().await;
    assert_eq!((firing.number, firing.step.unwrap().point), (1, AFTER));
    assert_eq!(notices.effect().await, Proof::ServerAnswered { answer: "abc".to_owned() });
    watched.proxies().release(notice.hold.unwrap(), FiringEnd::OthersBlocked).await.unwrap();
    assert_eq!(exactly(&client, 9), b"$3\r\nabc\r\n");
    assert_eq!(notices.ended().await, FiringEnd::OthersBlocked);
    let step = &watched.end().await.history.steps[0];
    let withheld = step.delivered.unwrap().since(step.answered.unwrap());
    assert!(step.answered < step.delivered, "{withheld:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_has_just_been_forwarded_is_the_moment_of_in_buffer() {
    for act in [HOLD, WireAct::Reset] {
        let mut watched = Watched::set(Wire::Redis).await;
        let rules = vec![get(StepPoint::InBuffer, act.clone())];
        let (mut notices, _armed) = Notices::of(&mut watched, rules).await;
        let (client, server) = watched.link();
        let request = array(&["GET", "a"]);
        send(&client, &request);
        assert_eq!(exactly(&server, request.len()), request);
        let (notice, firing) = notices.fired().await;
        assert_eq!(firing.step.unwrap().point, StepPoint::InBuffer);
        assert_eq!(notices.effect().await, Proof::RequestForwarded);
        if act == HOLD {
            send(&server, b"$-1\r\n");
            assert!(brings_nothing(&client));
            let how = FiringEnd::AtOnce;
            watched.proxies().release(notice.hold.unwrap(), how).await.unwrap();
            assert_eq!(exactly(&client, 5), b"$-1\r\n");
        } else {
            assert_eq!(rest(&client), (Vec::new(), End::Reset));
        }
        watched.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_or_is_refused_is_not_done() {
    let mut watched = Watched::set(Wire::Redis).await;
    let rules = vec![rule(AFTER, Wire::Redis, "SET", HOLD)];
    let (mut notices, _armed) = Notices::of(&mut watched, rules).await;
    let link = watched.link();
    let lock = array(&["SET", "lock:1", "t", "NX", "PX", "3000"]);
    exchange(&link, &lock, b"$-1\r\n");
    exchange(&link, &lock, b"-LOADING wait\r\n");
    assert!(notices.is_silent());
    send(&link.0, &lock);
    exactly(&link.1, lock.len());
    send(&link.1, b"+OK\r\n");
    assert_eq!(notices.fired().await.1.number, 1);
    assert!(brings_nothing(&link.0));
    watched.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_ends_with_its_limit_its_client_and_its_server() {
    let mut watched = Watched::set(Wire::Redis).await;
    let limit = WireAct::Hold { limit: Duration::from_millis(30) };
    let every = |act| {
        let mut rule = get(BEFORE, act);
        rule.at.which = Which::Every;
        rule
    };
    let (mut notices, armed) = Notices::of(&mut watched, vec![every(limit)]).await;
    let request = array(&["GET", "a"]);
    let (client, server) = watched.link();
    exchange(&(client, server), &request, b"$-1\r\n");
    notices.fired().await;
    assert_eq!(notices.effect().await, Proof::ServerNotAsked);
    assert_eq!(notices.ended().await, FiringEnd::TimeOver);
    watched.proxies().heal(armed).await.unwrap();

    let _armed = watched.proxies().arm(vec![every(HOLD)]).await.unwrap();
    for leave in [reset as fn(TcpStream), drop] {
        let (client, server) = watched.link();
        send(&client, &request);
        notices.fired().await;
        leave(client);
        assert_eq!(notices.effect().await, Proof::ServerNotAsked);
        assert_eq!(notices.ended().await, FiringEnd::ClientLeft);
        // A request whose client is gone was never sent, as far as the server knows.
        assert_eq!(rest(&server).0, b"");
    }
    let (client, server) = watched.link();
    send(&client, &request);
    notices.fired().await;
    drop(server);
    assert_eq!(notices.effect().await, Proof::ServerNotAsked);
    assert_eq!(notices.ended().await, FiringEnd::ServerClosed);
    watched.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_or_a_reply_is_lost_in_each_way() {
    for (point, what) in [(BEFORE, Proof::ServerNotAsked), (AFTER, answered("1"))] {
        for loss in [Loss::Close, Loss::Reset, Loss::Stall] {
            let act = match point {
                AFTER => WireAct::DropReply(loss),
                _ => WireAct::DropRequest(loss),
            };
            let mut watched = Watched::set(Wire::Redis).await;
            let (mut notices, armed) = Notices::of(&mut watched, vec![get(point, act)]).await;
            let (client, server) = watched.link();
            let (first, lost) = (array(&["SET", "a", "1"]), array(&["GET", "a"]));
            send(&client, &[first.clone(), lost.clone()].concat());
            let comes = if point == AFTER { first.len() + lost.len() } else { first.len() };
            exactly(&server, comes);
            send(&server, b"+OK\r\n");
            // What is owed comes before the end.
            assert_eq!(exactly(&client, 5), b"+OK\r\n");
            if point == AFTER {
                send(&server, b"$1\r\n1\r\n");
            }
            notices.fired().await;
            assert_eq!(notices.effect().await, what);
            match loss {
                Loss::Close => {
                    assert_eq!(notices.ended().await, FiringEnd::AtOnce);
                    assert_eq!(rest(&client), (Vec::new(), End::Orderly));
                    drop(client);
                    assert_eq!(notices.effect().await, Proof::ClientCutOff);
                }
                Loss::Reset => {
                    assert_eq!(notices.ended().await, FiringEnd::AtOnce);
                    assert_eq!(rest(&client), (Vec::new(), End::Reset));
                }
                Loss::Stall => {
                    assert!(brings_nothing(&client) && notices.is_silent());
                    watched.proxies().heal(armed).await.unwrap();
                    assert_eq!(notices.ended().await, FiringEnd::Healed);
                    assert_eq!(rest(&client), (Vec::new(), End::Reset));
                }
            }
            assert_eq!(rest(&server).0, b"");
            watched.end().await;
        }
    }
}

fn answered(answer: &str) -> Proof {
    Proof::ServerAnswered { answer: answer.to_owned() }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_comes_when_its_turn_has_come() {
    let mut watched = Watched::set(Wire::Redis).await;
    let error = "READONLY You can't write against a read only replica.".to_owned();
    let act = WireAct::Fail(Failure::Redis { error: error.clone() });
    let (mut notices, _armed) = Notices::of(&mut watched, vec![get(BEFORE, act)]).await;
    let (client, server) = watched.link();
    let others = [array(&["SET", "a", "1"]), array(&["SET", "b", "1"])];
    let failing = array(&["GET", &"a".repeat(3_000)]);
    for piece in [&others[0], &failing, &others[1]].map(Vec::as_slice).concat().chunks(700) {
        send(&client, piece);
    }
    let instead = [others[0].clone(), array(&["PING"]), others[1].clone()].concat();
    assert_eq!(exactly(&server, instead.len()), instead);
    notices.fired().await;
    for piece in [&b"+OK\r\n+P"[..], b"ONG\r", b"\n+OK\r\n"] {
        send(&server, piece);
    }
    let told = [b"+OK\r\n-", error.as_bytes(), b"\r\n+OK\r\n"].concat();
    assert_eq!(exactly(&client, told.len()), told);
    assert_eq!(notices.effect().await, Proof::ErrorDelivered { error });
    assert_eq!(notices.ended().await, FiringEnd::AtOnce);
    drop(client);
    let seen = watched.end().await;
    assert!(seen.told()[1].ends_with(": failed READONLY"), "{:?}", seen.told());
}

#[tokio::test(flavor = "multi_thread")]
async fn within_multi_only_its_end_can_fail() {
    let mut watched = Watched::set(Wire::Redis).await;
    let act = || WireAct::Fail(Failure::Redis { error: "ERR no".to_owned() });
    let rules = vec![get(BEFORE, act()), rule(BEFORE, Wire::Redis, "EXEC", act())];
    let (mut notices, _armed) = Notices::of(&mut watched, rules).await;
    let link = watched.link();
    exchange(&link, &array(&["MULTI"]), b"+OK\r\n");
    exchange(&link, &array(&["GET", "a"]), b"+QUEUED\r\n");
    assert!(notices.is_silent());
    send(&link.0, &array(&["EXEC"]));
    assert_eq!(exactly(&link.1, 17), array(&["DISCARD"]));
    send(&link.1, b"+OK\r\n");
    assert_eq!(exactly(&link.0, 9), b"-ERR no\r\n");
    // An occurrence that nothing was done to isn't used up.
    send(&link.0, &array(&["GET", "a"]));
    assert_eq!(exactly(&link.1, 14), array(&["PING"]));
    watched.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_occurrence_that_is_meant_is_the_one() {
    let with = |which, of| {
        let mut rule = get(AFTER, WireAct::Delay(Duration::from_millis(1)));
        (rule.at.which, rule.at.of) = (which, of);
        rule
    };
    let asked = ["a", "u-run-000", "u-run-001", "u-run-000", "u-run-001"];
    for (which, of, expected) in [
        (Which::Nth(2), Owned::Intent, vec![1]),
        (Which::Every, Owned::Intent, vec![0, 1, 0, 1]),
        (Which::FirstOfEach, Owned::Intent, vec![0, 1]),
        (Which::Nth(4), Owned::Anyone, vec![0]),
        (Which::Every, Owned::Product, vec![]),
    ] {
        let mut fresh = Watched::set(Wire::Redis).await;
        fresh.expect_two().await;
        let (mut notices, _armed) = Notices::of(&mut fresh, vec![with(which, of)]).await;
        let link = fresh.link();
        let mut fired = Vec::new();
        for key in asked {
            exchange(&link, &array(&["GET", key]), b"$-1\r\n");
        }
        drop(link);
        fresh.end().await;
        while !notices.is_closed() {
            let (_, firing) = notices.fired().await;
            fired.push(firing.step.unwrap().intent.unwrap().0);
            notices.effect().await;
            notices.ended().await;
        }
        assert_eq!(fired, expected, "{which:?} {of:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_are_taken_back_at_once_under_load() {
    let mut watched = Watched::set(Wire::Redis).await;
    let mut every = get(BEFORE, HOLD);
    every.at.which = Which::Every;
    let (_notices, armed) = Notices::of(&mut watched, vec![every]).await;
    let links: Vec<_> = (0..100).map(|_| watched.link()).collect();
    let request = array(&["GET", "a"]);
    links.iter().for_each(|(client, _)| send(client, &request));
    let began = Instant::now();
    watched.proxies().heal(armed).await.unwrap();
    let took = began.elapsed();
    for (_, server) in &links {
        assert_eq!(exactly(server, request.len()), request);
    }
    assert!(took < Duration::from_millis(200), "{took:?}");
    // A guard that is dropped does the same.
    let armed = watched.proxies().arm(vec![get(BEFORE, HOLD)]).await.unwrap();
    send(&links[0].0, &request);
    assert!(brings_nothing(&links[0].1));
    drop(armed);
    assert_eq!(exactly(&links[0].1, request.len()), request);
    drop(links);
    watched.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_that_is_refused_again_and_again_is_told() {
    let mut watched = Watched::set(Wire::Redis).await;
    watched.expect_two().await;
    let (mut notices, _armed) = Notices::of(&mut watched, vec![get(AFTER, HOLD)]).await;
    let link = watched.link();
    let lock = array(&["SET", "lock:u-run-000", "t-0123456789ab", "NX", "PX", "3000"]);
    exchange(&link, &lock, b"+OK\r\n");
    for _ in 0..3 {
        exchange(&link, &array(&["SET", "lock:u-run-000", "t-1", "NX", "PX", "3000"]), b"$-1\r\n");
    }
    let activity = watched.proxies().activity(vec![IntentId(0), IntentId(1)]).await.unwrap();
    assert_eq!(
        (activity.len(), activity[0].intent, activity[0].refused_in_row),
        (1, IntentId(0), 3)
    );
    send(&link.0, &array(&["GET", "stock:u-run-000"]));
    exactly(&link.1, 5);
    send(&link.1, b"$1\r\n5\r\n");
    let (notice, _) = notices.fired().await;
    let lease = notice.lease.unwrap();
    assert_eq!((lease.key.as_str(), lease.life), ("lock:u-run-000", Some(Duration::from_secs(3))));
    assert_eq!(notice.keys, ["lock:u-run-000", "stock:u-run-000"]);
    watched.end().await;
}
