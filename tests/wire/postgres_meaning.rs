//! PostgreSQL: parameters as text, and what names stand for.

use dupeproof::wire::postgres::{Backend, Frontend, Names, Reply, Request};

use crate::cuts::pass;
use crate::postgres_messages::{
    about, bind, complete, execute, message, parse, query, ready, startup, sync, trouble,
};

fn texts(types: &[u32], formats: &[u16], values: &[Option<&[u8]>]) -> Vec<Option<String>> {
    let bytes = [startup(), bind("", "", formats, values)].concat();
    let mut frames = pass(Frontend::new(), 1 << 16, &bytes, &[11], |frame| {
        let Request::Bind(bind) = Request::of(frame) else { return Vec::new() };
        let types = types.iter().copied().chain(std::iter::repeat(0));
        let texts = bind.parameters().zip(types).map(|(it, oid)| it.text(oid));
        texts.map(|text| text.map(std::borrow::Cow::into_owned)).collect()
    });
    frames.frames.pop().unwrap().ended
}

#[test]
fn parameters_are_text_in_either_form() {
    let uuid = 0x0123_4567_89ab_cdef_0011_2233_4455_6677_u128.to_be_bytes();
    let binary: [(u32, &[u8], &str); 9] = [
        (21, &(-2_i16).to_be_bytes(), "-2"),
        (23, &7_i32.to_be_bytes(), "7"),
        (20, &9_007_199_254_740_993_i64.to_be_bytes(), "9007199254740993"),
        (16, &[1], "t"),
        (16, &[0], "f"),
        (2950, &uuid, "01234567-89ab-cdef-0011-223344556677"),
        (25, b"k-7c1e-041", "k-7c1e-041"),
        (1043, "ü".as_bytes(), "ü"),
        (0, b"u-7c1e", "u-7c1e"),
    ];
    for (oid, value, text) in binary {
        assert_eq!(texts(&[oid], &[1], &[Some(value)]), [Some(text.to_owned())], "{oid}");
        assert_eq!(texts(&[oid], &[], &[Some(text.as_bytes())]), [Some(text.to_owned())]);
    }
    // One format for all, one for each, and what can't be read.
    let seven: Option<&[u8]> = Some(&[0, 0, 0, 7]);
    let expected = [Some("7".to_owned()), None, Some("7".to_owned())];
    assert_eq!(texts(&[23, 23, 23], &[1], &[seven, None, seven]), expected);
    let mixed = texts(&[23, 25], &[1, 0], &[seven, Some(b"a")]);
    assert_eq!(mixed, [Some("7".to_owned()), Some("a".to_owned())]);
    assert_eq!(
        texts(&[20, 2950, 16, 0], &[1], &[seven, seven, seven, Some(b"\xff")]),
        [const { None::<String> }; 4]
    );
}

#[test]
fn parameters_behind_what_is_kept_are_left_out() {
    let long = vec![b'x'; 6_000];
    let values: [Option<&[u8]>; 3] = [Some(b"first"), Some(&long), Some(b"last")];
    assert_eq!(texts(&[], &[], &values), [Some("first".to_owned()), None]);
}

#[test]
fn errors_and_notices_have_their_code() {
    let bytes = [trouble(b'E', "40001", "could not serialize"), trouble(b'N', "25P01", "none")];
    let seen = pass(Backend::new(), 4096, &bytes.concat(), &[3], |frame| match Reply::of(frame) {
        Reply::Error(it) => ("error", it.code.to_vec(), it.severity.to_vec()),
        Reply::Notice(it) => ("notice", it.code.to_vec(), it.severity.to_vec()),
        _ => ("", Vec::new(), Vec::new()),
    });
    assert_eq!(seen.frames[0].ended, ("error", b"40001".to_vec(), b"ERROR".to_vec()));
    assert_eq!(seen.frames[1].ended, ("notice", b"25P01".to_vec(), b"ERROR".to_vec()));
}

/// A connection whose server has said that it is ready.
fn names() -> Names {
    let mut names = Names::default();
    answered(&mut names, &[ready(b'I')]);
    names
}

fn sent(names: &mut Names, messages: &[Vec<u8>]) {
    let bytes = [startup(), messages.concat()].concat();
    let _ = pass(Frontend::new(), 1 << 16, &bytes, &[usize::MAX], {
        // Each frame is read twice here, when it is known and when it has ended.
        let mut reads = 0;
        move |frame| {
            reads += 1;
            if reads % 2 == 0 {
                names.sent(&Request::of(frame));
            }
        }
    });
}

