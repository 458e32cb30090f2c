//! What a buyer means once: a user, a name by which it is known again, a wish, a fingerprint.
//!
//! What names an intent depends on how the shop is set up (a key, a submit token, or user and
//! product within a time window), so the reader is made once, from the settings. A request that
//! names no intent is refused before anything is touched.

use std::{fmt, time::Duration};

use axum::http::{HeaderMap, StatusCode};

use super::{
    answer::Answer,
    defects::{Defect, DefectSet, d58_missing_key_accepted},
    fingerprint::{self, Fingerprint},
    headers,
    settings::{Idempotency, Settings},
    wish::{self, Wish},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    pub user: String,
    pub name: Name,
    pub wish: Wish,
    pub fingerprint: Fingerprint,
}

/// By what an intent is known again when it is asked for a second time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Name {
    /// The idempotency key, or the submit token.
    Key(String),
    /// No key: user and product, within so long a time.
    Window(Duration),
    /// Nothing names it, so a second one is another order.
    Nothing,
}

/// Why a request is no intent.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    MissingKey,
    Invalid(&'static str),
}

/// How requests are read.
#[derive(Debug, Clone)]
pub struct Reader {
    is_named_by_token: bool,
    /// What names a request without a key; `None`: nothing does, and it is refused.
    without_key: Option<Name>,
    fingerprint: fingerprint::Rule,
}

impl Reader {
    pub fn new(settings: &Settings, defects: DefectSet) -> Self {
        let without_key = if defects.has(Defect::MissingKeyAccepted) {
            d58_missing_key_accepted::name()
        } else {
            settings.order_window.map(Name::Window)
        };
        Self {
            is_named_by_token: settings.idempotency == Idempotency::Token,
            without_key,
            fingerprint: fingerprint::rule(defects, settings.instance),
        }
    }

    pub fn read(&self, headers: &HeaderMap, body: &[u8]) -> Result<Intent, Refusal> {
        let key = if self.is_named_by_token {
            headers::submit_token(headers)?
        } else {
            headers::idempotency_key(headers)?
        };
        let name = match (key, &self.without_key) {
            (Some(key), _) => Name::Key(key.to_owned()),
            (None, Some(name)) => name.clone(),
            (None, None) => return Err(Refusal::MissingKey),
        };
        let user = headers::user(headers)?;
        let written = wish::read(body)?;
        if written.user_id.as_deref().is_some_and(|stated| stated != user) {
            return Err(Refusal::Invalid("userId isn't the user of X-User-Id"));
        }
        let fingerprint = (self.fingerprint)(&written);
        Ok(Intent { user: user.to_owned(), name, wish: written.wish, fingerprint })
    }
}

impl Name {
    /// What the order's row holds as its key.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Key(key) => Some(key),
            Self::Window(_) | Self::Nothing => None,
        }
    }

    pub fn window(&self) -> Option<Duration> {
        match self {
            Self::Window(length) => Some(*length),
            Self::Key(_) | Self::Nothing => None,
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => write!(f, "key {key}"),
            Self::Window(_) | Self::Nothing => f.write_str("without a key"),
        }
    }
}

impl Refusal {
    pub fn answer(&self) -> Answer {
        match self {
            Self::MissingKey => Answer::code(StatusCode::BAD_REQUEST, "MISSING_KEY"),
            Self::Invalid(why) => Answer::invalid(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shop::settings::tests::settings;

    const BODY: &str = r#"{"userId":"u1","productId":42,"quantity":1}"#;

    fn read(flags: &str, headers: &[(&'static str, &str)], body: &str) -> Result<Intent, Refusal> {
        let settings = settings(flags);
        let defects = settings.defects.iter().copied().collect();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a header value"));
        }
        Reader::new(&settings, defects).read(&map, body.as_bytes())
    }

    fn name(flags: &str, headers: &[(&'static str, &str)]) -> Result<Name, Refusal> {
        let user = [("x-user-id", "u1")];
        read(flags, &[&user, headers].concat(), BODY).map(|intent| intent.name)
    }

    #[test]
    fn a_key_names_the_intent_and_the_body_gives_its_meaning() {
        let headers = [("idempotency-key", "k1"), ("x-user-id", "u1")];
        let intent = read("shop", &headers, BODY).expect("a good request");
        assert_eq!(intent.name, Name::Key("k1".to_owned()));
        assert_eq!(intent.fingerprint, Fingerprint::of(&intent.wish));
    }

    #[test]
    fn a_request_without_a_key_is_told_apart_from_a_bad_one() {
        assert_eq!(name("shop", &[]), Err(Refusal::MissingKey));
        let long = "k".repeat(256);
        let refused = name("shop", &[("idempotency-key", &long)]);
        assert!(matches!(refused, Err(Refusal::Invalid(_))));
    }

    #[test]
    fn where_tokens_name_intents_a_key_is_no_name() {
        let tokens = "shop --idempotency token";
        assert_eq!(name(tokens, &[("idempotency-key", "k1")]), Err(Refusal::MissingKey));
        assert_eq!(name(tokens, &[("x-submit-token", "t1")]), Ok(Name::Key("t1".to_owned())));
    }

    #[test]
    fn a_window_names_only_what_has_no_key() {
        let window = "shop --order-window 10m";
        assert_eq!(name(window, &[]), Ok(Name::Window(Duration::from_secs(600))));
        assert_eq!(name(window, &[("idempotency-key", "k1")]), Ok(Name::Key("k1".to_owned())));
    }

    #[test]
    fn the_defect_lets_an_intent_in_that_nothing_names() {
        assert_eq!(name("shop --defects missing-key-accepted", &[]), Ok(Name::Nothing));
    }

    #[test]
    fn a_body_of_another_user_is_refused() {
        let other = r#"{"userId":"u2","productId":42,"quantity":1}"#;
        let refused = read("shop", &[("idempotency-key", "k1"), ("x-user-id", "u1")], other);
        assert!(matches!(refused, Err(Refusal::Invalid(_))));
    }
}
