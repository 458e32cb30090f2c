//! HTTP/1.1: messages in any cut, with bodies whose lengths the test knows because it made them.

use dupeproof::wire::http::{Message, Replies, Reply, Request, Requests};
use dupeproof::wire::{Mark, Scanner};
use proptest::prelude::*;

use crate::cuts::{Passage, Seen, garbage, pass, sizes};

/// A request, by its first line and the content of its body.
pub type Asked = (String, String, Vec<u8>, bool);

fn told(message: &Message<'_>) -> Asked {
    let request = Request::of(message).unwrap();
    let body = message.body();
    (request.method.into(), request.target.into(), body.bytes.to_vec(), body.is_whole)
}

fn requests(bytes: &[u8], sizes: &[usize]) -> Passage<Asked> {
    pass(Requests::new(), 4096, bytes, sizes, told)
}

/// Replies to these methods; status, content, and whether all of it is kept.
fn replies(methods: &[&str], bytes: &[u8], sizes: &[usize]) -> Passage<(u16, Vec<u8>, bool)> {
    let mut scanner = Replies::new();
    for method in methods {
        assert!(scanner.owe(method));
    }
    pass(scanner, 4096, bytes, sizes, |message| {
        let body = message.body();
        (Reply::of(message).unwrap().status, body.bytes.to_vec(), body.is_whole)
    })
}

fn ended<T>(passage: Passage<T>) -> Vec<T> {
    passage.frames.into_iter().map(|frame: Seen<T>| frame.ended).collect()
}

/// A body as it is on the wire with its field, by how it is framed.
fn framed(content: &[u8], chunks: Option<usize>) -> (String, Vec<u8>) {
    match chunks {
        None => (format!("Content-Length: {}\r\n", content.len()), content.to_vec()),
        Some(size) => {
            let mut body = Vec::new();
            for chunk in content.chunks(size) {
                body.extend_from_slice(format!("{:x};a=\"b\"\r\n", chunk.len()).as_bytes());
                body.extend_from_slice(chunk);
                body.extend_from_slice(b"\r\n");
            }
            body.extend_from_slice(b"0\r\nChecked: yes\r\n\r\n");
            ("transfer-encoding: gzip, Chunked\r\n".to_owned(), body)
        }
    }
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    let any = prop_oneof![Just(b'\r'), Just(b'\n'), any::<u8>()];
    prop_oneof![Just(Vec::new()), proptest::collection::vec(any, 0..300)]
}

fn chunks() -> impl Strategy<Value = Option<usize>> {
    proptest::option::of(1..40_usize)
}

prop_compose! {
    /// A request and what is to be told of it.
    fn request()(
        method in "[A-Z]{3,7}",
        target in "/[a-z0-9/?=]{0,20}",
        empty in 0..3_usize,
        content in content(),
        chunks in chunks(),
    ) -> (Vec<u8>, Asked) {
        let (field, body) = framed(&content, chunks);
        let lines = "\r\n".repeat(empty);
        let head = format!("{lines}{method} {target} HTTP/1.1\r\nHost: it\r\n{field}X: \r\n\r\n");
        ([head.as_bytes(), &body].concat(), (method, target, content, true))
    }
}

prop_compose! {
    /// A method, the reply to it, and what is to be told of that.
    fn reply()(
        method in prop_oneof![Just("HEAD"), Just("GET"), Just("POST")],
        interim in proptest::option::of(100..101_u16),
        status in prop_oneof![Just(200), Just(204), Just(304), Just(404), Just(500_u16)],
        content in content(),
        chunks in chunks(),
    ) -> (&'static str, Vec<u8>, Vec<(u16, Vec<u8>, bool)>) {
        let (field, body) = framed(&content, chunks);
        let has_body = method != "HEAD" && !matches!(status, 204 | 304);
        let (body, content) = if has_body { (body, content) } else { (Vec::new(), Vec::new()) };
        let first = interim.map(|status| format!("HTTP/1.1 {status} Continue\r\n\r\n"));
        let head = format!("HTTP/1.1 {status} Whatever\r\n{field}\r\n");
        let bytes = [first.unwrap_or_default().as_bytes(), head.as_bytes(), &body].concat();
        let mut told: Vec<_> = interim.map(|status| (status, Vec::new(), true)).into_iter().collect();
        told.push((status, content, true));
        (method, bytes, told)
    }
}

