//! Redis: frames in any cut, against redis-protocol's decoders.
//!
//! redis-protocol 6 decodes what is in a buffer from its beginning. It knows neither inline
//! commands nor streamed values within others nor RESP2's nulls in RESP3, and its maps and sets
//! take only some kinds as keys; values for it are made accordingly. The unit tests by cut take
//! everything.

use dupeproof::wire::redis::{Replies, Requests};
use proptest::prelude::*;
use redis_protocol::resp2::decode::decode as decode_resp2;
use redis_protocol::resp3::decode::streaming;
use redis_protocol::resp3::types::{DecodedFrame, OwnedFrame, Resp3Frame};

use crate::cuts::{Passage, garbage, pass, sizes};

fn replies(bytes: &[u8], sizes: &[usize]) -> Passage<String> {
    pass(Replies::new(), 4096, bytes, sizes, |reply| format!("{:?}", reply.answer()))
}

fn requests(bytes: &[u8], sizes: &[usize]) -> Passage<String> {
    pass(Requests::new(), 4096, bytes, sizes, |request| {
        let arguments = (0..request.arguments()).map(|at| request.argument(at));
        let arguments: Vec<_> =
            arguments.map(|part| part.map(|part| part.bytes.to_vec())).collect();
        format!("{arguments:?} {:?} {:?}", request.script(), request.lease())
    })
}

/// A value that isn't an aggregate, as a server writes it.
fn leaf() -> impl Strategy<Value = Vec<u8>> {
    let content =
        || proptest::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), any::<u8>()], 0..40);
    let string = move |kind: char| {
        content().prop_map(move |content| {
            [format!("{kind}{}\r\n", content.len()).as_bytes(), &content, b"\r\n"].concat()
        })
    };
    prop_oneof![
        "[ -~]{0,20}".prop_map(|text| format!("+{text}\r\n").into_bytes()),
        "[A-Z]{1,8} [ -~]{0,20}".prop_map(|text| format!("-{text}\r\n").into_bytes()),
        any::<i64>().prop_map(|number| format!(":{number}\r\n").into_bytes()),
        "-?[1-9][0-9]{18,60}".prop_map(|number| format!("({number}\r\n").into_bytes()),
        prop_oneof![Just("inf"), Just("-inf"), Just("1.5"), Just("10")]
            .prop_map(|number| format!(",{number}\r\n").into_bytes()),
        Just(b"#t\r\n".to_vec()),
        Just(b"_\r\n".to_vec()),
        string('$'),
        string('!'),
        "[a-z ]{0,30}"
            .prop_map(|text| format!("={}\r\ntxt:{text}\r\n", text.len() + 4).into_bytes()),
        proptest::collection::vec("[ -~]{1,12}", 0..4).prop_map(|pieces| {
            let pieces = pieces.iter().map(|piece| format!(";{}\r\n{piece}\r\n", piece.len()));
            format!("$?\r\n{};0\r\n", pieces.collect::<String>()).into_bytes()
        }),
    ]
}

/// One that may be the key of a map or within a set.
fn key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        "[ -~]{0,20}".prop_map(|text| format!("+{text}\r\n").into_bytes()),
        "[ -~]{0,20}".prop_map(|text| format!("${}\r\n{text}\r\n", text.len()).into_bytes()),
        any::<i64>().prop_map(|number| format!(":{number}\r\n").into_bytes()),
    ]
}

/// Values as the other decoder knows them.
fn plain_value() -> impl Strategy<Value = Vec<u8>> {
    let leaf = leaf().prop_filter("no streamed ones", |bytes| !bytes.starts_with(b"$?"));
    leaf.prop_recursive(5, 60, 5, |inner| {
        let open = |kind: char, count: usize, parts: &[Vec<u8>]| {
            [format!("{kind}{count}\r\n").as_bytes(), &parts.concat()].concat()
        };
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(move |parts| open(
                '*',
                parts.len(),
                &parts
            )),
            proptest::collection::vec(key(), 0..5).prop_map(move |parts| open(
                '~',
                parts.len(),
                &parts
            )),
            proptest::collection::vec((key(), inner), 0..4).prop_map(move |pairs| {
                let count = pairs.len();
                let parts: Vec<_> =
                    pairs.into_iter().flat_map(|(key, value)| [key, value]).collect();
                open('%', count, &parts)
            }),
        ]
    })
}

