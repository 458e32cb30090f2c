//! An intent becomes the bytes of its request, once.
//!
//! Instances differ in the `Host` header and the base path only; everything that the target could
//! take a fingerprint of is the same. A value that would break out of its line is refused here, so
//! that no profile can smuggle a second request into one attempt.

use std::sync::Arc;

use crate::history::Intent;
use crate::profile::{Filling, Request};

use super::dice::Dice;
use super::error::LoadError;
use super::target::TargetInstance;

/// The bytes of one intent's request, for each instance in the order of the targets.
pub(super) type Rendered = Arc<[Box<[u8]>]>;

/// Headers that frame the message; they are the client's business alone.
const FRAMING: [&str; 3] = ["content-length", "transfer-encoding", "connection"];

/// Renders a request for all instances. The same intent always gives the same bytes.
pub(super) fn render(
    request: &Request,
    intent: &Intent,
    dice: &Dice,
    targets: &[TargetInstance],
) -> Result<Rendered, LoadError> {
    let uuid = dice.uuid(intent);
    let filling = filling(intent, &uuid);
    let body = request.body.as_ref().map(|body| body.render_text(&filling));
    let path = request.path.render(&filling);
    let headers = headers(request, &filling, body.as_deref())?;
    targets
        .iter()
        .map(|target| {
            let path = format!("{}{path}", target.base_path);
            if path.bytes().any(|byte| !byte.is_ascii_graphic()) {
                return Err(unsendable(
                    request,
                    format!(
                        "its path `{}` has a character that a path cannot hold",
                        path.escape_debug()
                    ),
                ));
            }
            let mut text = format!("{} {path} HTTP/1.1\r\n", request.method);
            if !has(&request.headers, "host") {
                text.push_str(&format!("Host: {}\r\n", target.host));
            }
            text.push_str(&headers);
            text.push_str(body.as_deref().unwrap_or_default());
            Ok(text.into_bytes().into())
        })
        .collect()
}

/// What an intent fills the holes of a template with.
pub(super) fn filling<'a>(intent: &'a Intent, uuid: &'a str) -> Filling<'a> {
    Filling {
        user: &intent.user,
        key: &intent.key,
        product: intent.product,
        quantity: intent.quantity,
        uuid,
        order: intent.entity.as_deref().unwrap_or_default(),
        token: "",
    }
}

/// Everything after `Host`, with the empty line.
fn headers(
    request: &Request,
    filling: &Filling<'_>,
    body: Option<&str>,
) -> Result<String, LoadError> {
    let mut text = String::new();
    for (name, value) in &request.headers {
        let value = value.render(filling);
        if FRAMING.iter().any(|framing| name.eq_ignore_ascii_case(framing)) {
            return Err(unsendable(
                request,
                format!("the header `{name}` is set by the client itself"),
            ));
        }
        let is_token =
            |byte: u8| byte.is_ascii_graphic() && !b"\"(),/:;<=>?@[\\]{}".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token) || value.bytes().any(breaks_out) {
            return Err(unsendable(
                request,
                format!(
                    "the header `{}` has a character that a header cannot hold",
                    name.escape_debug()
                ),
            ));
        }
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    let ours = [
        ("User-Agent", concat!("dupeproof/", env!("CARGO_PKG_VERSION"))),
        ("Accept", "*/*"),
        ("Content-Type", "application/json"),
    ];
    for (name, value) in ours {
        let fits = name != "Content-Type" || body.is_some();
        if fits && !has(&request.headers, name) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    if body.is_some() || request.method != "DELETE" {
        text.push_str(&format!("Content-Length: {}\r\n", body.map_or(0, str::len)));
    }
    text.push_str("\r\n");
    Ok(text)
}

fn breaks_out(byte: u8) -> bool {
    byte.is_ascii_control() && byte != b'\t'
}

fn has<T>(headers: &[(String, T)], name: &str) -> bool {
    headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name))
}

fn unsendable(request: &Request, reason: String) -> LoadError {
    LoadError::Unsendable { request: request.name.clone(), reason }
}
