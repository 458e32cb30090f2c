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

fn read(pieces: &[&[u8]]) -> Result<Reply, ReplyFault> {
    let mut reader = ReplyReader::new(1_000, &ReplyBudget::new(100_000));
    for (place, piece) in pieces.iter().enumerate() {
        if let Some(reply) = reader.push(piece)? {
            assert_eq!(place, pieces.len() - 1, "a reply before its last piece");
            return Ok(reply);
        }
    }
    reader.end()
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
        let whole = |pieces: &[&[u8]]| {
            let mut reader = ReplyReader::new(1_000, &ReplyBudget::new(100_000));
            for piece in pieces {
                match reader.push(piece) {
                    Ok(None) => {}
                    Ok(Some(reply)) => return Some((reply.status, reply.body)),
                    Err(ReplyFault::Excess { status, .. }) => return Some((status, Vec::new())),
                    Err(_) => return None,
                }
            }
            reader.end().ok().map(|reply| (reply.status, reply.body))
        };
        let status = |end: Option<(u16, Vec<u8>)>| end.map(|(status, _)| status);
        prop_assert_eq!(status(whole(&[&bytes])), status(whole(&pieces(&bytes, &cuts))));
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
    assert_eq!(body("HTTP/1.1 200 OK\r\n\r\nto the end"), ok("to the end", false));
    assert_eq!(body("HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n"), ok("", true));
    assert_eq!(body("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"), ok("", true));
    assert_eq!(
        body("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ok("", false)
    );
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
    let mut second = ReplyReader::new(1_000, &budget);
    assert!(second.push(head.as_bytes()).unwrap().is_none());
    assert!(second.push(body.as_bytes()).unwrap().is_some());
}
