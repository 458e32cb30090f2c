//! The head of a reply (RFC 9112, sections 4 and 6): status, headers, and how its body is framed.
//!
//! Where the framing is ambiguous the reply is a fault and not a guess: a client that reads two
//! contradicting lengths in its own favour would report an order that nobody confirmed.

use std::mem::MaybeUninit;

use super::reply::ReplyFault;

/// Bytes of a head, informational ones before it included.
pub(super) const LONGEST_HEAD: usize = 64 * 1024;

/// Header fields of one head.
pub(super) const MOST_HEADERS: usize = 128;

/// A head, read.
#[derive(Debug)]
pub(super) struct Head {
    pub status: u16,
    /// All of it, in which headers are looked up when somebody asks: most are never asked for.
    pub text: String,
    pub framing: Framing,
    /// Whether the connection may serve another request afterwards.
    pub keeps_alive: bool,
}

/// Where the body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Length(u64),
    Chunked,
    /// With the connection.
    Close,
}

/// Reads a head that ends with its empty line.
pub(super) fn parse(bytes: Vec<u8>) -> Result<Head, ReplyFault> {
    let mut fields = [const { MaybeUninit::uninit() }; MOST_HEADERS];
    let mut response = httparse::Response::new(&mut []);
    let parser = httparse::ParserConfig::default();
    match parser.parse_response_with_uninit_headers(&mut response, &bytes, &mut fields) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => {
            return Err(ReplyFault::Garbage { what: "its head ends in the middle".to_owned() });
        }
        Err(httparse::Error::TooManyHeaders) => return Err(ReplyFault::ManyHeaders),
        Err(error) => return Err(ReplyFault::Garbage { what: error.to_string() }),
    }
    let status = response.code.expect("a complete head has a status");
    if status < 100 {
        return Err(ReplyFault::Garbage { what: format!("its status is {status:03}") });
    }
    let is_1_1 = response.version == Some(1);
    let fields: &[httparse::Header<'_>] = response.headers;
    let framing = framing(status, fields)?;
    let says =
        |word: &str| tokens(fields, "connection").any(|token| token.eq_ignore_ascii_case(word));
    // Two framings, or one that HTTP/1.0 doesn't have: what comes next can't be trusted (RFC 9112,
    // section 6.1).
    let is_clear = framing != Framing::Chunked || (is_1_1 && !has(fields, "content-length"));
    let keeps_alive =
        framing != Framing::Close && is_clear && !says("close") && (is_1_1 || says("keep-alive"));
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Ok(Head { status, text, framing, keeps_alive })
}

/// The fields of a head that was read: names as they were written, values without the white space
/// around them.
pub(super) fn fields(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().skip(1).filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name, value.trim()))
    })
}

fn framing(status: u16, fields: &[httparse::Header<'_>]) -> Result<Framing, ReplyFault> {
    if status < 200 || matches!(status, 204 | 304) {
        return Ok(Framing::Length(0));
    }
    let mut codings = tokens(fields, "transfer-encoding");
    match (codings.next(), codings.next()) {
        (None, _) => {}
        (Some(only), None) if only.eq_ignore_ascii_case("chunked") => return Ok(Framing::Chunked),
        _ => return Err(ReplyFault::Coding { coding: all(fields, "transfer-encoding") }),
    }
    let mut lengths = tokens(fields, "content-length");
    let Some(first) = lengths.next() else { return Ok(Framing::Close) };
    let is_number = first.bytes().all(|byte| byte.is_ascii_digit());
    let length = first.parse().ok().filter(|_| is_number);
    match length {
        Some(length) if lengths.all(|other| other == first) => Ok(Framing::Length(length)),
        _ => Err(ReplyFault::Length { text: all(fields, "content-length") }),
    }
}

fn has(fields: &[httparse::Header<'_>], name: &str) -> bool {
    fields.iter().any(|field| field.name.eq_ignore_ascii_case(name))
}

/// The elements of a list header; an empty element of `Content-Length` is kept, so that it can be
/// refused, and so is what isn't text.
fn tokens<'a>(
    fields: &'a [httparse::Header<'a>],
    name: &'a str,
) -> impl Iterator<Item = &'a str> + 'a {
    fields
        .iter()
        .filter(move |field| field.name.eq_ignore_ascii_case(name))
        .flat_map(|field| std::str::from_utf8(field.value).unwrap_or("?").split(','))
        .map(str::trim)
}

fn all(fields: &[httparse::Header<'_>], name: &str) -> String {
    tokens(fields, name).collect::<Vec<_>>().join(", ").to_ascii_lowercase()
}
