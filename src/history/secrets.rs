//! Values that must not be written down: what came from `${NAME}`, and tokens of a login.
//!
//! Facts are made of what a target says, and a target may say anything, also what it was sent. So
//! a fact becomes a line with names in place of values wherever it holds free text, and
//! whoever shows or keeps other text (messages, logs) asks here as well. Numbers, ids and words of
//! the journal are left alone: a password `201` must not turn a status into nonsense.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use super::{Attempt, Fact, Step};

/// Shorter values would be found in everything, and protect nothing.
const SHORTEST: usize = 4;

/// A set of values and what stands in place of each. Clones share it.
#[derive(Clone, Default)]
pub struct Secrets {
    /// The longest first, so that a value within another one doesn't spoil it.
    known: Arc<RwLock<Vec<(String, String)>>>,
}

impl Secrets {
    /// From now on `value` is shown as `shown`, also as it stands in a JSON string or in a URL.
    pub fn hide(&self, value: &str, shown: &str) {
        let quoted = serde_json::Value::from(value).to_string();
        let escaped = quoted.trim_matches('"');
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let percent = percent_encoded(value);
        for form in [value, escaped, percent.as_str()] {
            if form.len() >= SHORTEST && !known.iter().any(|(hidden, _)| hidden == form) {
                known.push((form.to_owned(), shown.to_owned()));
            }
        }
        known.sort_by_key(|(hidden, _)| std::cmp::Reverse(hidden.len()));
    }

    /// The text without secrets.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut text = Cow::Borrowed(text);
        for (value, shown) in known.iter().filter(|(value, _)| !value.is_empty()) {
            if text.contains(value.as_str()) {
                text = Cow::Owned(text.replace(value.as_str(), shown));
            }
        }
        text
    }

    /// The bytes without secrets; `None` when they hold none.
    pub fn redact_bytes(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut redacted: Option<Vec<u8>> = None;
        for (value, shown) in known.iter() {
            let before = redacted.as_deref().unwrap_or(bytes);
            redacted = replace(before, value.as_bytes(), shown.as_bytes()).or(redacted);
        }
        redacted
    }

    /// Hides what the free text of a fact holds.
    pub(super) fn hide_in(&self, fact: &mut Fact) {
        match fact {
            Fact::Attempt(attempt) => self.hide_in_attempt(attempt),
            Fact::Body(body) => self.hide_within(&mut body.text),
            Fact::Exit(exit) => self.hide_within(&mut exit.last_words),
            Fact::Drain(drain) => self.hide_within(&mut drain.about),
            Fact::Doubt(doubt) => self.hide_within(&mut doubt.what),
            Fact::Statement(statement) => self.hide_within(&mut statement.sql),
            Fact::Step(step) => {
                *step = self.hidden_in_step(step).with_texts(|text| Arc::from(&**text));
            }
            Fact::Instance(instance) => self.hide_within(&mut instance.url),
            _ => {}
        }
    }

    /// The same for an attempt alone.
    pub(super) fn hide_in_attempt(&self, attempt: &mut Attempt) {
        if let Some(failure) = &mut attempt.failure
            && let Cow::Owned(redacted) = self.redact(failure)
        {
            *failure = redacted.into();
        }
    }

    /// The step without secrets.
    pub(super) fn hidden_in_step<'a, Text: AsRef<str>>(
        &self,
        step: &'a Step<Text>,
    ) -> Step<Cow<'a, str>> {
        step.with_texts(|text| self.redact(text.as_ref()))
    }

    /// Whether there is nothing to hide.
    pub(super) fn are_none(&self) -> bool {
        self.known.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn hide_within(&self, text: &mut String) {
        if let Cow::Owned(redacted) = self.redact(text) {
            *text = redacted;
        }
    }
}

/// As it stands in a URL.
fn percent_encoded(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// `None` when there was nothing to replace.
fn replace(bytes: &[u8], value: &[u8], shown: &[u8]) -> Option<Vec<u8>> {
    let mut out = None;
    let mut from = 0;
    while let Some(at) = bytes[from..].windows(value.len()).position(|window| window == value) {
        let out: &mut Vec<u8> = out.get_or_insert_default();
        out.extend_from_slice(&bytes[from..from + at]);
        out.extend_from_slice(shown);
        from += at + value.len();
    }
    let mut out = out?;
    out.extend_from_slice(&bytes[from..]);
    Some(out)
}

impl fmt::Debug for Secrets {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        write!(out, "Secrets({})", known.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_by_its_name_wherever_it_stands() {
        let secrets = Secrets::default();
        secrets.hide("hunter22", "${PASSWORD}");
        secrets.hide("postgres://me:hunter22@db/shop", "${DATABASE_URL}");
        secrets.hide("a\"quote", "${QUOTED}");
        let text = "at postgres://me:hunter22@db/shop: hunter22 is wrong, {\"x\":\"a\\\"quote\"}";
        let shown = "at ${DATABASE_URL}: ${PASSWORD} is wrong, {\"x\":\"${QUOTED}\"}";
        assert_eq!(secrets.redact(text), shown);
        assert_eq!(secrets.redact_bytes(text.as_bytes()).unwrap(), shown.as_bytes());
        assert_eq!(secrets.redact_bytes(b"nothing here"), None);
        assert_eq!(secrets.redact("/?q=a%22quote"), "/?q=${QUOTED}");
        assert_eq!(format!("{secrets:?}"), "Secrets(6)");
    }

    #[test]
    fn a_value_too_short_to_protect_anything_is_left_alone() {
        let secrets = Secrets::default();
        secrets.hide("201", "${STATUS}");
        assert_eq!(secrets.redact("201 Created"), "201 Created");
    }
}
