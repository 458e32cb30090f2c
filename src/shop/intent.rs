//! Reads what a buyer means out of one HTTP request: user, key, product, quantity.
//!
//! A field that isn't known is refused, not ignored: it might change the intent, and the
//! fingerprint would not contain it. A whole number may be written in any way JSON has (`1`,
//! `1.0`, `1e0`), since every way means the same, but a product above 2^53 must be written in
//! digits: a float can't tell it from its neighbour.

use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Number;

use super::{answer::Answer, fingerprint::Fingerprint};

const LONGEST_KEY: usize = 255;
const LONGEST_USER: usize = 128;
const LARGEST_QUANTITY: i64 = 100;
const LARGEST_EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    pub user: String,
    pub key: String,
    pub product_id: i64,
    /// 1 to 100.
    pub quantity: i32,
    pub fingerprint: Fingerprint,
}

/// Why a request is no intent. It is refused before anything is touched.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    MissingKey,
    Invalid(&'static str),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Body {
    user_id: Option<String>,
    product_id: Number,
    quantity: Number,
    #[serde(rename = "traceId")]
    _trace_id: Option<IgnoredAny>,
    #[serde(rename = "clientTime")]
    _client_time: Option<IgnoredAny>,
}

impl Intent {
    pub fn read(headers: &HeaderMap, body: &[u8]) -> Result<Self, Refusal> {
        let key = single(headers, "idempotency-key", "Idempotency-Key was sent twice")?;
        let key = key
            .filter(|key| !key.is_empty())
            .ok_or(Refusal::MissingKey)?;
        if key.len() > LONGEST_KEY {
            return Err(Refusal::Invalid("Idempotency-Key is longer than 255"));
        }
        let user = single(headers, "x-user-id", "X-User-Id was sent twice")?
            .filter(|user| is_user(user))
            .ok_or(Refusal::Invalid(
                "X-User-Id must be 1 to 128 characters without a colon",
            ))?;

        let body: Body = serde_json::from_slice(body).map_err(|_| {
            Refusal::Invalid(
                "the body must be {userId?, productId, quantity, traceId?, clientTime?}",
            )
        })?;
        if body.user_id.is_some_and(|stated| stated != user) {
            return Err(Refusal::Invalid("userId isn't the user of X-User-Id"));
        }
        let product_id =
            whole(&body.product_id).ok_or(Refusal::Invalid("productId must be a whole number"))?;
        let quantity = whole(&body.quantity)
            .filter(|quantity| (1..=LARGEST_QUANTITY).contains(quantity))
            .and_then(|quantity| i32::try_from(quantity).ok())
            .ok_or(Refusal::Invalid("quantity must be 1 to 100"))?;

        Ok(Self {
            user: user.to_owned(),
            key: key.to_owned(),
            product_id,
            quantity,
            fingerprint: Fingerprint::of(product_id, quantity),
        })
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

/// Two different keys in one request name no intent, so a repeated header is refused.
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

/// No colon: in `idem:orders:{user}:{key}` it would let two users meet in one record.
fn is_user(user: &str) -> bool {
    (1..=LONGEST_USER).contains(&user.len()) && !user.contains(':')
}

/// Of floats only those that are whole and exact, so that the cast loses nothing.
fn whole(number: &Number) -> Option<i64> {
    number.as_i64().or_else(|| {
        number
            .as_f64()
            .filter(|float| float.fract() == 0.0 && float.abs() <= LARGEST_EXACT_FLOAT)
            .filter(|_| !number.is_u64())
            .map(|float| float as i64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"userId":"u1","productId":42,"quantity":1}"#;

    fn read(headers: &[(&'static str, &str)], body: &str) -> Result<Intent, Refusal> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a header value"));
        }
        Intent::read(&map, body.as_bytes())
    }

    fn read_body(body: &str) -> Result<Intent, Refusal> {
        read(&[("idempotency-key", "k1"), ("x-user-id", "u1")], body)
    }

    #[test]
    fn every_way_to_write_an_intent_has_one_fingerprint() {
        let first = read_body(BODY).expect("a good body");
        for same in [
            r#" { "quantity" : 1.0 , "productId" : 42 } "#,
            r#"{"productId":4.2e1,"quantity":1e0,"traceId":"t","clientTime":17}"#,
            r#"{"userId":"\u0075\u0031","productId":42,"quantity":1,"traceId":null}"#,
        ] {
            assert_eq!(read_body(same).as_ref(), Ok(&first), "{same}");
        }
    }

    #[test]
    fn a_request_without_a_key_is_told_apart_from_a_bad_one() {
        let missing = Err(Refusal::MissingKey);
        assert_eq!(read(&[("x-user-id", "u1")], BODY), missing);
        assert_eq!(
            read(&[("idempotency-key", " "), ("x-user-id", "u1")], BODY),
            missing
        );
        let long = "k".repeat(256);
        let refused = read(&[("idempotency-key", &long), ("x-user-id", "u1")], BODY);
        assert!(matches!(refused, Err(Refusal::Invalid(_))));
    }

    #[test]
    fn two_keys_in_one_request_are_refused() {
        let headers = [
            ("idempotency-key", "k1"),
            ("idempotency-key", "k2"),
            ("x-user-id", "u1"),
        ];
        assert!(matches!(read(&headers, BODY), Err(Refusal::Invalid(_))));
    }

    #[test]
    fn a_body_that_means_nothing_certain_is_refused() {
        for body in [
            "",
            "[]",
            r#"{"productId":42}"#,
            r#"{"productId":42,"quantity":0}"#,
            r#"{"productId":42,"quantity":101}"#,
            r#"{"productId":42,"quantity":1.5}"#,
            r#"{"productId":"42","quantity":1}"#,
            r#"{"productId":42,"quantity":1,"coupon":"X"}"#,
            r#"{"productId":42,"quantity":1,"quantity":2}"#,
            r#"{"userId":"u2","productId":42,"quantity":1}"#,
            r#"{"productId":9007199254740993.5,"quantity":1}"#,
            r#"{"productId":1e300,"quantity":1}"#,
            r#"{"productId":18446744073709551615,"quantity":1}"#,
        ] {
            let refused = read_body(body);
            assert!(matches!(refused, Err(Refusal::Invalid(_))), "{body}");
        }
    }

    #[test]
    fn a_user_cannot_reach_into_the_records_of_another() {
        let refused = read(&[("idempotency-key", "c"), ("x-user-id", "a:b")], BODY);
        assert!(matches!(refused, Err(Refusal::Invalid(_))));
    }
}
