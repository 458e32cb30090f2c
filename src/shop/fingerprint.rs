//! The fingerprint of an intent: equal for every way to write the same intent, different for
//! every other intent.
//!
//! It is taken over the meaning, not over the bytes: white space, the order of the JSON fields,
//! `1` or `1.0`, `traceId` and `clientTime` don't change what the buyer wants. User and key are
//! left out too, for they name the intent and are compared as such. The fields have a fixed
//! order and names, free text is quoted, and a field at its default isn't there: so a field added
//! later neither makes two intents collide nor changes the fingerprints that are stored.

use std::fmt::{self, Write};

use sha2::{Digest, Sha256};

use super::{
    defects::{
        Defect, DefectSet, d38_fingerprint_raw_json, d39_fingerprint_misses_quantity,
        d40_fingerprint_includes_volatile, d42_fingerprint_never_checked,
        d43_fingerprint_float_ids, d75_fingerprint_rules_differ_between_instances,
    },
    wish::{FIRST_ADDRESS, Wish, Written},
};

/// SHA-256 in lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint(String);

/// How the shop takes fingerprints.
pub type Rule = fn(&Written) -> Fingerprint;

/// Chosen once, at the start.
pub fn rule(defects: DefectSet, instance: u32) -> Rule {
    if defects.has(Defect::FingerprintRawJson) {
        d38_fingerprint_raw_json::fingerprint
    } else if defects.has(Defect::FingerprintMissesQuantity) {
        d39_fingerprint_misses_quantity::fingerprint
    } else if defects.has(Defect::FingerprintIncludesVolatile) {
        d40_fingerprint_includes_volatile::fingerprint
    } else if defects.has(Defect::FingerprintFloatIds) {
        d43_fingerprint_float_ids::fingerprint
    } else if defects.has(Defect::FingerprintRulesDifferBetweenInstances) {
        d75_fingerprint_rules_differ_between_instances::rule(instance)
    } else {
        |written| Fingerprint::of(&written.wish)
    }
}

/// Whether the request that comes now means what the stored one meant.
pub fn is_same(defects: DefectSet, stored: &Fingerprint, given: &Fingerprint) -> bool {
    if defects.has(Defect::FingerprintNeverChecked) {
        d42_fingerprint_never_checked::is_same()
    } else {
        stored == given
    }
}

impl Fingerprint {
    pub fn of(wish: &Wish) -> Self {
        Self::over(canonical(wish))
    }

    pub fn over(meaning: impl AsRef<[u8]>) -> Self {
        let mut digits = String::with_capacity(64);
        for byte in Sha256::digest(meaning) {
            write!(digits, "{byte:02x}").expect("writing to a String can't fail");
        }
        Self(digits)
    }

    /// A fingerprint that was read back from a row.
    pub fn read(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One line a field.
pub fn canonical(wish: &Wish) -> String {
    let mut text = format!("product={}\nquantity={}\n", wish.product_id, wish.quantity);
    if wish.address_version != FIRST_ADDRESS {
        text.push_str(&format!("address={}\n", wish.address_version));
    }
    if let Some(coupon) = &wish.coupon {
        let quoted = serde_json::to_string(coupon).expect("a string always serialises");
        text.push_str(&format!("coupon={quoted}\n"));
    }
    text
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shop::wish;

    fn taken(defects: &[Defect], body: &str) -> Fingerprint {
        let written = wish::read(body.as_bytes()).expect("a good body");
        rule(defects.iter().copied().collect(), 0)(&written)
    }

    fn of(body: &str) -> Fingerprint {
        taken(&[], body)
    }

    const PLAIN: &str = r#"{"productId":42,"quantity":1}"#;

    #[test]
    fn the_canonical_form_never_changes() {
        // sha256sum of "product=42\nquantity=1\n": stored rows and records depend on it.
        let first = "b1ffacb74e02210e64e8821b3e092e22b03af427ac8b749b21f843c0926d2bc8";
        assert_eq!(of(PLAIN).as_str(), first);
    }

    #[test]
    fn every_field_of_the_intent_counts() {
        let all = [
            PLAIN,
            r#"{"productId":42,"quantity":2}"#,
            r#"{"productId":43,"quantity":1}"#,
            r#"{"productId":42,"quantity":1,"addressVersion":2}"#,
            r#"{"productId":42,"quantity":1,"coupon":"SPRING"}"#,
            r#"{"productId":42,"quantity":1,"coupon":"spring"}"#,
            r#"{"productId":9007199254740992,"quantity":1}"#,
            r#"{"productId":9007199254740993,"quantity":1}"#,
        ];
        for (place, one) in all.iter().enumerate() {
            for other in &all[place + 1..] {
                assert_ne!(of(one), of(other), "{one} {other}");
            }
        }
    }

    #[test]
    fn what_the_buyer_does_not_mean_never_counts() {
        let same = r#"{ "quantity":1.0,"clientTime":17,"traceId":"t","productId":42 }"#;
        assert_eq!(of(same), of(PLAIN));
        assert_ne!(taken(&[Defect::FingerprintRawJson], same), of(PLAIN));
        let volatile = [Defect::FingerprintIncludesVolatile];
        assert_ne!(taken(&volatile, same), taken(&volatile, PLAIN));
    }

    #[test]
    fn a_defect_makes_two_intents_one() {
        let quantity = [Defect::FingerprintMissesQuantity];
        let two = r#"{"productId":42,"quantity":2}"#;
        assert_eq!(taken(&quantity, PLAIN), taken(&quantity, two));
        let float = [Defect::FingerprintFloatIds];
        let even = r#"{"productId":9007199254740992,"quantity":1}"#;
        let odd = r#"{"productId":9007199254740993,"quantity":1}"#;
        assert_eq!(taken(&float, even), taken(&float, odd));
        assert!(is_same(
            [Defect::FingerprintNeverChecked].into_iter().collect(),
            &of(PLAIN),
            &of(two)
        ));
    }
}
