//! A key without what differs from intent to intent: `lock:stock` of `lock:stock:42`.

use super::tokens::{Tokens, words};

/// Longer runs of letters and digits are ids.
const LONGEST_WORD: usize = 20;

/// The parts of a key that are the same for all intents; none where nothing is left.
pub(super) fn of_key(key: &str, tokens: &Tokens) -> Option<String> {
    let mut shape = String::with_capacity(key.len());
    for segment in key.split([':', '/', '|']) {
        let segment = segment.trim_matches(['{', '}']);
        if segment.is_empty() || is_id(segment, tokens) {
            continue;
        }
        if !shape.is_empty() {
            shape.push(':');
        }
        shape.push_str(without_number(segment));
    }
    (!shape.is_empty()).then_some(shape)
}

/// A path without ids: `/orders/{}/pay`.
pub(super) fn of_path(target: &str, tokens: &Tokens) -> String {
    let path = target.split(['?', '#']).next().unwrap_or(target);
    let mut shape = String::with_capacity(path.len());
    for segment in path.split('/').skip(1) {
        shape.push('/');
        shape.push_str(if is_id(segment, tokens) { "{}" } else { segment });
    }
    if shape.is_empty() { "/".to_owned() } else { shape }
}

/// Whether it names one thing of many.
fn is_id(segment: &str, tokens: &Tokens) -> bool {
    let bytes = segment.as_bytes();
    let is_known = || !tokens.is_empty() && words(bytes).any(|word| tokens.knows(word));
    let has_digit = bytes.iter().any(u8::is_ascii_digit);
    if !has_digit {
        return is_known();
    }
    let is_number = bytes.iter().all(u8::is_ascii_digit);
    is_number || bytes.len() > LONGEST_WORD || is_known()
}

/// `cart` of `cart_42`.
fn without_number(segment: &str) -> &str {
    let word = segment.trim_end_matches(|letter: char| letter.is_ascii_digit());
    match word.strip_suffix(['_', '-', '#']) {
        Some(word) if !word.is_empty() => word,
        _ => segment,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::IntentId;
    use crate::wire::Expected;

    #[test]
    fn what_differs_from_intent_to_intent_is_left_out() {
        let mut tokens = Tokens::default();
        tokens.expect(vec![Expected {
            intent: IntentId(0),
            user: "alice".to_owned(),
            key: "k-7c1e-0".to_owned(),
            product: Some(42),
            entity: None,
        }]);
        for (key, shape) in [
            ("lock:stock:42", Some("lock:stock")),
            ("lock:order:create:alice", Some("lock:order:create")),
            ("idem:{alice}:k-7c1e-0", Some("idem")),
            ("orders|0b9f8a5e-1d2c-4c3b-9a8b-7c6d5e4f3a2b|lock", Some("orders:lock")),
            ("cart_17", Some("cart")),
            ("v2", Some("v2")),
            ("42", None),
        ] {
            assert_eq!(of_key(key, &tokens).as_deref(), shape, "{key}");
        }
        assert_eq!(of_path("/charges/991?x=1", &tokens), "/charges/{}");
        assert_eq!(of_path("/", &tokens), "/");
        assert_eq!(of_path("/users/alice/pay", &tokens), "/users/{}/pay");
    }
}
