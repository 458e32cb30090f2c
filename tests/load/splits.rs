//! The reply's reader: the same bytes give the same reply, however the network cuts them.

use dupeproof::load::{Reply, ReplyBudget, ReplyFault, ReplyReader};
use proptest::prelude::*;

const CHUNKED: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n\
    HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\nTrailer: X-End\r\n\r\n\
    4;name=\"a;b\"\r\n{\"or\r\nC \r\nderId\":\"17\"}\r\n0;last\r\nX-End: 1\r\n\r\n";

/// Heads of every framing, and none.
const HEADS: [&str; 5] = [
    "",
    "HTTP/1.1 200 OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
    "HTTP/1.1 204 No\r\n\r\n",
];

/// What chunk sizes, line ends and beginnings are made of.
const LETTERS: &[u8] = b"0123aF;\r\n\r\nHTTP/1. x:";

/// The reply, and the piece that completed it; nothing where the end of the stream did.
fn read_to(pieces: &[&[u8]]) -> Result<(Reply, Option<usize>), ReplyFault> {
    let mut reader = ReplyReader::new(1_000, &ReplyBudget::new(100_000));
    for (place, piece) in pieces.iter().enumerate() {
        if let Some(reply) = reader.push(piece)? {
            return Ok((reply, Some(place)));
        }
    }
    reader.end().map(|reply| (reply, None))
}

fn read(pieces: &[&[u8]]) -> Result<Reply, ReplyFault> {
    let (reply, place) = read_to(pieces)?;
    assert!(place.is_none_or(|place| place == pieces.len() - 1), "a reply before its last piece");
    Ok(reply)
}

/// Status, headers and body.
type Essence = (u16, Vec<(String, String)>, Vec<u8>);

/// What must not depend on the cuts.
fn essence(pieces: &[&[u8]]) -> Result<Essence, ReplyFault> {
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    read_to(pieces).map(|(reply, _)| {
        let headers = reply.headers().map(owned).collect();
        (reply.status, headers, reply.body)
    })
}

/// All ways to cut these bytes once.
fn halves(bytes: &[u8]) -> impl Iterator<Item = [&[u8]; 2]> {
    (0..=bytes.len()).map(|at| <[_; 2]>::from(bytes.split_at(at)))
}

fn singles(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.chunks(1).collect()
}

fn pieces<'a>(bytes: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len())).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.dedup();
    places.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect()
}

proptest! {
    #[test]
    fn a_chunked_reply_is_the_same_in_every_cut(cuts: Vec<prop::sample::Index>) {
        let reply = read(&pieces(CHUNKED, &cuts)).unwrap();
        prop_assert_eq!(reply.status, 201);
        prop_assert_eq!(reply.body, b"{\"orderId\":\"17\"}");
        prop_assert!(reply.keeps_alive);
    }

    #[test]
    fn a_chunked_reply_that_is_cut_short_is_never_complete(
        end in 0..CHUNKED.len(),
        cuts: Vec<prop::sample::Index>,
    ) {
        let bytes = &CHUNKED[..end];
        prop_assume!(end > 0);
        prop_assert!(read(&pieces(bytes, &cuts)).is_err());
    }

    #[test]
    fn any_bytes_give_the_same_end_in_every_cut(
        head in prop::sample::select(HEADS.to_vec()),
        tail in prop::collection::vec(prop::sample::select(LETTERS.to_vec()), 1..60),
        cuts: Vec<prop::sample::Index>,
    ) {
        let bytes = [head.as_bytes(), &tail].concat();
        let whole = essence(&[&bytes]);
        prop_assert_eq!(&whole, &essence(&pieces(&bytes, &cuts)));
        prop_assert_eq!(&whole, &essence(&singles(&bytes)));
    }
}

