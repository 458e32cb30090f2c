//! An intent becomes the bytes of its request.
//!
//! Instances differ in the `Host` header and the base path only; everything that the target could
//! take a fingerprint of is the same. A value that would break out of its line is refused here, so
//! that no profile can smuggle a second request into one attempt.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::history::Intent;
use crate::profile::{Filling, KeyCarrier, KeyRule, Request};

use super::error::LoadError;
use super::fingerprint::hex;
use super::keys;
use super::session::Session;
use super::target::TargetInstance;
use super::tree::Tree;

/// The bytes of one request, for each instance in the order of the targets.
pub(super) type Rendered = Arc<[Box<[u8]>]>;

/// Headers that frame the message; they are the client's business alone.
const FRAMING: [&str; 3] = ["content-length", "transfer-encoding", "connection"];

/// Headers that the client adds where the profile has none of that name.
const OURS: [(&str, &str); 3] = [
    ("User-Agent", concat!("dupeproof/", env!("CARGO_PKG_VERSION"))),
    ("Accept", "*/*"),
    ("Content-Type", "application/json"),
];

/// What a message is written from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub request: &'a Request,
    pub rule: &'a KeyRule,
    pub intent: &'a Intent,
    pub uuid: &'a str,
    pub session: Option<&'a Session>,
    /// What a token request gave.
    pub token: Option<&'a str>,
    /// Pointer and value that make it a mutated twin.
    pub mutation: Option<(&'a str, &'a Value)>,
}

/// A request, not yet for any one instance.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub method: &'static str,
    pub path: String,
    /// Everything between `Host` and the empty line but the length.
    pub headers: Vec<(String, String)>,
    pub body: Option<String>,
}

impl<'a> Source<'a> {
    /// What fills the holes of the request's templates.
    pub fn filling(&self) -> Filling<'a> {
        let logged_in = self.session.and_then(|session| session.token.as_deref());
        Filling {
            user: &self.intent.user,
            key: &self.intent.key,
            product: self.intent.product,
            quantity: self.intent.quantity,
            uuid: self.uuid,
            order: self.intent.entity.as_deref().unwrap_or_default(),
            token: logged_in.or(self.token).unwrap_or_default(),
        }
    }

    /// The body, with the key in the form that the intent asks for.
    pub fn body(&self) -> Option<Tree> {
        let template = self.request.body.as_ref()?;
        let mut tree = Tree::fill(template, &self.filling());
        if let Some((pointer, value)) = self.mutation {
            tree.put(pointer, value.clone());
        }
        if let (KeyCarrier::Body(pointer), false) = (&self.rule.carrier, self.is_good()) {
            match keys::on_the_wire(self.rule, &self.intent.key, self.intent.key_form).first() {
                Some(key) => tree.put(pointer, key.as_str().into()),
                None => tree.remove(pointer),
            };
        }
        Some(tree)
    }

    /// The message with this body.
    pub fn message(&self, body: Option<String>) -> Result<Message, LoadError> {
        let filling = self.filling();
        let mut headers = Vec::with_capacity(self.request.headers.len() + 4);
        for (name, value) in &self.request.headers {
            let carries = matches!(&self.rule.carrier,
                KeyCarrier::Header(carrier) if name.eq_ignore_ascii_case(carrier));
            if !carries {
                self.push(&mut headers, name, value.render(&filling))?;
                continue;
            }
            for key in keys::on_the_wire(self.rule, &self.intent.key, self.intent.key_form) {
                let value = value.render(&Filling { key: &key, ..filling.clone() });
                self.push(&mut headers, name, value)?;
            }
        }
        if let Some(cookies) = self.session.and_then(Session::cookies) {
            match headers.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case("cookie")) {
                Some((_, given)) => *given = format!("{given}; {cookies}"),
                None => self.push(&mut headers, "Cookie", cookies.to_owned())?,
            }
        }
        for (name, value) in OURS {
            let fits = name != "Content-Type" || body.is_some();
            if fits && !has(&self.request.headers, name) {
                headers.push((name.to_owned(), value.to_owned()));
            }
        }
        let path = self.request.path.render(&filling);
        Ok(Message { method: self.request.method, path, headers, body })
    }

    fn push(
        &self,
        headers: &mut Vec<(String, String)>,
        name: &str,
        value: String,
    ) -> Result<(), LoadError> {
        if FRAMING.iter().any(|framing| name.eq_ignore_ascii_case(framing)) {
            let reason = format!("the header `{name}` is set by the client itself");
            return Err(unsendable(self.request, reason));
        }
        let is_token =
            |byte: u8| byte.is_ascii_graphic() && !b"\"(),/:;<=>?@[\\]{}".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token) || value.bytes().any(breaks_out) {
            let name = name.escape_debug();
            let reason = format!("the header `{name}` has a character that a header cannot hold");
            return Err(unsendable(self.request, reason));
        }
        headers.push((name.to_owned(), value));
        Ok(())
    }

    fn is_good(&self) -> bool {
        self.intent.key_form.is_good()
    }
}

impl Message {
    /// The bytes for every instance.
    pub fn render(
        &self,
        request: &Request,
        targets: &[TargetInstance],
    ) -> Result<Rendered, LoadError> {
        let rest = self.rest();
        targets
            .iter()
            .map(|target| {
                let mut bytes = Vec::with_capacity(128 + rest.len());
                self.begin(request, target, &mut bytes)?;
                bytes.extend_from_slice(rest.as_bytes());
                Ok(bytes.into())
            })
            .collect()
    }

    /// The bytes for one instance, into a buffer that is used again.
    pub fn render_for(
        &self,
        request: &Request,
        target: &TargetInstance,
        bytes: &mut Vec<u8>,
    ) -> Result<(), LoadError> {
        bytes.clear();
        self.begin(request, target, bytes)?;
        bytes.extend_from_slice(self.rest().as_bytes());
        Ok(())
    }

    /// SHA-256 of everything behind the request line and `Host`.
    pub fn sha256(&self) -> String {
        hex(&Sha256::digest(self.rest().as_bytes()))
    }

    /// Request line and, unless the profile gives one, `Host`.
    fn begin(
        &self,
        request: &Request,
        target: &TargetInstance,
        bytes: &mut Vec<u8>,
    ) -> Result<(), LoadError> {
        let path = [target.base_path.as_str(), self.path.as_str()];
        if path.iter().any(|part| part.bytes().any(|byte| !byte.is_ascii_graphic())) {
            let written = request.path.written();
            let reason = format!("its path `{written}` has a character that a path cannot hold");
            return Err(unsendable(request, reason));
        }
        for part in [self.method, " ", path[0], path[1], " HTTP/1.1\r\n"] {
            bytes.extend_from_slice(part.as_bytes());
        }
        if !has(&request.headers, "host") {
            for part in ["Host: ", &target.host, "\r\n"] {
                bytes.extend_from_slice(part.as_bytes());
            }
        }
        Ok(())
    }

    fn rest(&self) -> String {
        let mut text = String::with_capacity(512);
        for (name, value) in &self.headers {
            for part in [name, ": ", value, "\r\n"] {
                text.push_str(part);
            }
        }
        if self.body.is_some() || self.method != "DELETE" {
            let length = self.body.as_ref().map_or(0, String::len);
            write!(text, "Content-Length: {length}\r\n").expect("a String takes everything");
        }
        text.push_str("\r\n");
        text.push_str(self.body.as_deref().unwrap_or_default());
        text
    }
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
