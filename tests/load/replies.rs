//! Servers that misbehave: each ends as one attempt, with the right outcome and words.

use std::time::{Duration, Instant};

use dupeproof::history::{Attempt, Outcome, Sent};
use dupeproof::load::TargetInstance;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::rig::{client, hasty, single, targets};
use crate::server::{Server, created, listen, read_request, write};

/// One attempt against a server that answers the whole request with `text` and then closes.
async fn answered_with(text: String) -> Attempt {
    let server = Server::start(move |stream, _| {
        let text = text.clone();
        async move {
            let mut stream = BufReader::new(stream);
            read_request(&mut stream).await;
            write(stream.get_mut(), &text).await;
        }
    })
    .await;
    single(target(&server), client()).await.0
}

fn target(server: &Server) -> TargetInstance {
    targets(&[server.address]).remove(0)
}

fn assert_unknown(attempt: &Attempt, words: &str) {
    let failure = attempt.failure.as_deref().unwrap();
    assert_eq!((attempt.outcome, attempt.status), (Outcome::Unknown, None), "{failure}");
    assert!(failure.contains(words), "`{failure}` does not say `{words}`");
}

#[tokio::test]
async fn a_reply_that_cannot_be_used_is_unknown_and_says_what_was_wrong() {
    let long_line = "x".repeat(70_000);
    let many = "A: b\r\n".repeat(200);
    let long_body = "y".repeat(70_000);
    for (text, words) in [
        ("".to_owned(), "closed before any reply"),
        ("SSH-2.0-OpenSSH_9\r\n".to_owned(), "not HTTP/1.1: it begins with `S`"),
        ("HTTP/2 200\r\n\r\n".to_owned(), "not HTTP/1.1"),
        ("HTTP/1.1 2x0 OK\r\n\r\n".to_owned(), "not HTTP/1.1"),
        ("HTTP/1.1 200 OK\r\nContent-".to_owned(), "in the middle of the reply's head"),
        (format!("HTTP/1.1 200 OK\r\nA: {long_line}"), "head is longer than 65536 bytes"),
        (format!("HTTP/1.1 200 OK\r\n{many}\r\n"), "more than 128 headers"),
        (
            "HTTP/1.1 201 C\r\nContent-Length: 40\r\n\r\n{\"order".to_owned(),
            "after 7 of 40 bytes of the body of a 201",
        ),
        (
            "HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{\"or".to_owned(),
            "in a 201's chunked body, after 4 bytes",
        ),
        (
            "HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n9x\r\n".to_owned(),
            "a chunk's size cannot be read",
        ),
        (
            "HTTP/1.1 201 C\r\nContent-Length: 70000\r\n\r\n".to_owned(),
            "the body of a 201 is longer than 65536 bytes",
        ),
        (
            format!("HTTP/1.1 201 C\r\n\r\n{long_body}"),
            "the body of a 201 is longer than 65536 bytes",
        ),
    ] {
        let attempt = answered_with(text).await;
        assert_unknown(&attempt, words);
        assert_eq!(attempt.sent, Sent::Whole);
        assert!(attempt.body.is_none() && attempt.completed.is_some());
    }
}

