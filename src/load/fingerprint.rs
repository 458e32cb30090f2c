//! Our own fingerprint of a request: SHA-256 of its JSON body with sorted keys, without the fields
//! that the profile ignores and without those that have their default.
//!
//! It tells intents of one key apart in the history. The target's own fingerprint is its business
//! and may differ; nothing here is compared with it. Where the profile says that numbers may be
//! written in several ways, `1.0` is `1`.

use std::fmt::Write;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::profile::Request;

/// Whole floats up to this are the same as the integer.
pub(super) const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// The fingerprint of a request's body, in hexadecimal; a request without a body has that of `null`.
pub(super) fn fingerprint(request: &Request, body: Value) -> String {
    of_canonical(canonical(request, body).as_bytes())
}

fn of_canonical(text: &[u8]) -> String {
    let mut print = String::new();
    write_print(text, &mut print);
    print
}

/// Appends the fingerprint of a canonical form.
pub(super) fn write_print(text: &[u8], out: &mut String) {
    write_hex(&Sha256::digest(text), out);
}

/// The canonical form of a request's body.
pub(super) fn canonical(request: &Request, mut body: Value) -> String {
    for pointer in &request.ignored {
        remove(&mut body, pointer);
    }
    for (pointer, default) in &request.defaults {
        if body.pointer(pointer).is_some_and(|value| is_same(value, default, request)) {
            remove(&mut body, pointer);
        }
    }
    let mut canonical = String::new();
    write_sorted(&body, request.number_forms, &mut canonical);
    canonical
}

/// Whether two values have one canonical form.
pub(super) fn is_same(one: &Value, other: &Value, request: &Request) -> bool {
    let canonical = |value| {
        let mut out = String::new();
        write_sorted(value, request.number_forms, &mut out);
        out
    };
    one == other || canonical(one) == canonical(other)
}

/// Bytes in lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    write_hex(bytes, &mut text);
    text
}

fn write_hex(bytes: &[u8], out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for some in bytes.chunks(32) {
        let mut digits = [0; 64];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(some) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        let digits = std::str::from_utf8(&digits[..2 * some.len()]);
        out.push_str(digits.expect("hexadecimal digits are ASCII"));
    }
}

/// Takes out what a JSON pointer (RFC 6901) names; a pointer to nothing changes nothing.
fn remove(body: &mut Value, pointer: &str) {
    let Some((parent, last)) = pointer.rsplit_once('/') else { return };
    let name = last.replace("~1", "/").replace("~0", "~");
    match body.pointer_mut(parent) {
        Some(Value::Object(fields)) => {
            fields.remove(&name);
        }
        Some(Value::Array(items)) => {
            // An element becomes null rather than going: the others must keep their places.
            if let Some(item) = name.parse().ok().and_then(|at: usize| items.get_mut(at)) {
                *item = Value::Null;
            }
        }
        _ => {}
    }
}

/// Sorted here and not left to `serde_json`, whose order of fields is a feature flag that any crate
/// in the build may switch.
fn write_sorted(value: &Value, number_forms: bool, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write_sorted(item, number_forms, out);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            out.push('{');
            for (index, (name, value)) in sorted.into_iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write!(out, "{}:", Value::from(name.as_str())).expect("a String takes everything");
                write_sorted(value, number_forms, out);
            }
            out.push('}');
        }
        Value::Number(number) if number_forms => match number.as_f64() {
            Some(float) if !(number.is_i64() || number.is_u64()) && is_whole(float) => {
                write!(out, "{}", float as i64).expect("a String takes everything");
            }
            _ => write!(out, "{number}").expect("a String takes everything"),
        },
        scalar => write!(out, "{scalar}").expect("a String takes everything"),
    }
}

fn is_whole(float: f64) -> bool {
    float.fract() == 0.0 && float.abs() <= LARGEST_EXACT
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(ignored: &[&str], number_forms: bool) -> Request {
        Request {
            name: "place".to_owned(),
            method: "POST",
            path: crate::profile::TextTemplate::parse("/orders").unwrap(),
            headers: Vec::new(),
            body: None,
            order_id: "/id".to_owned(),
            ignored: ignored.iter().map(|&pointer| pointer.to_owned()).collect(),
            mutate: Vec::new(),
            defaults: vec![("/coupon".to_owned(), Value::Null)],
            number_forms,
        }
    }

    #[test]
    fn ignored_fields_do_not_count_and_others_do() {
        let of = |body| fingerprint(&request(&["/trace/id", "/a~1b"], false), body);
        let first = of(json!({"user": "u", "trace": {"id": 1}, "a/b": 2}));
        assert_eq!(first, of(json!({"trace": {"id": 9}, "user": "u"})));
        assert_ne!(first, of(json!({"trace": {"id": 9}, "user": "v"})));
    }

    #[test]
    fn the_order_of_fields_does_not_count_and_that_of_elements_does() {
        let read =
            |text: &str| fingerprint(&request(&[], false), serde_json::from_str(text).unwrap());
        assert_eq!(read(r#"{"a":{"x":1,"y":2},"b":3}"#), read(r#"{"b":3,"a":{"y":2,"x":1}}"#));
        assert_ne!(read("[1,2]"), read("[2,1]"));
    }

    #[test]
    fn numbers_and_defaults_have_one_form_where_the_profile_says_so() {
        let of = |forms, text: &str| {
            fingerprint(&request(&[], forms), serde_json::from_str(text).unwrap())
        };
        for other in [r#"{"a":1.0}"#, r#"{"a":1e0}"#, r#"{"a":1,"coupon":null}"#] {
            assert_eq!(of(true, r#"{"a":1}"#), of(true, other), "{other}");
        }
        assert_ne!(of(false, r#"{"a":1}"#), of(false, r#"{"a":1.0}"#));
        assert_ne!(of(true, r#"{"a":1}"#), of(true, r#"{"a":1.5}"#));
        assert_ne!(of(true, r#"{"a":1}"#), of(true, r#"{"a":1,"coupon":"x"}"#));
    }
}
