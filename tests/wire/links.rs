//! A link between plain sockets: its ends, its back-pressure, and what it does when something is
//! missing.

use std::io::{ErrorKind, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use dupeproof::history::{LinkId, Wire};
use dupeproof::wire::{ProxyEvent, Side};

use crate::ends::{End, LIMIT, Stage, exactly, proxy_to, reset, rest, send, shut};
use crate::postgres_messages::{message, startup};
use crate::redis_meaning::array;

#[tokio::test]
async fn each_direction_ends_alone_and_in_order() {
    let stage = Stage::set(Wire::Redis).await;
    for client_first in [true, false] {
        let (client, server) = stage.link();
        let (first, last) = if client_first { (&client, &server) } else { (&server, &client) };
        send(first, b"+one last word\r\n");
        shut(first);
        assert_eq!(rest(last), (b"+one last word\r\n".to_vec(), End::Orderly));
        send(last, b"+an answer to it\r\n");
        assert_eq!(exactly(first, 18), b"+an answer to it\r\n");
        send(last, b"+and an end\r\n");
        shut(last);
        assert_eq!(rest(first), (b"+and an end\r\n".to_vec(), End::Orderly));
    }
    let counts = stage.until(|counts| counts.open == 0).await;
    assert_eq!((counts.links, counts.reset), (2, 0));
    stage.stop().await;
}

#[tokio::test]
async fn a_reset_is_passed_on_behind_what_was_sent_before() {
    let stage = Stage::set(Wire::Redis).await;
    let (client, server) = stage.link();
    send(&server, b"+said\r\n");
    assert_eq!(exactly(&client, 7), b"+said\r\n");
    reset(server);
    assert_eq!(rest(&client), (Vec::new(), End::Reset));
    let (client, server) = stage.link();
    send(&client, b"PING\r\n");
    assert_eq!(exactly(&server, 6), b"PING\r\n");
    reset(client);
    assert_eq!(rest(&server), (Vec::new(), End::Reset));
    let counts = stage.until(|counts| counts.open == 0).await;
    assert_eq!((counts.links, counts.reset), (2, 2));
    stage.stop().await;
}

#[tokio::test]
async fn last_words_arrive_although_nobody_hears_the_client_out() {
    let stage = Stage::set(Wire::Postgres).await;
    for _ in 0..20 {
        let (client, server) = stage.link();
        send(&client, &startup());
        exactly(&server, 10);
        let fatal = message(b'E', &[b"SFATAL\0VFATAL\0C57P01\0Mgone\0\0"]);
        send(&server, &fatal);
        // It has not read all, so that the kernel answers with a reset.
        drop(server);
        let _ = (&client).write_all(&message(b'Q', &[b"SELECT 1\0"]));
        assert_eq!(rest(&client).0, fatal);
    }
    stage.until(|counts| counts.open == 0).await;
    stage.stop().await;
}

#[tokio::test]
async fn a_slow_reader_stops_the_sender() {
    let stage = Stage::set(Wire::Redis).await;
    for to_client in [true, false] {
        let (client, server) = stage.link();
        let (mut sender, reader) = if to_client { (server, client) } else { (client, server) };
        // One value of no end: no frame to wait for.
        send(&sender, b"*1\r\n$9000000000\r\n");
        sender.set_write_timeout(Some(std::time::Duration::from_millis(300))).unwrap();
        let mut sent = 16;
        let piece = vec![b'x'; 1 << 16];
        let why = loop {
            match sender.write(&piece) {
                Ok(count) => sent += count,
                Err(error) => break error.kind(),
            }
            assert!(sent < 64 << 20, "somebody takes all of it");
        };
        assert_eq!(why, ErrorKind::WouldBlock);
        // What is underway lies in the sockets of the kernel, and in one buffer of ours.
        let read = thread::spawn(move || exactly(&reader, sent).len());
        assert_eq!(read.join().unwrap(), sent, "and all of it arrives");
    }
    stage.stop().await;
}

#[tokio::test]
async fn an_upstream_that_is_down_resets_the_client_and_is_told() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut proxy = proxy_to(Wire::Postgres, free).await;
    let mut events = proxy.events().unwrap();
    let client = TcpStream::connect(proxy.address()).unwrap();
    client.set_read_timeout(Some(LIMIT)).unwrap();
    assert_eq!(rest(&client), (Vec::new(), End::Reset));
    let event = events.recv().await.unwrap();
    let ProxyEvent::Unreached { link: LinkId(0), upstream, why, .. } = &event else {
        panic!("{event:?}")
    };
    assert_eq!((upstream, why.contains("refused")), (&free.to_string(), true), "{event}");
    assert!(event.to_string().contains("start the server"), "{event}");
    let counts = crate::ends::until(&proxy, |counts| counts.open == 0).await;
    assert_eq!((counts.links, counts.unreached, counts.reset), (1, 1, 1));
    // It is there later.
    let listener = TcpListener::bind(free).unwrap();
    let client = TcpStream::connect(proxy.address()).unwrap();
    let (server, _) = listener.accept().unwrap();
    send(&client, &startup());
    assert_eq!(exactly(&server, startup().len()), startup());
    proxy.stop().await.unwrap();
}