#[tokio::test]
async fn an_answer_that_never_comes_or_never_ends_is_given_up_in_time() {
    let start = |first: &'static str, again: &'static str| {
        Server::start(move |stream, _| async move {
            let mut stream = BufReader::new(stream);
            read_request(&mut stream).await;
            write(stream.get_mut(), first).await;
            let again = again.repeat(1_000);
            while !again.is_empty() && stream.get_mut().write_all(again.as_bytes()).await.is_ok() {}
            std::future::pending::<()>().await;
        })
    };
    let chunked = "HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (first, again, words) in [
        ("", "", "no complete reply within 300ms (nothing so far)"),
        (
            "HTTP/1.1 201 C\r\nContent-Length: 9\r\n\r\n12",
            "",
            "(a 201 with 2 bytes of body so far)",
        ),
        ("HTTP/1.1 2", "", "(part of a head so far)"),
        ("HTTP/1.1 200 OK\r\n", "A: endless\r\n", "head is longer than"),
        ("", "HTTP/1.1 100 Continue\r\n\r\n", "head is longer than"),
        (chunked, "4\r\nabcd\r\n", "the body of a 201 is longer than"),
        (chunked, "4;endless", "extensions or trailers have no end"),
        (
            "HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
            "A: endless\r\n",
            "extensions or trailers have no end",
        ),
    ] {
        let server = start(first, again).await;
        let begun = Instant::now();
        let (attempt, _) = single(target(&server), hasty()).await;
        assert_unknown(&attempt, words);
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn a_reset_is_unknown() {
    let server = Server::start(|stream, _| async move {
        let mut stream = BufReader::new(stream);
        read_request(&mut stream).await;
        write(stream.get_mut(), "HTTP/1.1 201 C\r\nContent-Length: 9\r\n\r\n12").await;
        stream.get_mut().set_zero_linger().unwrap();
    })
    .await;
    let (attempt, _) = single(target(&server), client()).await;
    assert_unknown(&attempt, "the connection broke");
}

#[tokio::test]
async fn an_answer_before_the_last_byte_counts_although_sending_fails() {
    let closed = Server::start(|mut stream, _| async move {
        read_to_the_body(&mut stream).await;
        write(&mut stream, &created("early")).await;
    })
    .await;
    let open = Server::start(|mut stream, _| async move {
        read_to_the_body(&mut stream).await;
        write(&mut stream, &created("early")).await;
        while stream.read(&mut [0; 64]).await.is_ok_and(|count| count > 0) {}
    })
    .await;
    let (attempt, _) = single(target(&closed), client()).await;
    assert_eq!(attempt.outcome, Outcome::Acknowledged, "{attempt:?}");
    assert_eq!(attempt.order.as_deref(), Some("early"));
    let (attempt, _) = single(target(&open), client()).await;
    assert_eq!((attempt.outcome, attempt.sent), (Outcome::Acknowledged, Sent::Whole));
    assert!(attempt.completed < attempt.released, "it was answered before it was released");
}

/// Reads what comes first; the last byte of a burst's request is never among it.
async fn read_to_the_body(stream: &mut TcpStream) {
    let mut seen = Vec::new();
    while !seen.windows(4).any(|four| four == b"\r\n\r\n") {
        stream.read_buf(&mut seen).await.unwrap();
    }
}

#[tokio::test]
async fn chunked_and_close_delimited_successes_are_read() {
    let chunked = "HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n\
                   8;a=b\r\n{\"orderI\r\n6\r\nd\":17}\r\n0\r\nT: 1\r\n\r\n";
    let to_the_end = "HTTP/1.1 201 C\r\n\r\n{\"orderId\":17}";
    let informed = format!("HTTP/1.1 103 Early\r\nA: b\r\n\r\n{}", created("17"));
    for text in [chunked, to_the_end, &informed] {
        let attempt = answered_with(text.to_owned()).await;
        assert_eq!(attempt.outcome, Outcome::Acknowledged, "{:?}", attempt.failure);
        assert_eq!((attempt.order.as_deref(), attempt.status), (Some("17"), Some(201)));
    }
}

#[tokio::test]
async fn a_refused_connect_and_a_name_that_nobody_knows_are_not_sent() {
    let gone = listen().local_addr().unwrap();
    let refused = targets(&[gone]).remove(0);
    let nameless =
        TargetInstance { address: "no-such-host.invalid:80".to_owned(), ..refused.clone() };
    for (target, words) in [(refused, "cannot connect"), (nameless, "cannot look up")] {
        let (attempt, history) = single(target, client()).await;
        assert_eq!((attempt.outcome, attempt.sent), (Outcome::NotSent, Sent::Nothing));
        assert_eq!((attempt.first_byte, attempt.released), (None, None));
        assert!(attempt.failure.unwrap().contains(words));
        assert_eq!(history.bursts[0].connections, 0);
    }
}

#[tokio::test]
async fn a_get_reads_one_reply_and_says_what_went_wrong_otherwise() {
    let server = Server::start(|stream, number| async move {
        let mut stream = BufReader::new(stream);
        let asked = read_request(&mut stream).await.unwrap();
        assert!(asked.head.starts_with("GET /base/healthz HTTP/1.1\r\n"));
        if number == 0 {
            write(stream.get_mut(), "HTTP/1.1 503 Busy\r\n\r\nnot yet").await;
        }
    })
    .await;
    let target = TargetInstance { base_path: "/base".to_owned(), ..target(&server) };
    let patience = Duration::from_secs(5);
    let reply = dupeproof::load::get(&target, "/healthz", patience).await.unwrap();
    assert_eq!((reply.status, reply.body.as_slice()), (503, b"not yet".as_slice()));
    let error = dupeproof::load::get(&target, "/healthz", patience).await.unwrap_err();
    assert!(error.to_string().contains("closed before any reply"), "{error}");
}
