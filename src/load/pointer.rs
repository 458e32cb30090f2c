//! The scalar that a JSON pointer (RFC 6901) names in a text, without keeping the rest of it.
//!
//! Most replies of a load are read for one id alone. All of the text is gone through with the calls
//! that also read a `Value`, and never with `IgnoredAny`, which lets broken escapes, bytes that
//! aren't UTF-8, numbers out of range and any depth pass: so exactly the same texts are JSON.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

/// A string or a number as text; `None` where there is none at the pointer. An error when the text
/// isn't JSON.
pub(super) fn scalar_at(text: &[u8], pointer: &str) -> serde_json::Result<Option<String>> {
    let look = if pointer.is_empty() || pointer.starts_with('/') {
        Look::Towards(pointer)
    } else {
        Look::Past
    };
    let mut reader = serde_json::Deserializer::from_slice(text);
    let found = look.deserialize(&mut reader)?;
    reader.end().map(|()| found)
}

/// What is wanted of the value that comes next.
#[derive(Clone, Copy)]
enum Look<'a> {
    /// What the rest of the pointer names within it; all of it where nothing is left.
    Towards(&'a str),
    Past,
}

impl<'a> Look<'a> {
    /// The pointer's next name, and what is wanted there.
    fn down(self) -> Option<(Cow<'a, str>, Self)> {
        let Self::Towards(pointer) = self else { return None };
        let rest = pointer.strip_prefix('/')?;
        let (name, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let name = match name.contains('~') {
            true => name.replace("~1", "/").replace("~0", "~").into(),
            false => name.into(),
        };
        Some((name, Self::Towards(rest)))
    }

    fn scalar(self, text: impl FnOnce() -> Option<String>) -> Option<String> {
        if matches!(self, Self::Towards("")) { text() } else { None }
    }
}

impl<'de> DeserializeSeed<'de> for Look<'_> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Look<'_> {
    type Value = Option<String>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(self.scalar(|| Some(number.to_string())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(self.scalar(|| Some(number.to_string())))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(self.scalar(|| Number::from_f64(number).map(|number| number.to_string())))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(self.scalar(|| Some(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let wanted = self.down().and_then(|(name, look)| Some((place(&name)?, look)));
        let (mut found, mut at) = (None, 0);
        loop {
            let look = match wanted {
                Some((place, look)) if place == at => look,
                _ => Look::Past,
            };
            let Some(item) = items.next_element_seed(look)? else { return Ok(found) };
            found = found.or(item);
            at += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let wanted = self.down();
        let name = Name(wanted.as_ref().map(|(name, _)| name.as_ref()));
        let mut found = None;
        while let Some(is_wanted) = fields.next_key_seed(name)? {
            match &wanted {
                // The last one of several counts, also when it has nothing.
                Some((_, look)) if is_wanted => found = fields.next_value_seed(*look)?,
                _ => drop(fields.next_value_seed(Look::Past)?),
            }
        }
        Ok(found)
    }
}

/// The place in an array: `+1` and `01` are none (RFC 6901, section 4).
fn place(name: &str) -> Option<usize> {
    let is_plain = !name.starts_with('+') && (!name.starts_with('0') || name.len() == 1);
    name.parse().ok().filter(|_| is_plain)
}

/// Whether a field has this name.
#[derive(Clone, Copy)]
struct Name<'a>(Option<&'a str>);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<bool, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = bool;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the name of a field")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(self.0 == Some(name))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::load::outcome::scalar;

    /// Both ways give the same answer to whether it is JSON, and to what stands there.
    fn check(text: &[u8], pointer: &str) {
        let whole = serde_json::from_slice::<Value>(text).ok();
        let wanted = whole.map(|value| value.pointer(pointer).and_then(scalar));
        let shown = String::from_utf8_lossy(text);
        assert_eq!(scalar_at(text, pointer).ok(), wanted, "{pointer} of {shown}");
    }

    const TEXTS: [&[u8]; 34] = [
        br#"{"orderId":"17"}"#,
        br#"{"orderId":17,"orderId":{"a":1}}"#,
        br#"{"orderId":{"a":1},"orderId":-0}"#,
        br#" {"a":{"orderId":1.50e2,"b":[0,[1,"x"]]},"orderId":null} "#,
        br#"{"orderId":"1\u0037\n\ud83d\ude00"}"#,
        br#"{"a/b":{"m~n":["","y"]},"":{"":7},"01":8}"#,
        b"[[1,2],[3,{\"orderId\":18446744073709551615}]]",
        b"\"text\"",
        b"-9223372036854775808",
        b"18446744073709551616",
        b"1.0",
        b"null",
        b"",
        b" ",
        b"{",
        b"{}{}",
        b"{\"orderId\":1}x",
        b"{\"orderId\":1,}",
        b"{\"orderId\":01}",
        b"{\"orderId\":1e999}",
        b"{\"a\":1e999,\"orderId\":1}",
        b"{\"a\":1e-999,\"orderId\":1}",
        b"{\"a\":\"\\x\",\"orderId\":1}",
        b"{\"a\":\"\\ud800\",\"orderId\":1}",
        b"{\"\\ud800\":0,\"orderId\":1}",
        b"{\"a\":\"\xff\",\"orderId\":1}",
        b"{\"\xff\":0,\"orderId\":1}",
        b"{\"a\":\"\n\",\"orderId\":1}",
        b"{\"a\":NaN,\"orderId\":1}",
        b"{1:2,\"orderId\":1}",
        b"{'orderId':1}",
        b"\xef\xbb\xbf{\"orderId\":1}",
        b"<html>",
        b"17 ",
    ];

    const POINTERS: [&str; 16] = [
        "",
        "/",
        "//",
        "/orderId",
        "/orderId/",
        "orderId",
        "/a/orderId",
        "/a/b/1/1",
        "/1/1/orderId",
        "/a~1b/m~0n/1",
        "/a~1b/m~0n/01",
        "/a~1b/m~0n/+1",
        "/a~1b/m~0n/2",
        "/01",
        "/0/1",
        "/-",
    ];

    #[test]
    fn it_reads_what_a_whole_value_would_have_there() {
        for text in TEXTS {
            POINTERS.into_iter().for_each(|pointer| check(text, pointer));
        }
    }

    #[test]
    fn it_goes_as_deep_as_a_whole_value_and_no_deeper() {
        for depth in [126, 127, 128, 129, 100_000] {
            let text = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
            check(text.as_bytes(), "/0");
            let text = format!("{{\"a\":{text},\"orderId\":1}}");
            check(text.as_bytes(), "/orderId");
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_is_read_as_a_whole_value_would_be(
            text in r#"[ \[\]{}:,"\\aobu0-9.eE+\-é\x00\n]{0,24}"#,
            cut in 0_usize..30,
            pointer in "(/[ao01~]{0,2}){0,3}",
        ) {
            check(text.as_bytes(), &pointer);
            check(&text.as_bytes()[..cut.min(text.len())], &pointer);
        }

        #[test]
        fn a_broken_text_is_as_broken_as_for_a_whole_value(
            which in 0..TEXTS.len(),
            at in 0_usize..64,
            byte: u8,
            pointer in 0..POINTERS.len(),
        ) {
            let mut text = TEXTS[which].to_vec();
            let place = at % text.len().max(1);
            if let Some(there) = text.get_mut(place) {
                *there = byte;
            }
            check(&text, POINTERS[pointer]);
        }
    }
}
