//! Reads the headers that name an intent: the user, and the key or the submit token.
//!
//! A header that came twice is refused, not read as its first value: two different keys in one
//! request name no intent, and a layer in front may have gone by the other one.

use axum::http::HeaderMap;

use super::intent::Refusal;

const LONGEST_KEY: usize = 255;
const LONGEST_USER: usize = 128;

/// No colon: in `idem:orders:{user}:{key}` it would let two users meet in one record.
pub fn user(headers: &HeaderMap) -> Result<&str, Refusal> {
    single(headers, "x-user-id", "X-User-Id was sent twice")?
        .filter(|user| (1..=LONGEST_USER).contains(&user.len()) && !user.contains(':'))
        .ok_or(Refusal::Invalid("X-User-Id must be 1 to 128 characters without a colon"))
}

/// `None` if it wasn't sent, or holds nothing.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let key = single(headers, "idempotency-key", "Idempotency-Key was sent twice")?;
    no_longer_than_a_key(key, "Idempotency-Key is longer than 255")
}

/// `None` if it wasn't sent, or holds nothing.
pub fn submit_token(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let token = single(headers, "x-submit-token", "X-Submit-Token was sent twice")?;
    no_longer_than_a_key(token, "X-Submit-Token is longer than 255")
}

fn no_longer_than_a_key<'h>(
    key: Option<&'h str>,
    too_long: &'static str,
) -> Result<Option<&'h str>, Refusal> {
    match key.filter(|key| !key.is_empty()) {
        Some(key) if key.len() > LONGEST_KEY => Err(Refusal::Invalid(too_long)),
        key => Ok(key),
    }
}

fn single<'h>(
    headers: &'h HeaderMap,
    name: &str,
    twice: &'static str,
) -> Result<Option<&'h str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(Refusal::Invalid(twice));
    }
    first
        .map(|value| value.to_str().map(str::trim))
        .transpose()
        .map_err(|_| Refusal::Invalid("a header isn't visible ASCII"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(headers: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a header value"));
        }
        map
    }

    #[test]
    fn a_key_of_spaces_is_no_key() {
        assert_eq!(idempotency_key(&map(&[("idempotency-key", " ")])), Ok(None));
        assert_eq!(submit_token(&map(&[])), Ok(None));
        assert_eq!(submit_token(&map(&[("x-submit-token", " t1 ")])), Ok(Some("t1")));
    }

    #[test]
    fn two_keys_in_one_request_are_refused() {
        let twice = map(&[("idempotency-key", "k1"), ("idempotency-key", "k2")]);
        assert!(matches!(idempotency_key(&twice), Err(Refusal::Invalid(_))));
    }

    #[test]
    fn a_key_too_long_for_its_column_is_refused() {
        let long = "k".repeat(LONGEST_KEY + 1);
        let too_long = map(&[("idempotency-key", &long)]);
        assert!(matches!(idempotency_key(&too_long), Err(Refusal::Invalid(_))));
        let longest = &long[1..];
        assert_eq!(idempotency_key(&map(&[("idempotency-key", longest)])), Ok(Some(longest)));
    }

    #[test]
    fn a_user_cannot_reach_into_the_records_of_another() {
        assert!(matches!(user(&map(&[("x-user-id", "a:b")])), Err(Refusal::Invalid(_))));
        assert!(matches!(user(&map(&[])), Err(Refusal::Invalid(_))));
    }
}
