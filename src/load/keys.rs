//! How a key travels: the contract's rule for keys, kept and broken.

use crate::history::KeyForm;
use crate::profile::{BodyTemplate, KeyCarrier, KeyRule, KeySyntax, Request};

/// How long a key is that breaks a syntax by its length, where the rule has no limit.
const TOO_LONG: usize = 300;

/// The forms of bad key that a rule knows. A raw key may have any characters, so that none of them
/// is of the wrong syntax, and without a limit none is too long; a JSON field isn't sent twice, since
/// parsers differ about what that means.
pub(super) fn bad_forms(rule: &KeyRule) -> Vec<KeyForm> {
    let fits = |form: &KeyForm| match (form, &rule.carrier) {
        (KeyForm::Good, _) | (KeyForm::Twice, KeyCarrier::Body(_)) => false,
        (KeyForm::TooLong, _) => rule.longest.is_some() || rule.syntax == KeySyntax::Uuid,
        (KeyForm::WrongSyntax, KeyCarrier::Header(_)) => rule.syntax != KeySyntax::Raw,
        (KeyForm::WrongSyntax, KeyCarrier::Body(_)) => rule.syntax == KeySyntax::Uuid,
        _ => true,
    };
    KeyForm::BAD.into_iter().filter(fits).collect()
}

/// Whether a request has a place for its key where the rule says so.
pub(super) fn carries(rule: &KeyRule, request: &Request) -> bool {
    match &rule.carrier {
        KeyCarrier::Header(name) => {
            request.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name))
        }
        KeyCarrier::Body(pointer) => {
            request.body.as_ref().and_then(|body: &BodyTemplate| body.at(pointer)).is_some()
        }
    }
}

/// The keys that a request's carrier holds: none, one, or two that differ.
pub(super) fn on_the_wire(rule: &KeyRule, key: &str, form: KeyForm) -> Vec<String> {
    let is_header = matches!(rule.carrier, KeyCarrier::Header(_));
    let is_quoted = is_header && rule.syntax == KeySyntax::Quoted;
    let written = |key: &str| if is_quoted { format!("\"{key}\"") } else { key.to_owned() };
    match form {
        KeyForm::Good => vec![written(key)],
        KeyForm::Missing => Vec::new(),
        KeyForm::Empty => vec![String::new()],
        KeyForm::TooLong => {
            let length = rule.longest.map_or(TOO_LONG, |longest| longest + 1);
            let padding = "x".repeat(length.saturating_sub(key.len()));
            vec![written(&format!("{key}{padding}"))]
        }
        KeyForm::Twice => vec![written(key), written(&other(rule, key))],
        KeyForm::WrongSyntax if is_quoted => vec![key.to_owned()],
        KeyForm::WrongSyntax => vec![format!("not-a-uuid-{}", &key[..key.len().min(8)])],
    }
}

/// A second key of the same syntax.
fn other(rule: &KeyRule, key: &str) -> String {
    match rule.syntax {
        KeySyntax::Raw | KeySyntax::Quoted => format!("{key}-b"),
        KeySyntax::Uuid => {
            let last = if key.ends_with('0') { "1" } else { "0" };
            format!("{}{last}", &key[..key.len().saturating_sub(1)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Contract;

    fn rule(carrier: KeyCarrier, syntax: KeySyntax) -> KeyRule {
        KeyRule { carrier, syntax, ..Contract::order_strict().key }
    }

    #[test]
    fn only_forms_that_break_the_rule_are_bad() {
        let header = || KeyCarrier::Header("idempotency-key".to_owned());
        let body = || KeyCarrier::Body("/key".to_owned());
        assert_eq!(bad_forms(&rule(header(), KeySyntax::Quoted)), KeyForm::BAD);
        assert_eq!(bad_forms(&rule(header(), KeySyntax::Raw)), KeyForm::BAD[..4]);
        let raw = bad_forms(&rule(body(), KeySyntax::Raw));
        assert_eq!(raw, [KeyForm::Missing, KeyForm::Empty, KeyForm::TooLong]);
        assert!(bad_forms(&rule(body(), KeySyntax::Uuid)).contains(&KeyForm::WrongSyntax));
        for (syntax, is_known) in
            [(KeySyntax::Raw, false), (KeySyntax::Quoted, false), (KeySyntax::Uuid, true)]
        {
            let endless = KeyRule { longest: None, ..rule(header(), syntax) };
            assert_eq!(bad_forms(&endless).contains(&KeyForm::TooLong), is_known, "{syntax:?}");
        }
    }

    #[test]
    fn a_quoted_key_is_quoted_and_its_wrong_form_is_not() {
        let rule = rule(KeyCarrier::Header("k".to_owned()), KeySyntax::Quoted);
        assert_eq!(on_the_wire(&rule, "k-1", KeyForm::Good), ["\"k-1\""]);
        assert_eq!(on_the_wire(&rule, "k-1", KeyForm::WrongSyntax), ["k-1"]);
        assert_eq!(on_the_wire(&rule, "k-1", KeyForm::TooLong)[0].len(), 256 + 2);
        assert_eq!(on_the_wire(&rule, "k-1", KeyForm::Twice), ["\"k-1\"", "\"k-1-b\""]);
    }
}
