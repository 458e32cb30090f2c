//! What the buyer wants, read out of the JSON body: every field that changes the intent.
//!
//! A field that isn't known is refused, not ignored: it might change the intent, and the
//! fingerprint would not contain it. A whole number may be written in any way JSON has (`1`,
//! `1.0`, `1e0`), since every way means the same, but a product from 2^53 upwards must be
//! written in digits: a float can't tell it from its neighbour.

use serde::Deserialize;
use serde_json::{Number, Value};

use super::intent::Refusal;

/// The address that a buyer has who says nothing about it.
pub const FIRST_ADDRESS: i64 = 1;

const LARGEST_QUANTITY: i64 = 100;
const LONGEST_COUPON: usize = 64;
/// 2^53 - 1: the next float may also stand for a number beside it.
const LARGEST_EXACT_FLOAT: f64 = 9_007_199_254_740_991.0;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    pub product_id: i64,
    /// 1 to 100.
    pub quantity: i32,
    /// 1 or more.
    pub address_version: i64,
    pub coupon: Option<String>,
}

/// One body: the wish, and what comes along without changing it.
#[derive(Debug)]
pub struct Written<'b> {
    pub wish: Wish,
    pub user_id: Option<String>,
    pub trace_id: Option<Value>,
    pub client_time: Option<Value>,
    pub bytes: &'b [u8],
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Body {
    user_id: Option<String>,
    product_id: Number,
    quantity: Number,
    address_version: Option<Number>,
    coupon: Option<String>,
    trace_id: Option<Value>,
    client_time: Option<Value>,
}

/// Left out, `null` and the default itself mean the same.
pub fn read(bytes: &[u8]) -> Result<Written<'_>, Refusal> {
    let body: Body = serde_json::from_slice(bytes).map_err(|_| {
        Refusal::Invalid(
            "the body must be {userId?, productId, quantity, addressVersion?, coupon?, traceId?, \
             clientTime?}",
        )
    })?;
    let product_id =
        whole(&body.product_id).ok_or(Refusal::Invalid("productId must be a whole number"))?;
    let quantity = whole(&body.quantity)
        .filter(|quantity| (1..=LARGEST_QUANTITY).contains(quantity))
        .and_then(|quantity| i32::try_from(quantity).ok())
        .ok_or(Refusal::Invalid("quantity must be 1 to 100"))?;
    let address_version = body
        .address_version
        .map_or(Some(FIRST_ADDRESS), |version| whole(&version))
        .filter(|&version| version >= FIRST_ADDRESS)
        .ok_or(Refusal::Invalid("addressVersion must be a whole number from 1 upwards"))?;
    let is_coupon = |coupon: &String| {
        (1..=LONGEST_COUPON).contains(&coupon.len()) && !coupon.contains(char::is_control)
    };
    if body.coupon.as_ref().is_some_and(|coupon| !is_coupon(coupon)) {
        return Err(Refusal::Invalid("coupon must be 1 to 64 bytes without control characters"));
    }
    Ok(Written {
        wish: Wish { product_id, quantity, address_version, coupon: body.coupon },
        user_id: body.user_id,
        trace_id: body.trace_id,
        client_time: body.client_time,
        bytes,
    })
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

    fn wish(body: &str) -> Result<Wish, Refusal> {
        read(body.as_bytes()).map(|written| written.wish)
    }

    #[test]
    fn every_way_to_write_a_wish_is_one_wish() {
        let first = wish(r#"{"userId":"u1","productId":42,"quantity":1}"#).expect("a good body");
        for same in [
            r#" { "quantity" : 1.0 , "productId" : 42 } "#,
            r#"{"productId":4.2e1,"quantity":1e0,"traceId":"t","clientTime":17}"#,
            r#"{"\u0070roductId":42,"quantity":1,"traceId":null,"clientTime":{}}"#,
            r#"{"productId":42,"quantity":1,"addressVersion":null,"coupon":null}"#,
            r#"{"productId":42,"quantity":1,"addressVersion":1.0}"#,
        ] {
            assert_eq!(wish(same).as_ref(), Ok(&first), "{same}");
        }
    }

    #[test]
    fn a_product_above_2_to_the_53_stays_exact() {
        for id in [9_007_199_254_740_992, 9_007_199_254_740_993, i64::MAX] {
            let read = wish(&format!(r#"{{"productId":{id},"quantity":1}}"#));
            assert_eq!(read.map(|wish| wish.product_id), Ok(id));
        }
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
            r#"{"productId":42,"quantity":1,"gift":true}"#,
            r#"{"productId":42,"quantity":1,"quantity":2}"#,
            r#"{"productId":42,"quantity":1,"addressVersion":0}"#,
            r#"{"productId":42,"quantity":1,"coupon":""}"#,
            r#"{"productId":42,"quantity":1,"coupon":"a\u0000b"}"#,
            r#"{"productId":9007199254740993.0,"quantity":1}"#,
            r#"{"productId":9007199254740993.5,"quantity":1}"#,
            r#"{"productId":1e300,"quantity":1}"#,
            r#"{"productId":18446744073709551615,"quantity":1}"#,
        ] {
            assert!(matches!(wish(body), Err(Refusal::Invalid(_))), "{body}");
        }
    }
}
