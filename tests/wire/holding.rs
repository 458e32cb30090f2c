//! A place that bytes may not pass, and the memory that holding them takes.

use dupeproof::wire::postgres::{Frame, Frontend};
use dupeproof::wire::redis::{Replies, Request, Requests};
use dupeproof::wire::{Codec, Edit, Mark, Scanner};
use proptest::prelude::*;

use crate::postgres_messages::{bind, execute, message, parse, query, startup, sync};
use crate::redis_meaning::array;

/// Reads as much as there is room for, at most `bytes`; how much that was.
fn read<S: Scanner>(
    codec: &mut Codec<S>,
    bytes: &[u8],
    seen: &mut dyn FnMut(Mark<S::Frame<'_>>),
) -> usize {
    let spare = codec.spare();
    let count = spare.len().min(bytes.len());
    spare[..count].copy_from_slice(&bytes[..count]);
    codec.filled(count, seen);
    count
}

fn take<S: Scanner>(codec: &mut Codec<S>) -> Vec<u8> {
    let ready = codec.ready().to_vec();
    codec.passed(ready.len());
    ready
}

/// Lets nothing pass from this place on, unless something has passed it already.
fn hold_at<S: Scanner>(codec: &mut Codec<S>, at: u64) -> bool {
    let in_time = at >= codec.passed_to();
    if in_time {
        codec.set_gate(Some(at));
    }
    in_time
}

#[test]
fn a_request_in_the_middle_of_a_read_is_held_and_let_go() {
    let requests = [array(&["GET", "a"]), array(&["SET", "lock:1", "t"]), array(&["GET", "b"])];
    let mut codec = Codec::new(Requests::new());
    let mut lock = None;
    read(&mut codec, &requests.concat(), &mut |mark: Mark<Request<'_>>| {
        if let Mark::Known(request) = mark
            && request.keys().any(|key| key.bytes == b"lock:1")
        {
            lock = Some(request.start);
        }
    });
    assert!(hold_at(&mut codec, lock.unwrap()));
    assert_eq!(take(&mut codec), requests[0]);
    assert_eq!(take(&mut codec), b"");
    // What comes meanwhile waits behind it.
    read(&mut codec, &requests[0], &mut |_| {});
    assert_eq!(codec.waiting(), requests[1].len() + requests[2].len() + requests[0].len());
    codec.set_gate(None);
    assert_eq!(take(&mut codec), [&requests[1..], &requests[..1]].concat().concat());
}

#[test]
fn a_statement_of_a_pipeline_is_held_from_its_first_message() {
    let begin = [startup(), query("BEGIN")].concat();
    let insert =
        [parse("", "INSERT INTO orders", &[]), bind("", "", &[], &[]), execute(""), sync()];
    let mut codec = Codec::new(Frontend::new());
    let mut first = None;
    read(&mut codec, &[&begin, insert.concat().as_slice()].concat(), &mut |mark: Mark<
        Frame<'_>,
    >| {
        if let Mark::Known(frame) = mark
            && frame.body().bytes.windows(6).any(|word| word == b"INSERT")
        {
            first = Some(frame.start);
        }
    });
    assert!(hold_at(&mut codec, first.unwrap()));
    assert_eq!(take(&mut codec), begin);
    codec.set_gate(None);
    assert_eq!(take(&mut codec), insert.concat());
}

#[test]
fn what_has_left_can_not_be_held() {
    let mut codec = Codec::new(Requests::new());
    let bytes = array(&["GET", "a"]);
    read(&mut codec, &bytes[..7], &mut |_| {});
    assert_eq!(take(&mut codec), bytes[..7]);
    read(&mut codec, &bytes[7..], &mut |_| {});
    assert!(!hold_at(&mut codec, 0));
    assert_eq!(take(&mut codec), bytes[7..], "nothing is held then");
    let next = bytes.len() as u64;
    assert!(hold_at(&mut codec, next), "the next one can be, before it has come");
    read(&mut codec, &bytes, &mut |_| {});
    assert_eq!(take(&mut codec), b"");
}