#[test]
fn framing_follows_the_specification() {
    let body = |text: &str| {
        read(&[text.as_bytes()])
            .map(|reply| (String::from_utf8(reply.body).unwrap(), reply.keeps_alive))
    };
    let ok = |text: &str, kept| Ok((text.to_owned(), kept));
    assert_eq!(body("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), ok("ok", true));
    assert_eq!(body("HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok"), ok("ok", true));
    assert_eq!(body("HTTP/1.1 200 OK\nContent-Length: 2\n\nok"), ok("ok", true));
    assert_eq!(
        body("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: x, Close\r\n\r\nok"),
        ok("ok", false)
    );
    assert_eq!(body("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"), ok("ok", false));
    assert_eq!(
        body("HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok"),
        ok("ok", true)
    );
    assert_eq!(
        body("HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive, close\r\n\r\nok"),
        ok("ok", false)
    );
    assert_eq!(
        body(
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
        ok("", false)
    );
    assert_eq!(body("HTTP/1.1 200 OK\r\n\r\nto the end"), ok("to the end", false));
    assert_eq!(body("HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n"), ok("", true));
    assert_eq!(body("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"), ok("", true));
    assert_eq!(
        body("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ok("", false)
    );
}

/// Replies and faults of every kind, one after the other in the brackets: what is read of each.
const EVERY_KIND: [&str; 18] = [
    "HTTP/1.1 201 Created\r\nContent-Length: 5\r\nX: a\r\n\r\n12345",
    "HTTP/1.1 201 Created\nContent-Length: 5\n\n12345",
    "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 100\r\n\r\nHTTP/1.1 204 No\r\n\r\n",
    "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\nETag: x\r\n\r\n",
    "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nto the end\r\n\r\n",
    "HTTP/1.0 200 OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n000\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\nA ;x=\"\r\"\r\n0123456789\r\n0\nT: 1\n\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 4, 5\r\n\r\n1234",
    "HTTP/1.1 200 OK\r\nNo colon\r\n\r\n",
    "HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1234",
    "HTTP/1.1 101 Switching\r\n\r\n",
    "HTTP/1.1 099 What\r\n\r\n",
    "\r\nHTTP/1.1 200 OK\r\n\r\n",
];

#[test]
fn every_kind_of_reply_is_the_same_wherever_it_is_cut() {
    for text in EVERY_KIND {
        let bytes = text.as_bytes();
        let whole = essence(&[bytes]);
        assert_eq!(whole, essence(&singles(bytes)), "{text:?} byte by byte");
        for halves in halves(bytes) {
            assert_eq!(whole, essence(&halves), "{text:?} after {}", halves[0].len());
        }
    }
}

#[test]
fn what_follows_a_reply_is_no_part_of_it_and_ends_its_connection() {
    for text in EVERY_KIND {
        let bytes = text.as_bytes();
        // Without a frame of its own a body has no end that something could follow.
        let Ok((reply, Some(_))) = read_to(&[bytes]) else { continue };
        for more in ["x", "\r\n", "HTTP/1.1 200 OK\r\n\r\n"] {
            let longer = [bytes, more.as_bytes()].concat();
            let (other, _) = read_to(&[&longer]).unwrap();
            assert!(!other.keeps_alive, "{text:?} with {more:?} behind it");
            assert_eq!((reply.status, &reply.body), (other.status, &other.body));
            for halves in halves(&longer) {
                assert_eq!(essence(&[bytes]), essence(&halves), "{text:?} with {more:?}");
            }
        }
    }
}

#[test]
fn a_body_of_the_largest_size_fits_and_one_byte_more_does_not() {
    let cases = |body: &str| {
        let length = body.len();
        [
            format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}"),
            format!("HTTP/1.1 200 OK\r\n\r\n{body}"),
            format!(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n0\r\n\r\n"
            ),
        ]
    };
    for text in cases(&"x".repeat(1_000)) {
        assert_eq!(read(&[text.as_bytes()]).unwrap().body.len(), 1_000);
        assert_eq!(read(&singles(text.as_bytes())).unwrap().body.len(), 1_000);
    }
    for text in cases(&"x".repeat(1_001)) {
        let long = ReplyFault::LongBody { status: 200, limit: 1_000 };
        assert_eq!(read_to(&[text.as_bytes()]).unwrap_err(), long);
        assert_eq!(read_to(&singles(text.as_bytes())).unwrap_err(), long);
    }
}

#[test]
fn a_head_may_have_64_kib_with_all_that_came_before_it() {
    let of = |head: usize| {
        let early = "HTTP/1.1 103 Early\r\n\r\n";
        let (begin, end) = ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA: ", "\r\n\r\n");
        let long = "x".repeat(head - early.len() - begin.len() - end.len());
        format!("{early}{begin}{long}{end}")
    };
    for step in [1, 7, 4_096, 100_000] {
        let read = |text: &str| {
            let pieces: Vec<_> = text.as_bytes().chunks(step).collect();
            read_to(&pieces).map(|(reply, _)| reply.status)
        };
        assert_eq!(read(&of(65_536)), Ok(200));
        assert_eq!(read(&of(65_537)), Err(ReplyFault::LongHead));
    }
}

#[test]
fn contradictory_framing_is_a_fault_and_not_a_guess() {
    let fault = |text: &str| read(&[text.as_bytes()]).unwrap_err();
    for lengths in ["2\r\nContent-Length: 3", "2, 3", "-2", "+2", "two", "", "99999999999999999999"]
    {
        let text = format!("HTTP/1.1 200 OK\r\nContent-Length: {lengths}\r\n\r\nok");
        assert!(matches!(fault(&text), ReplyFault::Length { .. }), "{lengths}");
    }
    for coding in ["gzip, chunked", "gzip", "chunked, chunked", "identity"] {
        let text = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: {coding}\r\n\r\n0\r\n\r\n");
        assert!(matches!(fault(&text), ReplyFault::Coding { .. }), "{coding}");
    }
    for size in ["", "x", "-1", "0x4", "11112222333344445"] {
        let text = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{size}\r\nabc");
        assert!(matches!(fault(&text), ReplyFault::Chunk { .. }), "{size}");
    }
    let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n";
    assert!(matches!(fault(text), ReplyFault::Chunk { .. }));
    assert!(matches!(fault("HTTP/1.1 101 Switching\r\n\r\n"), ReplyFault::Switched));
    assert!(matches!(fault("HTTP/1.1 099 What\r\n\r\n"), ReplyFault::Garbage { .. }));
}

#[test]
fn replies_in_flight_share_one_budget_and_give_it_back() {
    let budget = ReplyBudget::new(1_000);
    let long = format!("HTTP/1.1 200 OK\r\nContent-Length: 700\r\n\r\n{}", "x".repeat(700));
    let read = || ReplyReader::new(1_000, &budget).push(long.as_bytes());
    let (head, body) = long.split_at(40);
    let mut first = ReplyReader::new(1_000, &budget);
    assert!(first.push(head.as_bytes()).unwrap().is_none());
    let first = first.push(body.as_bytes()).unwrap().unwrap();
    assert_eq!(read().unwrap_err(), ReplyFault::OverBudget);
    drop(first);
    // A reply that comes in one piece counts once: 40 bytes of head and 700 of body.
    assert!(read().unwrap().is_some());
    let mut second = ReplyReader::new(1_000, &budget);
    assert!(second.push(head.as_bytes()).unwrap().is_none());
    assert!(second.push(body.as_bytes()).unwrap().is_some());
}
