//! Our own fingerprint of a request: SHA-256 of its JSON body with sorted keys and without the
//! fields that the profile ignores.
//!
//! It tells intents of one key apart in the history. The target's own fingerprint is its business
//! and may differ; nothing here is compared with it.

use std::fmt::Write;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The fingerprint of a body, in hexadecimal; a request without a body has that of `null`.
pub(super) fn fingerprint(mut body: Value, ignored: &[String]) -> String {
    for pointer in ignored {
        remove(&mut body, pointer);
    }
    let mut canonical = String::new();
    write_sorted(&body, &mut canonical);
    hex(&Sha256::digest(canonical.as_bytes()))
}

/// Bytes in lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes everything");
        text
    })
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
fn write_sorted(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write_sorted(item, out);
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
                write_sorted(value, out);
            }
            out.push('}');
        }
        scalar => write!(out, "{scalar}").expect("a String takes everything"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ignored_fields_do_not_count_and_others_do() {
        let of = |body| fingerprint(body, &["/trace/id".to_owned(), "/a~1b".to_owned()]);
        let first = of(json!({"user": "u", "trace": {"id": 1}, "a/b": 2}));
        assert_eq!(first, of(json!({"trace": {"id": 9}, "user": "u"})));
        assert_ne!(first, of(json!({"trace": {"id": 9}, "user": "v"})));
    }

    #[test]
    fn the_order_of_fields_does_not_count_and_that_of_elements_does() {
        let read = |text: &str| fingerprint(serde_json::from_str(text).unwrap(), &[]);
        assert_eq!(read(r#"{"a":{"x":1,"y":2},"b":3}"#), read(r#"{"b":3,"a":{"y":2,"x":1}}"#));
        assert_ne!(read("[1,2]"), read("[2,1]"));
    }
}
