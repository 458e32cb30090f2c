//! A text with its variable parts left open, so that a million requests need not be rendered from
//! their templates, one by one.
//!
//! A form isn't made from a template but from a finished text, in which the marks of an intent of
//! nobody are looked for. So whatever makes such texts is written once, quoting and all; and a form
//! that doesn't give the same text as that for a real intent isn't used.

use crate::load::error::LoadError;

/// What differs between the intents of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<'a> {
    pub user: &'a str,
    pub key: &'a str,
    pub uuid: &'a str,
    pub product: i64,
}

/// Parts that stand nowhere by chance, and that nothing has to be quoted for.
pub(super) const MARKS: Parts<'_> = Parts {
    user: "mark-of-a-user-4b1d7e90c25f",
    key: "mark-of-a-key-c83a60f2d719",
    uuid: "mark-of-a-uuid-19e5b7d3804a",
    product: 7_340_916_825_530_471,
};

/// Whether a text looks the same in a header, a path and a JSON string.
pub(super) fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.@:+".contains(&byte))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    User,
    Key,
    Uuid,
    Product,
}

/// A text with open parts.
#[derive(Clone, Debug)]
pub(super) struct Form {
    /// What stands in front of each open part.
    pieces: Vec<(Box<str>, Open)>,
    last: Box<str>,
}

impl Form {
    /// The form of a text that was made with [`MARKS`].
    pub fn of(mut text: &str) -> Self {
        let product = MARKS.product.to_string();
        let marks = [
            (MARKS.user, Open::User),
            (MARKS.key, Open::Key),
            (MARKS.uuid, Open::Uuid),
            (&product, Open::Product),
        ];
        let mut pieces = Vec::new();
        loop {
            let found =
                marks.iter().filter_map(|&(mark, open)| Some((text.find(mark)?, mark, open)));
            let Some((at, mark, open)) = found.min_by_key(|&(at, ..)| at) else { break };
            pieces.push((text[..at].into(), open));
            text = &text[at + mark.len()..];
        }
        Self { pieces, last: text.into() }
    }

    pub fn fill(&self, parts: &Parts<'_>, out: &mut Vec<u8>) {
        for (before, open) in &self.pieces {
            out.extend_from_slice(before.as_bytes());
            match open {
                Open::User => out.extend_from_slice(parts.user.as_bytes()),
                Open::Key => out.extend_from_slice(parts.key.as_bytes()),
                Open::Uuid => out.extend_from_slice(parts.uuid.as_bytes()),
                Open::Product => write_number(parts.product, out),
            }
        }
        out.extend_from_slice(self.last.as_bytes());
    }

    pub fn has_uuid(&self) -> bool {
        self.pieces.iter().any(|&(_, open)| open == Open::Uuid)
    }
}

/// The form of a request as it goes over the wire.
#[derive(Clone, Debug)]
pub(super) struct RequestForm {
    /// Up to the number of `Content-Length`, or all of the head where there is none.
    head: Form,
    has_length: bool,
    body: Form,
}

impl RequestForm {
    /// The form of a request that was made with [`MARKS`]; none where it isn't text.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        const LENGTH: &str = "\r\nContent-Length: ";
        let (head, body) = std::str::from_utf8(bytes).ok()?.split_once("\r\n\r\n")?;
        let (front, has_length) = match head.rfind(LENGTH) {
            Some(at) => (&head[..at + LENGTH.len()], true),
            None => (head, false),
        };
        Some(Self { head: Form::of(front), has_length, body: Form::of(body) })
    }

    /// Writes the request over what `out` holds; `body` is a buffer that is used again.
    pub fn fill(&self, parts: &Parts<'_>, body: &mut Vec<u8>, out: &mut Vec<u8>) {
        out.clear();
        body.clear();
        self.head.fill(parts, out);
        self.body.fill(parts, body);
        if self.has_length {
            write_number(body.len() as i64, out);
        }
        out.extend_from_slice(b"\r\n\r\n");
        out.extend_from_slice(body);
    }

    pub fn has_uuid(&self) -> bool {
        self.head.has_uuid() || self.body.has_uuid()
    }

    /// Itself, if it gives the same as `made` did.
    pub fn proven(
        self,
        parts: &Parts<'_>,
        made: impl FnOnce(&mut Vec<u8>) -> Result<(), LoadError>,
    ) -> Option<Self> {
        let (mut filled, mut wanted) = (Vec::new(), Vec::new());
        self.fill(parts, &mut Vec::new(), &mut filled);
        made(&mut wanted).ok()?;
        (filled == wanted).then_some(self)
    }
}

fn write_number(number: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS: Parts<'_> = Parts { user: "u-1", key: "k-1", uuid: "0-0", product: 42 };

    #[test]
    fn marks_become_the_parts_of_an_intent() {
        let Parts { user, key, uuid, product } = MARKS;
        let form = Form::of(&format!("{key}{user}, \"{product}\" {product}/{uuid}!"));
        let mut out = Vec::new();
        form.fill(&PARTS, &mut out);
        assert_eq!(out, b"k-1u-1, \"42\" 42/0-0!");
        assert!(form.has_uuid() && !Form::of(user).has_uuid());
    }

    #[test]
    fn the_length_is_that_of_the_filled_body() {
        let user = MARKS.user;
        let head = format!("PUT /{user} HTTP/1.1\r\nContent-Length: ");
        let text = format!("{head}99\r\n\r\n{{\"user\":\"{user}\"}}");
        let (mut out, mut body) = (b"before".to_vec(), b"before".to_vec());
        RequestForm::of(text.as_bytes()).unwrap().fill(&PARTS, &mut body, &mut out);
        let wanted = b"PUT /u-1 HTTP/1.1\r\nContent-Length: 14\r\n\r\n{\"user\":\"u-1\"}";
        assert_eq!(out, wanted);
        let bare = b"DELETE / HTTP/1.1\r\nHost: a\r\n\r\n";
        RequestForm::of(bare).unwrap().fill(&PARTS, &mut body, &mut out);
        assert_eq!(out, bare);
    }

    #[test]
    fn a_form_that_gives_something_else_is_not_used() {
        let of = || RequestForm::of(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let makes = |text: &'static str| {
            move |out: &mut Vec<u8>| {
                out.extend_from_slice(text.as_bytes());
                Ok(())
            }
        };
        assert!(of().proven(&PARTS, makes("GET / HTTP/1.1\r\n\r\n")).is_some());
        assert!(of().proven(&PARTS, makes("GET /u-1 HTTP/1.1\r\n\r\n")).is_none());
    }
}