fn answered(names: &mut Names, messages: &[Vec<u8>]) {
    let mut reads = 0;
    let _ = pass(Backend::new(), 1 << 16, &messages.concat(), &[usize::MAX], |frame| {
        reads += 1;
        if reads % 2 == 0 {
            names.answered(&Reply::of(frame));
        }
    });
}

fn sql(names: &Names, name: &str) -> Option<String> {
    let statement = names.statement(name.as_bytes())?;
    Some(String::from_utf8_lossy(&statement.sql).into_owned())
}

fn portal_sql(names: &Names, name: &str) -> Option<String> {
    let statement = names.portal(name.as_bytes())?.statement.clone()?;
    Some(String::from_utf8_lossy(&statement.sql).into_owned())
}

const OK: [(u8, &[u8]); 2] = [(b'1', b""), (b'2', b"")];

fn done() -> Vec<Vec<u8>> {
    let mut replies = OK.map(|(tag, body)| message(tag, &[body])).to_vec();
    replies.extend([complete("SELECT 1"), ready(b'I')]);
    replies
}

#[test]
fn a_name_means_at_once_what_was_sent() {
    let mut names = names();
    sent(&mut names, &[parse("s", "SELECT 1", &[23]), bind("p", "s", &[], &[]), execute("p")]);
    assert_eq!(sql(&names, "s").unwrap(), "SELECT 1");
    assert_eq!(names.statement(b"s").unwrap().types, [23]);
    assert_eq!(portal_sql(&names, "p").unwrap(), "SELECT 1");
    sent(&mut names, &[sync()]);
    answered(&mut names, &done());
    assert_eq!(sql(&names, "s").unwrap(), "SELECT 1");
    assert_eq!(portal_sql(&names, "p"), None, "a portal ends with its transaction");
}

#[test]
fn a_portal_lives_as_long_as_its_transaction() {
    let mut names = names();
    sent(&mut names, &[parse("s", "A", &[]), bind("p", "s", &[], &[]), execute("p"), sync()]);
    let mut open = done();
    open.pop();
    open.push(ready(b'T'));
    answered(&mut names, &open);
    assert_eq!(portal_sql(&names, "p").unwrap(), "A");
    // Two units in flight: the end of the first says nothing about the portal of the second.
    sent(&mut names, &[query("COMMIT"), bind("q", "s", &[], &[]), execute("q"), sync()]);
    answered(&mut names, &[complete("COMMIT"), ready(b'I')]);
    assert_eq!((portal_sql(&names, "p"), portal_sql(&names, "q").unwrap()), (None, "A".to_owned()));
    sent(&mut names, &[about(b'C', b'P', "q")]);
    assert_eq!(portal_sql(&names, "q"), None);
}

#[test]
fn what_the_server_skips_is_undone() {
    let mut names = names();
    sent(&mut names, &[parse("s", "A", &[]), sync()]);
    answered(&mut names, &[message(b'1', &[]), ready(b'I')]);
    // The name is taken: the server refuses the first, and skips the rest of that unit.
    sent(&mut names, &[parse("s", "B", &[]), parse("t", "T", &[]), about(b'C', b'S', "s"), sync()]);
    sent(&mut names, &[parse("u", "U", &[]), sync()]);
    assert_eq!(sql(&names, "s"), None);
    answered(&mut names, &[trouble(b'E', "42P05", "already exists"), ready(b'I')]);
    assert_eq!(sql(&names, "s").unwrap(), "A");
    assert_eq!(sql(&names, "t"), None);
    assert_eq!(sql(&names, "u").unwrap(), "U");
}

#[test]
fn an_undone_name_keeps_what_a_later_unit_said() {
    let mut names = names();
    sent(&mut names, &[parse("s", "A", &[]), sync(), parse("s", "B", &[]), sync()]);
    answered(&mut names, &[trouble(b'E', "42601", "syntax"), ready(b'I')]);
    assert_eq!(sql(&names, "s").unwrap(), "B");
    answered(&mut names, &[trouble(b'E', "42601", "syntax"), ready(b'I')]);
    assert_eq!(sql(&names, "s"), None);
}

