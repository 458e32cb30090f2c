//! What the fields of a head say about the body behind it (RFC 9112, section 6.3).
//!
//! Where a head contradicts itself the two ends may disagree about where its message ends; then
//! nothing is said any more, rather than something wrong.

use httparse::Header;

use super::body::Body;

/// More fields than any client or server takes.
pub(super) const MOST_FIELDS: usize = 128;

/// The body that the fields announce; none where they announce nothing.
pub(super) fn announced(fields: &[Header<'_>]) -> Result<Option<Body>, &'static str> {
    if let Some(coding) = last_coding(fields) {
        // Another last coding: the fields don't say how long the body is.
        let is_chunked = coding.eq_ignore_ascii_case(b"chunked");
        return Ok(Some(if is_chunked { Body::CHUNKED } else { Body::UntilClose }));
    }
    let mut length = None;
    for value in values(fields, "content-length").flat_map(|value| value.split(|b| *b == b',')) {
        let value = number(value.trim_ascii()).ok_or("a content-length is not a number")?;
        if length.is_some_and(|length| length != value) {
            return Err("two content-lengths contradict each other");
        }
        length = Some(value);
    }
    Ok(length.map(Body::Length))
}

fn last_coding<'a>(fields: &'a [Header<'a>]) -> Option<&'a [u8]> {
    let lines = values(fields, "transfer-encoding");
    let codings = lines.flat_map(|line| line.split(|byte| *byte == b','));
    codings.map(<[u8]>::trim_ascii).rfind(|coding| !coding.is_empty())
}

fn values<'a>(
    fields: &'a [Header<'a>],
    name: &'a str,
) -> impl DoubleEndedIterator<Item = &'a [u8]> {
    let named = fields.iter().filter(move |field| field.name.eq_ignore_ascii_case(name));
    named.map(|field| field.value)
}

/// Digits alone: no sign.
fn number(digits: &[u8]) -> Option<u64> {
    let all = digits.iter().all(u8::is_ascii_digit);
    all.then(|| std::str::from_utf8(digits).ok()?.parse().ok()).flatten()
}
