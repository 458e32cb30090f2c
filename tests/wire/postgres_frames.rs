//! PostgreSQL: frames in any cut, against pgwire's decoders.

use dupeproof::wire::Mark;
use dupeproof::wire::Scanner;
use dupeproof::wire::postgres::{Backend, Frame, Frontend, Lead, Reply, Request};
use proptest::prelude::*;

use crate::cuts::{Passage, garbage, pass, sizes};
use crate::postgres_messages::{any_reply, any_request, message, ready, start, startup, text};
use crate::postgres_peer as peer;

const SSL: u32 = 80_877_103;
const GSS: u32 = 80_877_104;
const CANCEL: u32 = 80_877_102;

fn requests(bytes: &[u8], sizes: &[usize]) -> Passage<String> {
    pass(Frontend::new(), 4096, bytes, sizes, |frame| format!("{:?}", Request::of(frame)))
}

fn replies(bytes: &[u8], sizes: &[usize]) -> Passage<String> {
    pass(Backend::new(), 4096, bytes, sizes, |frame| format!("{:?}", Reply::of(frame)))
}

fn owing(answers: u32) -> Backend {
    let mut backend = Backend::new();
    for _ in 0..answers {
        backend.owe_answer();
    }
    backend
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn pgwire_reads_the_same_requests(
        units in proptest::collection::vec(any_request(), 1..8), sizes in sizes(),
    ) {
        let start = startup();
        let bytes = [start.clone(), units.concat()].concat();
        let cut = pass(Frontend::new(), 4096, &bytes, &sizes, peer::request);
        prop_assert_eq!(&cut.out, &bytes);
        let ours: Vec<_> = cut.frames[1..].iter().map(|it| (it.end, it.ended.clone())).collect();
        prop_assert_eq!(ours, peer::their_requests(&bytes, start.len()));
        prop_assert_eq!(requests(&bytes, &sizes), requests(&bytes, &[usize::MAX]));
    }

    #[test]
    fn pgwire_reads_the_same_replies(
        units in proptest::collection::vec(any_reply(), 1..8), sizes in sizes(),
    ) {
        let bytes = units.concat();
        let cut = pass(Backend::new(), 4096, &bytes, &sizes, peer::reply);
        prop_assert_eq!(&cut.out, &bytes);
        let ours: Vec<_> = cut.frames.iter().map(|it| (it.end, it.ended.clone())).collect();
        prop_assert_eq!(ours, peer::their_replies(&bytes));
        prop_assert_eq!(replies(&bytes, &sizes), replies(&bytes, &[usize::MAX]));
    }

    #[test]
    fn any_tag_and_any_body_is_a_frame(
        units in proptest::collection::vec(
            (any::<u8>(), proptest::collection::vec(any::<u8>(), 0..200)), 1..8),
        sizes in sizes(),
    ) {
        let units: Vec<_> = units.iter().map(|(tag, body)| message(*tag, &[body])).collect();
        let reply = replies(&units.concat(), &sizes);
        prop_assert_eq!((reply.frames.len(), reply.opaque), (units.len(), None));
        prop_assert_eq!(&reply.out, &units.concat());
        let bytes = [startup(), units.concat()].concat();
        let request = requests(&bytes, &sizes);
        prop_assert_eq!((request.frames.len(), request.opaque), (units.len() + 1, None));
        prop_assert_eq!(&request.out, &bytes);
        prop_assert_eq!(request, requests(&bytes, &[usize::MAX]));
    }

    #[test]
    fn garbage_is_passed_on_and_never_an_error(
        bytes in garbage(b"QPBDECSHXZTn12\0\0\0\x04\x08"), is_in: bool, sizes in sizes(),
    ) {
        let reply = replies(&bytes, &sizes);
        prop_assert_eq!(&reply.out, &bytes);
        prop_assert_eq!(reply, replies(&bytes, &[usize::MAX]));
        let bytes = if is_in { [startup(), bytes].concat() } else { bytes };
        let request = requests(&bytes, &sizes);
        prop_assert_eq!(&request.out, &bytes);
        prop_assert_eq!(request, requests(&bytes, &[usize::MAX]));
    }

    #[test]
    fn answers_of_one_byte_are_no_frames_with_a_tag(
        units in proptest::collection::vec(any_reply(), 1..4), owed in 0..3_u32, sizes in sizes(),
    ) {
        let bytes = [vec![b'N'; owed as usize], units.concat()].concat();
        let cut = pass(owing(owed), 4096, &bytes, &sizes, |frame| frame.lead);
        prop_assert_eq!(&cut.out, &bytes);
        let answers = cut.frames.iter().filter(|it| it.ended == Lead::Answer(b'N')).count();
        prop_assert_eq!((answers, cut.frames.len()), (owed as usize, owed as usize + units.len()));
    }
}

