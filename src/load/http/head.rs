//! The head of a reply (RFC 9112, sections 4 and 6): status, headers, and how its body is framed.
//!
//! Where the framing is ambiguous the reply is a fault and not a guess: a client that reads two
//! contradicting lengths in its own favour would report an order that nobody confirmed.

use super::reply::ReplyFault;

/// Bytes of a head, informational ones before it included.
pub(super) const LONGEST_HEAD: usize = 64 * 1024;

/// Header fields of one head.
pub(super) const MOST_HEADERS: usize = 128;

/// A head, read.
#[derive(Debug)]
pub(super) struct Head {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
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
pub(super) fn parse(bytes: &[u8]) -> Result<Head, ReplyFault> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut response = httparse::Response::new(&mut fields);
    match response.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => {
            return Err(ReplyFault::Garbage { what: "its head ends in the middle".to_owned() });
        }
        Err(httparse::Error::TooManyHeaders) => return Err(ReplyFault::ManyHeaders),
        Err(error) => return Err(ReplyFault::Garbage { what: error.to_string() }),
    }
    let status = response.code.expect("a complete head has a status");
    let is_1_1 = response.version == Some(1);
    let headers: Vec<_> = response
        .headers
        .iter()
        .map(|field| {
            let value = String::from_utf8_lossy(field.value).trim().to_owned();
            (field.name.to_ascii_lowercase(), value)
        })
        .collect();
    let framing = framing(status, &headers)?;
    let says = |word: &str| tokens(&headers, "connection").any(|token| token == word);
    let keeps_alive = framing != Framing::Close
        && if is_1_1 { !says("close") } else { says("keep-alive") }
        && !(framing == Framing::Chunked && has(&headers, "content-length"));
    Ok(Head { status, headers, framing, keeps_alive })
}

fn framing(status: u16, headers: &[(String, String)]) -> Result<Framing, ReplyFault> {
    if status < 200 || matches!(status, 204 | 304) {
        return Ok(Framing::Length(0));
    }
    let codings: Vec<_> = tokens(headers, "transfer-encoding").collect();
    match codings.as_slice() {
        [] => {}
        [only] if only == "chunked" => return Ok(Framing::Chunked),
        _ => return Err(ReplyFault::Coding { coding: codings.join(", ") }),
    }
    let mut lengths = tokens(headers, "content-length");
    let Some(first) = lengths.next() else { return Ok(Framing::Close) };
    let is_number = first.bytes().all(|byte| byte.is_ascii_digit());
    let length = first.parse().ok().filter(|_| is_number);
    match length {
        Some(length) if lengths.all(|other| other == first) => Ok(Framing::Length(length)),
        _ => Err(ReplyFault::Length { text: all(headers, "content-length") }),
    }
}

fn has(headers: &[(String, String)], name: &str) -> bool {
    headers.iter().any(|(given, _)| given == name)
}

/// The elements of a list header, in lower case; an empty element of `Content-Length` is kept, so
/// that it can be refused.
fn tokens<'a>(headers: &'a [(String, String)], name: &'a str) -> impl Iterator<Item = String> + 'a {
    headers
        .iter()
        .filter(move |(given, _)| given == name)
        .flat_map(|(_, value)| value.split(','))
        .map(|token| token.trim().to_ascii_lowercase())
}

fn all(headers: &[(String, String)], name: &str) -> String {
    tokens(headers, name).collect::<Vec<_>>().join(", ")
}