/// Replies as the other decoder knows them, streamed ones included.
fn plain_reply() -> impl Strategy<Value = Vec<u8>> {
    let parts = || proptest::collection::vec(plain_value(), 0..5);
    prop_oneof![
        4 => plain_value(),
        1 => leaf(),
        1 => parts().prop_map(|parts| [b"*?\r\n", parts.concat().as_slice(), b".\r\n"].concat()),
        1 => parts().prop_map(|parts| {
            [format!(">{}\r\n+message\r\n", parts.len() + 1).as_bytes(), &parts.concat()].concat()
        }),
        1 => (key(), plain_value(), key())
            .prop_map(|(key, note, value)| [b"|1\r\n".as_slice(), &key, &note, &value].concat()),
    ]
}

/// RESP2, with its nulls.
fn resp2_value() -> impl Strategy<Value = Vec<u8>> {
    let leaf = prop_oneof![
        4 => key(),
        1 => "[A-Z]{1,8} [ -~]{0,20}".prop_map(|text| format!("-{text}\r\n").into_bytes()),
        1 => Just(b"$-1\r\n".to_vec()),
        1 => Just(b"*-1\r\n".to_vec()),
    ];
    leaf.prop_recursive(5, 60, 5, |inner| {
        proptest::collection::vec(inner, 0..5).prop_map(|parts| {
            [format!("*{}\r\n", parts.len()).as_bytes(), &parts.concat()].concat()
        })
    })
}

/// What the other decoder reads, in the words of ours.
fn in_our_words(frame: &OwnedFrame) -> Option<String> {
    let text = |bytes: &[u8]| format!("Part {{ bytes: {bytes:?}, is_whole: true }}");
    let error = |bytes: &[u8]| {
        let code = bytes.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        format!("Error {{ code: {code:?}, text: {} }}", text(bytes))
    };
    Some(match frame {
        OwnedFrame::SimpleString { data, .. } => format!("Simple({})", text(data)),
        OwnedFrame::SimpleError { data, .. } => error(data.as_bytes()),
        OwnedFrame::BlobError { data, .. } => error(data),
        OwnedFrame::BlobString { data, .. } => {
            format!("Bulk {{ length: Some({}), prefix: {} }}", data.len(), text(data))
        }
        OwnedFrame::VerbatimString { data, .. } => format!("Verbatim({})", text(data)),
        OwnedFrame::Number { data, .. } => format!("Integer({data})"),
        OwnedFrame::Boolean { data, .. } => format!("Boolean({data})"),
        OwnedFrame::BigNumber { data, .. } => format!("BigNumber({})", text(data)),
        OwnedFrame::Null => "Null".to_owned(),
        OwnedFrame::Array { data, .. } => {
            format!("Aggregate {{ kind: Array, count: Some({}) }}", data.len())
        }
        _ => return None,
    })
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    leaf().prop_recursive(5, 60, 5, |inner| {
        let many = || proptest::collection::vec(inner.clone(), 0..5);
        let open = |kind: char, count: String, parts: &[Vec<u8>], end: &str| {
            [format!("{kind}{count}\r\n").as_bytes(), &parts.concat(), end.as_bytes()].concat()
        };
        prop_oneof![
            many().prop_map(move |parts| open('*', parts.len().to_string(), &parts, "")),
            many().prop_map(move |parts| open('~', parts.len().to_string(), &parts, "")),
            many().prop_map(move |parts| open('*', "?".to_owned(), &parts, ".\r\n")),
            many().prop_map(move |parts| open('~', "?".to_owned(), &parts, ".\r\n")),
            proptest::collection::vec((leaf(), inner.clone()), 0..4).prop_map(move |pairs| {
                let parts: Vec<_> =
                    pairs.into_iter().flat_map(|(key, value)| [key, value]).collect();
                open('%', (parts.len() / 2).to_string(), &parts, "")
            }),
            proptest::collection::vec((leaf(), inner.clone()), 0..4).prop_map(move |pairs| {
                let parts: Vec<_> =
                    pairs.into_iter().flat_map(|(key, value)| [key, value]).collect();
                open('%', "?".to_owned(), &parts, ".\r\n")
            }),
        ]
    })
}

/// A reply: a value, a push, or a value behind an attribute.
fn reply() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => value(),
        1 => value().prop_map(|value| [b">2\r\n+message\r\n".as_slice(), &value].concat()),
        1 => (leaf(), value(), value())
            .prop_map(|(key, note, value)| [b"|1\r\n".as_slice(), &key, &note, &value].concat()),
    ]
}