#[test]
fn a_connection_starts_in_many_ways() {
    let versions = [3 << 16, 3 << 16 | 2, 3 << 16 | 9999, 4 << 16];
    for version in versions {
        let hello = start(version, b"user\0me\0\0");
        let bytes = [start(GSS, b""), start(SSL, b""), hello, message(b'Q', &[b"SELECT 1\0"])];
        let seen = requests(&bytes.concat(), &[1]);
        let seen: Vec<_> = seen.frames.into_iter().map(|frame| frame.ended).collect();
        assert_eq!(seen[..2], ["GssEncRequest", "SslRequest"]);
        assert!(seen[2].starts_with(&format!(
            "Startup {{ major: {}, minor: {}",
            version >> 16,
            version & 0xffff
        )));
        assert!(seen[3].starts_with("Query"), "{}", seen[3]);
    }
    // The secret of a cancellation is as long as it likes since 3.2.
    for secret in [4, 32, 256] {
        let bytes = start(CANCEL, &[&[0, 0, 1, 0], vec![7; secret].as_slice()].concat());
        assert_eq!(requests(&bytes, &[3]).frames[0].ended, "Cancel { pid: 256 }");
    }
    let old = [start(2 << 16, &[0; 288]), b"Qnothing like a length".to_vec()].concat();
    assert_eq!(requests(&old, &[7]).frames.len(), 1);
    // TLS without having asked.
    let direct = [&[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc], [3; 600].as_slice()].concat();
    assert_eq!((requests(&direct, &[5]).opaque, requests(&direct, &[5]).out), (Some(0), direct));
}

#[test]
fn the_parameters_of_a_start_are_named() {
    let seen = pass(Frontend::new(), 4096, &startup(), &[9], |frame| match Request::of(frame) {
        Request::Startup { parameters, .. } => {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            parameters.map(|(name, value)| (text(name), text(value.bytes))).collect::<Vec<_>>()
        }
        _ => Vec::new(),
    });
    let expected = [("user", "someone"), ("database", "shop")];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(seen.frames[0].ended, expected);
}

#[test]
fn what_is_encrypted_is_passed_on_without_a_word() {
    for answer in [b'S', b'G'] {
        let bytes = [&[answer], [0x16, 3, 3].as_slice(), &[9; 500]].concat();
        let cut = pass(owing(1), 4096, &bytes, &[1], |frame| frame.lead);
        assert_eq!((cut.frames.len(), cut.opaque), (1, None));
        assert_eq!(cut.out, bytes);
    }
    let mut frontend = Frontend::new();
    let mut frames = 0;
    frontend.scan(&start(SSL, b""), &mut |mark: Mark<Frame<'_>>| {
        frames += usize::from(matches!(mark, Mark::Ended { .. }));
    });
    frontend.give_up();
    frontend.scan(&[9; 500], &mut |mark: Mark<Frame<'_>>| panic!("{mark:?}"));
    assert_eq!((frames, frontend.position()), (1, 508));
}

#[test]
fn an_error_may_stand_where_one_byte_was_asked_for() {
    let bytes = message(b'E', &[b"SFATAL\0C08P01\0Munsupported\0\0"]);
    let cut = pass(owing(1), 4096, &bytes, &[1], |frame| format!("{:?}", Reply::of(frame)));
    assert!(cut.frames[0].ended.starts_with("Error"), "{}", cut.frames[0].ended);
}

#[test]
fn passwords_are_not_kept() {
    let bytes = [startup(), message(b'p', &[b"SCRAM-SHA-256\0\0\0\0\x05n,,n="])].concat();
    for sizes in [1, usize::MAX] {
        let kept =
            pass(Frontend::new(), 4096, &bytes, &[sizes], |frame| frame.body().bytes.to_vec());
        assert_eq!(kept.frames[1].ended, b"");
        assert_eq!(kept.out, bytes);
    }
    let said = requests(&bytes, &[usize::MAX]);
    assert_eq!(said.frames[1].ended, "Password");
}

#[test]
fn a_large_frame_is_known_before_it_ends_and_never_kept_whole() {
    let sql = format!("INSERT INTO orders VALUES ('{}')", "x".repeat(40 << 20));
    let bytes = [startup(), message(b'Q', &[&text(&sql)]), message(b'S', &[])].concat();
    let mut kept = 0;
    let cut = pass(Frontend::new(), 64 << 10, &bytes, &[usize::MAX], |frame| {
        kept = kept.max(frame.body().bytes.len());
        frame.body().is_whole
    });
    assert_eq!((cut.frames.len(), cut.out.len()), (3, bytes.len()));
    assert_eq!((cut.frames[1].known, cut.frames[1].ended, kept), (false, false, 4096));
    assert!(cut.out == bytes);

    let rows = [message(b'd', &[&vec![7; 9 << 20]]), ready(b'I')].concat();
    let cut = pass(Backend::new(), 64 << 10, &rows, &[usize::MAX], |frame| {
        format!("{:?}", Reply::of(frame))
    });
    assert_eq!(cut.frames[0].known, "CopyData");
    assert_eq!(cut.frames[1].ended, "ReadyForQuery(Idle)");
}

#[test]
fn a_length_that_makes_no_sense_ends_the_frames_only() {
    for length in [0_u32, 3, 1 << 31, u32::MAX] {
        let bytes = [b"Z", length.to_be_bytes().as_slice(), b"rest"].concat();
        let cut = replies(&bytes, &[1]);
        assert_eq!((cut.opaque, cut.out), (Some(0), bytes));
    }
}
