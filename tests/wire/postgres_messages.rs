//! Writes PostgreSQL's messages, for tests that cut them.

use proptest::prelude::*;

pub fn message(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    let length = u32::try_from(body.len()).unwrap() + 4;
    [&[tag], length.to_be_bytes().as_slice(), &body].concat()
}

pub fn start(code: u32, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap() + 8;
    [length.to_be_bytes().as_slice(), &code.to_be_bytes(), body].concat()
}

pub fn startup() -> Vec<u8> {
    start(3 << 16, b"user\0someone\0database\0shop\0\0")
}

pub fn text(text: &str) -> Vec<u8> {
    [text.as_bytes(), b"\0"].concat()
}

pub fn query(sql: &str) -> Vec<u8> {
    message(b'Q', &[&text(sql)])
}

pub fn parse(name: &str, sql: &str, types: &[u32]) -> Vec<u8> {
    let count = u16::try_from(types.len()).unwrap().to_be_bytes();
    let types: Vec<u8> = types.iter().flat_map(|oid| oid.to_be_bytes()).collect();
    message(b'P', &[&text(name), &text(sql), &count, &types])
}

pub fn bind(portal: &str, name: &str, formats: &[u16], values: &[Option<&[u8]>]) -> Vec<u8> {
    let count = |count: usize| u16::try_from(count).unwrap().to_be_bytes();
    let mut body = [text(portal), text(name), count(formats.len()).to_vec()].concat();
    body.extend(formats.iter().flat_map(|format| format.to_be_bytes()));
    body.extend(count(values.len()));
    for value in values {
        let length = value.map_or(-1, |value| i32::try_from(value.len()).unwrap());
        body.extend(length.to_be_bytes());
        body.extend(value.unwrap_or_default());
    }
    message(b'B', &[&body, &[0, 1, 0, 1]])
}

pub fn about(tag: u8, target: u8, name: &str) -> Vec<u8> {
    message(tag, &[&[target], &text(name)])
}

pub fn execute(portal: &str) -> Vec<u8> {
    message(b'E', &[&text(portal), &[0; 4]])
}

pub fn sync() -> Vec<u8> {
    message(b'S', &[])
}

pub fn trouble(tag: u8, code: &str, what: &str) -> Vec<u8> {
    let fields = ["SERROR", "VERROR", &format!("C{code}"), &format!("M{what}")].map(text).concat();
    message(tag, &[&fields, &[0]])
}

pub fn complete(tag: &str) -> Vec<u8> {
    message(b'C', &[&text(tag)])
}

pub fn ready(state: u8) -> Vec<u8> {
    message(b'Z', &[&[state]])
}

fn name() -> impl Strategy<Value = String> {
    "[a-z_0-9]{0,12}"
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..most)
}

/// What a client may send once it is in.
pub fn any_request() -> impl Strategy<Value = Vec<u8>> {
    let values = proptest::collection::vec(proptest::option::of(bytes(30)), 0..6);
    let target = || proptest::sample::select(b"SP".as_slice());
    prop_oneof![
        "[ -~]{0,60}".prop_map(|sql| query(&sql)),
        (name(), "[ -~]{0,60}", proptest::collection::vec(any::<u32>(), 0..5))
            .prop_map(|(name, sql, types)| parse(&name, &sql, &types)),
        (name(), name(), 0..3_u16, values).prop_map(|(portal, name, format, values)| {
            let formats = match format {
                2 => vec![1; values.len()],
                format => vec![1; format.into()],
            };
            let values: Vec<_> = values.iter().map(Option::as_deref).collect();
            bind(&portal, &name, &formats, &values)
        }),
        (proptest::sample::select(b"DC".as_slice()), target(), name())
            .prop_map(|(tag, target, name)| about(tag, target, &name)),
        name().prop_map(|portal| execute(&portal)),
        proptest::sample::select(b"SHcX".as_slice()).prop_map(|tag| message(tag, &[])),
        bytes(50).prop_map(|data| message(b'd', &[&data])),
        name().prop_map(|why| message(b'f', &[&text(&why)])),
    ]
}

/// What a server may send once the client is in.
pub fn any_reply() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::sample::select(b"123nsIc".as_slice()).prop_map(|tag| message(tag, &[])),
        proptest::sample::select(b"ITE".as_slice()).prop_map(ready),
        "[A-Z]{1,9} [0-9]{1,5}".prop_map(|tag| complete(&tag)),
        (proptest::sample::select(b"EN".as_slice()), "[0-9A-Z]{5}", "[ -~]{1,40}")
            .prop_map(|(tag, code, what)| trouble(tag, &code, &what)),
        any::<[u8; 8]>().prop_map(|key| message(b'K', &[&[0], &key[1..]])),
        ("[a-z]{1,9}", "[ -~]{1,9}")
            .prop_map(|(name, value)| message(b'S', &[&text(&name), &text(&value)])),
        ("[a-z]{1,9}", "[ -~]{1,9}").prop_map(|(channel, payload)| {
            message(b'A', &[&[0, 0, 0, 7], &text(&channel), &text(&payload)])
        }),
        proptest::collection::vec(any::<u32>(), 0..5).prop_map(|types| {
            let count = u16::try_from(types.len()).unwrap().to_be_bytes();
            let types: Vec<u8> = types.iter().flat_map(|oid| oid.to_be_bytes()).collect();
            message(b't', &[&count, &types])
        }),
        bytes(50).prop_map(|data| message(b'd', &[&data])),
        bytes(50).prop_map(|row| {
            let length = u32::try_from(row.len()).unwrap().to_be_bytes();
            message(b'D', &[&[0, 1], &length, &row])
        }),
        proptest::sample::select(b"GHW".as_slice())
            .prop_map(|tag| message(tag, &[&[0, 0, 1, 0, 0]])),
    ]
}