#[test]
fn a_full_buffer_takes_no_more_and_goes_on_when_it_is_let_go() {
    let bytes = [startup(), query(&"x".repeat(3_000)), message(b'S', &[])].concat();
    let mut codec = Codec::with_capacity(Frontend::new(), 1_000);
    let at = startup().len() as u64;
    assert!(hold_at(&mut codec, at));
    let mut rest = &bytes[read(&mut codec, &bytes, &mut |_| {})..];
    let mut out = take(&mut codec);
    assert_eq!(out, startup());
    // The place of what has left is used again, once.
    rest = &rest[read(&mut codec, rest, &mut |_| {})..];
    assert_eq!((codec.spare().len(), codec.waiting(), codec.ready().len()), (0, 1_000, 0));
    codec.set_gate(None);
    while !rest.is_empty() {
        out.extend(take(&mut codec));
        rest = &rest[read(&mut codec, rest, &mut |_| {})..];
    }
    out.extend(take(&mut codec));
    assert_eq!(out, bytes);
}

#[test]
fn a_reply_may_be_dropped_at_its_place() {
    let mut codec = Codec::new(Replies::new());
    let mut ends = Vec::new();
    read(&mut codec, b"+OK\r\n:1\r\n$1\r\na\r\n", &mut |mark| {
        if let Mark::Ended { at, .. } = mark {
            ends.push(at);
        }
    });
    assert_eq!(ends, [5, 9, 16]);
    assert!(hold_at(&mut codec, ends[0]));
    assert_eq!(take(&mut codec), b"+OK\r\n");
    codec.set_gate(None);
    codec.passed(4);
    assert_eq!((codec.passed_to(), take(&mut codec)), (ends[1], b"$1\r\na\r\n".to_vec()));
}

#[test]
fn a_frame_is_replaced_wherever_its_reads_are_cut() {
    let requests = [array(&["GET", "a"]), array(&["SET", "lock:1", "t"]), array(&["GET", "b"])];
    let (bytes, first) = (requests.concat(), requests[0].len() as u64);
    let edit = Edit::replace(first..first + requests[1].len() as u64, b"PING\r\n".to_vec());
    let wanted = [&requests[0], &b"PING\r\n"[..], &requests[2]].concat();
    for size in 1..bytes.len() {
        let mut codec = Codec::new(Requests::new());
        assert!(codec.edit(edit.clone()));
        let mut out = Vec::new();
        for piece in bytes.chunks(size) {
            read(&mut codec, piece, &mut |_| {});
            while !codec.ready().is_empty() {
                out.extend(take(&mut codec));
            }
        }
        assert_eq!(out, wanted, "{size}");
        assert_eq!(codec.passed_to(), bytes.len() as u64);
        assert!(!codec.edit(edit.clone()), "it is too late");
    }
}

#[test]
fn what_is_put_in_waits_at_the_gate_too() {
    let mut codec = Codec::new(Requests::new());
    read(&mut codec, b"PING\r\nPING\r\n", &mut |_| {});
    assert!(codec.edit(Edit { at: 6, skip: 0, insert: b"ECHO a\r\n".to_vec() }));
    assert!(!codec.edit(Edit { at: 3, skip: 1, insert: Vec::new() }), "it comes before another");
    codec.set_gate(Some(6));
    assert_eq!(take(&mut codec), b"PING\r\n");
    assert_eq!(take(&mut codec), b"");
    codec.set_gate(None);
    assert_eq!(take(&mut codec), b"ECHO a\r\n");
    assert_eq!(take(&mut codec), b"PING\r\n");
}

proptest! {
    /// Reads, holds and releases in any order: what comes out is what went in.
    #[test]
    fn no_byte_is_lost_or_moved_by_holding(
        bytes in proptest::collection::vec(any::<u8>(), 1..2_000),
        steps in proptest::collection::vec((0..4_u8, 1..400_usize), 1..200),
        capacity in 1..500_usize,
    ) {
        let mut codec = Codec::with_capacity(Requests::new(), capacity);
        let (mut rest, mut out) = (&bytes[..], Vec::new());
        for (step, size) in steps {
            match step {
                0 => rest = &rest[read(&mut codec, &rest[..size.min(rest.len())], &mut |_| {})..],
                1 => {
                    let ready = codec.ready().len().min(size);
                    out.extend_from_slice(&codec.ready()[..ready]);
                    codec.passed(ready);
                }
                2 => {
                    let at = (out.len() + size) as u64;
                    prop_assert!(hold_at(&mut codec, at));
                    prop_assert!(out.len() + codec.ready().len() <= out.len() + size);
                }
                _ => codec.set_gate(None),
            }
            prop_assert!(codec.waiting() <= capacity);
            prop_assert_eq!(codec.passed_to(), out.len() as u64);
        }
        codec.set_gate(None);
        loop {
            out.extend(take(&mut codec));
            if rest.is_empty() {
                break;
            }
            rest = &rest[read(&mut codec, rest, &mut |_| {})..];
        }
        prop_assert_eq!(out, bytes);
    }
}
