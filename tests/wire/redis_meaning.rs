//! Redis: what requests and replies say, and how little is kept of large ones.

use std::time::Duration;

use dupeproof::wire::redis::{Aggregate, Answer, Replies, Reply, Request, Requests, SetOptions};
use dupeproof::wire::{Codec, Mark, Part, Scanner};

use crate::cuts::pass;

/// A request as clients write it.
pub fn array(arguments: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", arguments.len());
    for argument in arguments {
        bytes += &format!("${}\r\n{argument}\r\n", argument.len());
    }
    bytes.into_bytes()
}

fn of_request<T>(bytes: &[u8], read: impl FnMut(&Request<'_>) -> T) -> T {
    let mut frames = pass(Requests::new(), 1 << 16, bytes, &[7], read).frames;
    assert_eq!(frames.len(), 1);
    frames.pop().unwrap().ended
}

fn reply(bytes: &[u8], check: impl Fn(&Reply<'_>)) {
    for sizes in [&[1_usize][..], &[usize::MAX]] {
        assert_eq!(
            pass(Replies::new(), 1 << 16, bytes, sizes, |reply| check(reply)).frames.len(),
            1
        );
    }
}

fn verb(request: &Request<'_>) -> Option<String> {
    request.verb().map(str::to_owned)
}

fn lease(request: &Request<'_>) -> Option<Duration> {
    request.lease()
}

fn set_options(request: &Request<'_>) -> Option<SetOptions> {
    request.set_options()
}

fn script(request: &Request<'_>) -> Option<[u8; 20]> {
    request.script()
}

fn keys(arguments: &[&str]) -> Vec<String> {
    let read =
        |request: &Request<'_>| request.keys().map(|key| key.text().unwrap().to_owned()).collect();
    of_request(&array(arguments), read)
}

#[test]
fn verbs_come_in_any_case_and_options_in_any_order() {
    let lock = SetOptions { nx: true, xx: false, lease: Some(Duration::from_secs(3)) };
    for options in [["NX", "PX", "3000"], ["px", "3000", "nx"], ["Ex", "3", "Nx"]] {
        let bytes = array(&[&["sEt", "lock:1", "token"][..], &options].concat());
        assert_eq!(of_request(&bytes, verb).unwrap(), "SET");
        assert_eq!(of_request(&bytes, set_options), Some(lock));
        assert_eq!(of_request(&bytes, lease), lock.lease);
    }
    let value = array(&["SET", "k", "NX", "XX", "GET"]);
    let only_if_there = SetOptions { xx: true, ..SetOptions::default() };
    assert_eq!(of_request(&value, set_options), Some(only_if_there));
    assert_eq!(of_request(&array(&["GET", "k"]), set_options), None);
    let odd = array(&["SET", "k", "v", "PX", "18446744073709551616"]);
    assert_eq!(of_request(&odd, lease), None);
    for (command, life) in
        [("pexpire", Duration::from_millis(30)), ("EXPIRE", Duration::from_secs(30))]
    {
        assert_eq!(of_request(&array(&[command, "k", "30"]), lease), Some(life));
    }
}

#[test]
fn keys_are_those_of_known_commands() {
    for command in ["SET", "get", "SETNX", "EXPIRE", "PEXPIRE", "HSET", "HGET", "HMGET", "INCR"] {
        assert_eq!(keys(&[command, "k", "a", "b"]), ["k"]);
    }
    assert_eq!(keys(&["DEL", "a", "b"]), ["a", "b"]);
    assert_eq!(keys(&["MSET", "a", "1", "b", "2"]), ["a", "b"]);
    assert_eq!(keys(&["EVAL", "return 1", "2", "a", "b", "token"]), ["a", "b"]);
    assert_eq!(keys(&["EVALSHA", "0", "0", "token"]), [""; 0]);
    assert_eq!(keys(&["EVALSHA", "0", "99", "a"]), ["a"]);
    for numbers in ["-1", "x", "18446744073709551615"] {
        assert!(keys(&["EVAL", "return 1", numbers, "a"]).len() < 2);
    }
    assert_eq!(keys(&["EVAL"]), [""; 0]);
    assert_eq!(keys(&["GET"]), [""; 0]);
    assert_eq!(keys(&["PUBLISH", "channel", "text"]), [""; 0]);
}

#[test]
fn a_script_is_one_whether_its_source_or_its_hash_is_sent() {
    // As `SCRIPT LOAD "return 1"` answers.
    let sha = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";
    let known = |arguments: &[&str]| of_request(&array(arguments), script).unwrap();
    let by_source = known(&["eval", "return 1", "0"]);
    assert_eq!(by_source, known(&["EVALSHA", sha, "0"]));
    assert_eq!(by_source, known(&["evalsha", &sha.to_uppercase(), "0"]));
    assert_eq!(by_source, known(&["SCRIPT", "load", "return 1"]));
    assert_eq!(of_request(&array(&["EVALSHA", "short", "0"]), script), None);
    assert_eq!(of_request(&array(&["GET", "return 1"]), script), None);
}

#[test]
fn what_comes_behind_something_long_is_known_all_the_same() {
    let long = "-- padding\n".repeat(9_000);
    let bytes = array(&["EVAL", &long, "1", "lock:1", "token"]);
    let passage = pass(Requests::new(), 1 << 16, &bytes, &[4096], |request| {
        let key = request.keys().next().map(|key| key.bytes.to_vec());
        (request.is_whole, key, request.script().is_some())
    });
    // Told before its end, when it might be held back; and fully at its end.
    assert_eq!(passage.frames[0].known, (false, None, false));
    assert_eq!(passage.frames[0].ended, (true, Some(b"lock:1".to_vec()), true));

    let bytes = array(&["SET", "lock:1", &long, "NX", "PX", "3000"]);
    let read = |request: &Request<'_>| (request.lease(), request.argument(2).unwrap().is_whole);
    assert_eq!(of_request(&bytes, read), (Some(Duration::from_secs(3)), false));
}

#[test]
fn inline_commands_are_words_of_a_line() {
    let read = |request: &Request<'_>| {
        let texts =
            (0..request.arguments()).map(|at| request.argument(at).unwrap().text().unwrap());
        texts.collect::<Vec<_>>().join("|")
    };
    assert_eq!(
        of_request(b"set lock:1 \"a token\" nx px 3000\r\n", read),
        "set|lock:1|a token|nx|px|3000"
    );
    assert_eq!(of_request(b"PING\n", read), "PING");
    assert_eq!(of_request(b"\r\n", verb), None);
    assert_eq!(of_request(b"*0\r\n", verb), None);
    assert_eq!(of_request(b"*-1\r\n", verb), None);
}

#[test]
fn passwords_are_not_kept() {
    for request in [
        array(&["AUTH", "secret"]),
        array(&["auth", "user", "secret"]),
        array(&["HELLO", "3", "AUTH", "user", "secret"]),
        array(&["CONFIG", "SET", "requirepass", "secret"]),
        b"auth user secret\r\n".to_vec(),
    ] {
        let is_kept = of_request(&request, |request| {
            (0..9).filter_map(|at| request.argument(at)).any(|part| part.bytes == b"secret")
        });
        assert!(!is_kept);
    }
}

#[test]
fn replies_say_what_they_are() {
    let is =
        |bytes: &[u8], answer: Answer<'_>| reply(bytes, |reply| assert_eq!(reply.answer(), answer));
    is(b"+OK\r\n", Answer::Simple(Part::whole(b"OK")));
    is(b":-7\r\n", Answer::Integer(-7));
    for null in [&b"$-1\r\n"[..], b"*-1\r\n", b"_\r\n"] {
        is(null, Answer::Null);
    }
    let text = b"NOSCRIPT No matching script. Please use EVAL.";
    for bytes in [[b"-", &text[..], b"\r\n"].concat(), [b"!45\r\n", &text[..], b"\r\n"].concat()] {
        is(&bytes, Answer::Error { code: b"NOSCRIPT", text: Part::whole(text) });
    }
    is(b"$5\r\na\r\nbc\r\n", Answer::Bulk { length: Some(5), prefix: Part::whole(b"a\r\nbc") });
    is(
        b"$?\r\n;3\r\nabc\r\n;1\r\nd\r\n;0\r\n",
        Answer::Bulk { length: None, prefix: Part::cut(b"abc") },
    );
    is(b"=6\r\ntxt:ab\r\n", Answer::Verbatim(Part::whole(b"ab")));
    is(b"#t\r\n", Answer::Boolean(true));
    is(b",inf\r\n", Answer::Double(Part::whole(b"inf")));
    is(b"%1\r\n+a\r\n:1\r\n", Answer::Aggregate { kind: Aggregate::Map, count: Some(1) });
    is(b"*?\r\n:1\r\n.\r\n", Answer::Aggregate { kind: Aggregate::Array, count: None });
    is(b">2\r\n$7\r\nmessage\r\n+x\r\n", Answer::Push { kind: Some(Part::whole(b"message")) });
    reply(b">1\r\n+x\r\n", |reply| assert!(reply.is_push()));
    // An attribute is no reply, it stands in front of one.
    is(b"|1\r\n+ttl\r\n*2\r\n:1\r\n:2\r\n:5\r\n", Answer::Integer(5));
    is(b"|?\r\n+ttl\r\n:1\r\n.\r\n:5\r\n", Answer::Integer(5));
}

#[test]
fn a_reply_behind_a_long_attribute_is_told_in_time() {
    let note = "n".repeat(200_000);
    let bytes = format!("|1\r\n+note\r\n${}\r\n{note}\r\n:5\r\n", note.len());
    let read = |reply: &Reply<'_>| format!("{:?}", reply.answer());
    let passage = pass(Replies::new(), 1 << 16, bytes.as_bytes(), &[4096], read);
    assert_eq!(
        (passage.frames[0].known.as_str(), passage.frames[0].ended.as_str()),
        ("Unknown", "Integer(5)")
    );
    // Held from its beginning, it is told before there is no more room.
    let mut codec = Codec::new(Replies::new());
    let mut is_told = false;
    codec.set_gate(Some(0));
    for piece in bytes.as_bytes().chunks(4096).take(15) {
        codec.spare()[..piece.len()].copy_from_slice(piece);
        codec.filled(piece.len(), &mut |mark| is_told |= matches!(mark, Mark::Known(_)));
    }
    assert!(is_told);
}

#[test]
fn aggregates_lie_within_each_other_to_any_depth() {
    const DEPTH: usize = 200_000;
    let deep = ["*2\r\n:1\r\n".repeat(DEPTH), ":1\r\n".to_owned()].concat();
    let passage = pass(Replies::new(), 4096, deep.as_bytes(), &[1000], |_| ());
    assert_eq!((passage.ends(), passage.opaque), (vec![deep.len() as u64], None));
    // Streamed ones are the exception, and no server sends them.
    let streamed = "*?\r\n".repeat(DEPTH);
    let passage = pass(Replies::new(), 4096, streamed.as_bytes(), &[1000], |_| ());
    assert_eq!(passage.out, streamed.as_bytes());
    assert!(passage.opaque.is_some());
}

#[test]
fn lengths_beyond_any_sense_are_passed_on() {
    for head in ["$9223372036854775807\r\n", "*9223372036854775807\r\n", "%9223372036854775807\r\n"]
    {
        let bytes = [head, &"$1\r\na\r\n".repeat(5_000)].concat();
        let passage = pass(Replies::new(), 4096, bytes.as_bytes(), &[usize::MAX], |_| ());
        assert_eq!((passage.out.len(), passage.opaque, passage.open), (bytes.len(), None, Some(0)));
        let request = ["*3\r\n", head].concat();
        let passage = pass(Requests::new(), 4096, request.as_bytes(), &[1], |_| ());
        assert_eq!(passage.out, request.as_bytes());
    }
    for broken in ["$-2\r\n", "$1x\r\n", "*99999999999999999999\r\n", "?\r\n", "*1\r\n.\r\n"] {
        let passage = pass(Replies::new(), 4096, broken.as_bytes(), &[1], |_| ());
        assert!(passage.opaque.is_some(), "{broken}");
    }
}

#[test]
fn a_reply_given_up_is_passed_on_without_a_word() {
    let mut replies = Replies::new();
    replies.give_up();
    replies.scan(b"+OK\r\n", &mut |mark: Mark<Reply<'_>>| panic!("{mark:?}"));
    assert_eq!(replies.position(), 5);
}