#[test]
fn names_end_by_close_deallocate_and_discard() {
    let prepare = |names: &mut Names| {
        for name in ["a", "b", "c"] {
            sent(names, &[parse(name, "X", &[]), sync()]);
            answered(names, &[message(b'1', &[]), ready(b'I')]);
        }
    };
    let known = |names: &Names| ["a", "b", "c"].map(|name| sql(names, name).is_some());
    let mut some = names();
    prepare(&mut some);
    sent(&mut some, &[about(b'C', b'S', "a"), sync()]);
    answered(&mut some, &[message(b'3', &[]), ready(b'I')]);
    assert_eq!(known(&some), [false, true, true]);
    sent(&mut some, &[query("SELECT 1; DEALLOCATE PREPARE B; SELECT 2")]);
    assert_eq!(known(&some), [false, true, true], "the server's answer decides");
    answered(&mut some, &[complete("SELECT 1"), complete("DEALLOCATE"), complete("SELECT 1")]);
    assert_eq!(known(&some), [false, false, true]);

    for text in ["DEALLOCATE ALL", "DISCARD ALL"] {
        let mut all = names();
        prepare(&mut all);
        // As a prepared statement itself, with a new name in flight behind it.
        sent(&mut all, &[parse("", text, &[]), bind("", "", &[], &[]), execute(""), sync()]);
        sent(&mut all, &[parse("c", "NEW", &[]), sync()]);
        let mut replies = done();
        replies[2] = complete(text);
        answered(&mut all, &replies);
        assert_eq!(known(&all), [false, false, true]);
        assert_eq!(sql(&all, "c").unwrap(), "NEW");
    }
    let mut refused = names();
    prepare(&mut refused);
    sent(&mut refused, &[query("DEALLOCATE ALL")]);
    answered(&mut refused, &[trouble(b'E', "25P02", "aborted"), ready(b'E')]);
    assert_eq!(known(&refused), [true; 3]);
}

#[test]
fn types_come_from_the_server_where_the_client_left_them_out() {
    let mut names = names();
    sent(&mut names, &[parse("s", "SELECT $1", &[]), about(b'D', b'S', "s"), sync()]);
    let described = message(b't', &[&[0, 1, 0, 0, 0, 20]]);
    answered(&mut names, &[message(b'1', &[]), described, message(b'n', &[]), ready(b'I')]);
    assert_eq!(names.statement(b"s").unwrap().types, [20]);
}

#[test]
fn syncs_within_a_copy_end_nothing() {
    // Execute and Sync at once, then the data, then another Sync: the first one is ignored.
    let begin =
        [parse("", "COPY t FROM STDIN", &[]), bind("p", "", &[], &[]), execute("p"), sync()];
    let end = [message(b'd', &[b"1\n"]), message(b'c', &[]), sync()];
    let later = [parse("s", "A", &[]), bind("q", "s", &[], &[]), execute("q"), sync()];
    let copy_in = message(b'G', &[&[0, 0, 0]]);
    let bound = OK.map(|(tag, body)| message(tag, &[body]));
    for at_once in [true, false] {
        let mut names = names();
        sent(&mut names, &begin);
        if at_once {
            sent(&mut names, &end);
            sent(&mut names, &later);
        }
        answered(&mut names, &[&bound[..], std::slice::from_ref(&copy_in)].concat());
        if !at_once {
            sent(&mut names, &end);
            sent(&mut names, &later);
        }
        answered(&mut names, &[complete("COPY 1"), ready(b'I')]);
        assert_eq!(portal_sql(&names, "q").unwrap(), "A", "it is of the unit behind the copy");
        answered(&mut names, &done());
        assert_eq!((sql(&names, "s").unwrap(), portal_sql(&names, "q")), ("A".to_owned(), None));
    }
}

#[test]
fn names_are_bounded_whatever_a_client_sends() {
    let mut names = names();
    for place in 0..5_000 {
        sent(&mut names, &[parse(&format!("s{place}"), "A", &[]), sync()]);
        answered(&mut names, &[message(b'1', &[]), ready(b'I')]);
    }
    assert!(sql(&names, "s4095").is_some() && sql(&names, "s4096").is_none());
    // Nothing is answered any more: it gives up rather than to remember all of it.
    for _ in 0..70 {
        sent(&mut names, &vec![sync(); 1_000]);
    }
    assert_eq!(sql(&names, "s1"), None);
}