#[tokio::test]
async fn a_stop_resets_open_links_and_gives_the_port_back() {
    let stage = Stage::set(Wire::Http).await;
    let links: Vec<_> = (0..50).map(|_| stage.link()).collect();
    send(&links[0].1, b"HTTP/1.1 200 OK\r\n\r\nnot all of");
    exactly(&links[0].0, 29);
    let address = stage.proxy.address();
    stage.stop().await;
    for (client, server) in &links {
        assert_eq!(rest(client), (Vec::new(), End::Reset), "an orderly end would look whole");
        assert_eq!(rest(server), (Vec::new(), End::Reset));
    }
    assert_eq!(TcpStream::connect(address).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    TcpListener::bind(address).unwrap();
}

#[tokio::test]
async fn a_port_that_is_taken_is_an_error_at_the_start() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap();
    let error = crate::ends::Proxy::start(listen, Wire::Redis, listen).await;
    let error = error.err().unwrap().to_string();
    assert_eq!(error, format!("could not listen on {listen} for the redis proxy"));
}

#[tokio::test]
async fn what_is_no_frame_passes_and_is_told() {
    let mut stage = Stage::set(Wire::Redis).await;
    let (client, server) = stage.link();
    send(&client, b"*1\r\n$4\r\nPING\r\n*nonsense\r\n*1\r\n");
    assert_eq!(exactly(&server, 29), b"*1\r\n$4\r\nPING\r\n*nonsense\r\n*1\r\n");
    let why = "a count is not a number";
    let told = ProxyEvent::Opaque { link: LinkId(0), from: Side::Client, at: 14, why };
    assert_eq!(stage.event().await, told);
    send(&server, b"@\r\n");
    assert_eq!(exactly(&client, 3), b"@\r\n");
    assert_eq!(stage.until(|counts| counts.opaque == 2).await.opaque, 2);
    stage.stop().await;
}

#[tokio::test]
async fn ten_thousand_tiny_frames_and_a_huge_one_arrive_unchanged() {
    let stage = Stage::set(Wire::Redis).await;
    let (client, server) = stage.link();
    let tiny = array(&["GET", "a"]).repeat(10_000);
    let content = "0123456789abcdef".repeat(4 << 20);
    let huge = array(&["SET", "huge", &content]);
    let sent = [tiny, huge].concat();
    let writer = thread::spawn({
        let (client, sent) = (client.try_clone().unwrap(), sent.clone());
        move || send(&client, &sent)
    });
    assert!(exactly(&server, sent.len()) == sent, "not a byte is changed");
    writer.join().unwrap();
    let counts = stage.until(|_| true).await;
    assert_eq!(counts.frames(Side::Client, "command"), 10_001);
    assert_eq!(counts.client_bytes, sent.len() as u64);
    stage.stop().await;
}

#[tokio::test]
async fn more_requests_than_may_wait_pass_unread_and_it_is_told_once() {
    let mut stage = Stage::set(Wire::Http).await;
    let (client, server) = stage.link();
    let asked = b"GET / HTTP/1.1\r\n\r\n".repeat(3_000);
    let writer = thread::spawn({
        let (client, asked) = (client.try_clone().unwrap(), asked.clone());
        move || send(&client, &asked)
    });
    assert_eq!(exactly(&server, asked.len()), asked);
    writer.join().unwrap();
    let why = "too many requests wait for a reply";
    let told = ProxyEvent::Opaque { link: LinkId(0), from: Side::Server, at: 0, why };
    assert_eq!(stage.event().await, told);
    let answer = b"HTTP/1.1 204 No Content\r\n\r\n";
    send(&server, answer);
    assert_eq!(exactly(&client, answer.len()), answer);
    let counts = stage.until(|counts| counts.server_bytes > 0).await;
    assert_eq!((counts.opaque, counts.frames(Side::Client, "GET")), (1, 3_000));
    assert_eq!(counts.kinds(Side::Server).count(), 0);
    stage.stop().await;
}