fn request() -> impl Strategy<Value = Vec<u8>> {
    let arguments = proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..30), 0..6);
    let verb = proptest::sample::select(vec!["SET", "get", "EVAL", "Del", "AUTH", "hset"]);
    prop_oneof![
        4 => (verb, arguments).prop_map(|(verb, arguments)| {
            let mut bytes = format!("*{}\r\n${}\r\n{verb}\r\n", arguments.len() + 1, verb.len()).into_bytes();
            for argument in arguments {
                bytes.extend(format!("${}\r\n", argument.len()).into_bytes());
                bytes.extend([argument.as_slice(), b"\r\n"].concat());
            }
            bytes
        }),
        1 => "[a-zA-Z][ -~]{0,30}\r?\n".prop_map(String::into_bytes),
        1 => Just(b"*0\r\n".to_vec()),
    ]
}

/// Where the units of a stream end.
fn ends(units: &[Vec<u8>]) -> Vec<u64> {
    let mut at = 0;
    units
        .iter()
        .map(|unit| {
            at += unit.len() as u64;
            at
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn replies_are_the_same_in_any_cut(
        units in proptest::collection::vec(reply(), 1..8), sizes in sizes(),
    ) {
        let bytes = units.concat();
        let cut = replies(&bytes, &sizes);
        prop_assert_eq!(&cut.out, &bytes);
        prop_assert_eq!(cut.ends(), ends(&units));
        prop_assert_eq!(cut, replies(&bytes, &[usize::MAX]));
    }

    #[test]
    fn requests_are_the_same_in_any_cut(
        units in proptest::collection::vec(request(), 1..8), sizes in sizes(),
    ) {
        let bytes = units.concat();
        let cut = requests(&bytes, &sizes);
        prop_assert_eq!(&cut.out, &bytes);
        prop_assert_eq!(cut.ends(), ends(&units));
        prop_assert_eq!(cut, requests(&bytes, &[usize::MAX]));
    }

    #[test]
    fn garbage_is_passed_on_and_never_an_error(
        bytes in garbage(b"*$+-:_#,(!=~%>|.;?\r\n0123456789"), sizes in sizes(),
    ) {
        let reply = replies(&bytes, &sizes);
        prop_assert_eq!(&reply.out, &bytes);
        prop_assert_eq!(reply, replies(&bytes, &[usize::MAX]));
        let request = requests(&bytes, &sizes);
        prop_assert_eq!(&request.out, &bytes);
        prop_assert_eq!(request, requests(&bytes, &[usize::MAX]));
    }

    #[test]
    fn a_spoilt_reply_is_passed_on(
        units in proptest::collection::vec(reply(), 1..5),
        at in any::<proptest::sample::Index>(), byte in any::<u8>(), sizes in sizes(),
    ) {
        let mut bytes = units.concat();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let cut = replies(&bytes, &sizes);
        prop_assert_eq!(&cut.out, &bytes);
        prop_assert_eq!(cut, replies(&bytes, &[usize::MAX]));
    }

    #[test]
    fn redis_protocol_reads_the_same_replies(
        units in proptest::collection::vec(plain_reply(), 1..6), sizes in sizes(),
    ) {
        let bytes = units.concat();
        let ours = replies(&bytes, &sizes).frames;
        let (mut at, mut place, mut in_stream) = (0, 0, false);
        while at < bytes.len() {
            let (frame, used) = streaming::decode(&bytes[at..]).unwrap().unwrap();
            at += used;
            // They give a streamed value in pieces: its opening, its elements, its end.
            let is_end = match &frame {
                DecodedFrame::Streaming(_) => {
                    in_stream = true;
                    false
                }
                DecodedFrame::Complete(frame) => {
                    let is_end = !in_stream || frame.is_end_stream_frame();
                    if let Some(words) = in_our_words(frame).filter(|_| !in_stream) {
                        prop_assert_eq!(&ours[place].ended, &words);
                    }
                    in_stream &= !is_end;
                    is_end
                }
            };
            if is_end {
                prop_assert_eq!(ours[place].end, at as u64);
                place += 1;
            }
        }
        prop_assert_eq!(place, ours.len());
    }

    #[test]
    fn redis_protocol_cuts_resp2_at_the_same_places(
        units in proptest::collection::vec(resp2_value(), 1..6), sizes in sizes(),
    ) {
        let bytes = units.concat();
        let mut theirs = Vec::new();
        let mut at = 0;
        while let Some((_, used)) = decode_resp2(&bytes[at..]).unwrap() {
            at += used;
            theirs.push(at as u64);
        }
        prop_assert_eq!(replies(&bytes, &sizes).ends(), theirs);
    }
}