proptest! {
    #[test]
    fn any_cut_of_requests_gives_the_same_messages(
        made in proptest::collection::vec(request(), 1..6),
        sizes in sizes(),
    ) {
        let bytes: Vec<u8> = made.iter().flat_map(|(bytes, _)| bytes.clone()).collect();
        let passage = requests(&bytes, &sizes);
        prop_assert_eq!((passage.opaque, passage.open), (None, None));
        prop_assert!(passage.out == bytes, "not a byte is changed");
        let told: Vec<_> = made.into_iter().map(|(_, told)| told).collect();
        prop_assert_eq!(ended(passage), told);
    }

    #[test]
    fn any_cut_of_replies_gives_the_same_messages(
        made in proptest::collection::vec(reply(), 1..6),
        sizes in sizes(),
    ) {
        let bytes: Vec<u8> = made.iter().flat_map(|(_, bytes, _)| bytes.clone()).collect();
        let methods: Vec<_> = made.iter().map(|(method, ..)| *method).collect();
        let passage = replies(&methods, &bytes, &sizes);
        prop_assert_eq!((passage.opaque, passage.open), (None, None));
        prop_assert!(passage.out == bytes, "not a byte is changed");
        let told: Vec<_> = made.into_iter().flat_map(|(.., told)| told).collect();
        prop_assert_eq!(ended(passage), told);
    }

    #[test]
    fn garbage_passes_and_every_cut_says_the_same(
        first in prop_oneof![Just(""), Just("GET / HTTP/1.1\r\n"), Just("HTTP/1.1 200 OK\r\n")],
        field in prop_oneof![Just(""), Just("Transfer-Encoding: chunked\r\n\r\n")],
        garbage in garbage(b"\r\n\r\n:;0aF /,HTP1."),
        sizes in sizes(),
    ) {
        let bytes = [first.as_bytes(), field.as_bytes(), &garbage].concat();
        let (asked, at_once) = (requests(&bytes, &sizes), requests(&bytes, &[usize::MAX]));
        prop_assert!(asked.out == bytes);
        prop_assert_eq!(asked, at_once);
        let (told, at_once) = (replies(&[], &bytes, &sizes), replies(&[], &bytes, &[usize::MAX]));
        prop_assert!(told.out == bytes);
        prop_assert_eq!(told, at_once);
    }
}

#[test]
fn a_body_until_the_end_of_the_connection_ends_with_it_and_is_kept_in_part() {
    let bytes = [b"HTTP/1.1 200 OK\r\n\r\n".as_slice(), &b"x".repeat(1 << 20)].concat();
    let passage = replies(&["GET"], &bytes, &[usize::MAX]);
    assert_eq!((passage.open, passage.opaque, passage.frames.len()), (Some(0), None, 0));
    let mut scanner = Replies::new();
    assert!(scanner.owe("GET"));
    scanner.scan(&bytes, &mut |_| {});
    let mut ends = Vec::new();
    let mut seen = |mark: Mark<Message<'_>>| {
        let Mark::Ended { at, frame } = mark else { panic!("nothing else is new") };
        ends.push((at, frame.is_last(), frame.body().bytes.len()));
    };
    scanner.ended(&mut seen);
    scanner.ended(&mut seen);
    assert_eq!(ends, [(bytes.len() as u64, false, 4096)]);
}

#[test]
fn a_body_of_a_known_length_does_not_end_with_the_connection() {
    let mut scanner = Replies::new();
    scanner.scan(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", &mut |_| {});
    scanner.ended(&mut |_| panic!("it is cut"));
}

#[test]
fn a_long_body_is_told_by_its_beginning() {
    let body = "0123456789".repeat(100_000);
    let bytes = format!("POST /a HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let [frame] = requests(bytes.as_bytes(), &[1000]).frames.try_into().unwrap();
    assert_eq!(frame.known.2, b"", "it is known before its body comes");
    assert_eq!((&frame.ended.2[..], frame.ended.3), (&body.as_bytes()[..4096], false));
}

#[test]
fn another_protocol_is_not_read() {
    let switched = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";
    for (method, head) in [("GET", switched), ("CONNECT", "HTTP/1.1 200 OK\r\n\r\n")] {
        let mut scanner = Replies::new();
        assert!(scanner.owe(method));
        let mut last = None;
        let bytes = [head.as_bytes(), b"\x81\x05hello HTTP/1.1 200\r\n\r\n"].concat();
        scanner.scan(&bytes, &mut |mark| match mark {
            Mark::Ended { at, frame } => {
                assert_eq!(last, None);
                last = Some((at, frame.is_last()));
            }
            Mark::Opaque { .. } => panic!("it was agreed on"),
            Mark::Begun { .. } | Mark::Known(_) => {}
        });
        assert_eq!(last, Some((head.len() as u64, true)));
        assert_eq!(scanner.position(), bytes.len() as u64);
    }
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    assert_eq!(requests(preface, &[usize::MAX]).opaque, Some(0));
}

#[test]
fn lengths_that_contradict_each_other_are_not_believed() {
    for fields in [
        "Content-Length: 3\r\nContent-Length: 4\r\n",
        "Content-Length: 3, 4\r\n",
        "Content-Length: +3\r\n",
        "Content-Length: 99999999999999999999\r\n",
        "Content-Length: \r\n",
    ] {
        let request = format!("POST / HTTP/1.1\r\n{fields}\r\nabc");
        assert_eq!(requests(request.as_bytes(), &[1]).opaque, Some(0), "{fields}");
        let reply = format!("HTTP/1.1 200 OK\r\n{fields}\r\nabc");
        assert_eq!(replies(&["GET"], reply.as_bytes(), &[1]).opaque, Some(0), "{fields}");
    }
    let agreed = b"POST / HTTP/1.1\r\nContent-Length: 3, 3\r\n\r\nabc";
    assert_eq!(requests(agreed, &[1]).frames.len(), 1);
    let endless = b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\nabc";
    assert_eq!(requests(endless, &[1]).opaque, Some(0));
}
