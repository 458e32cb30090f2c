//! The fingerprint of an intent: equal for every way to write the same intent, different for
//! every other intent.
//!
//! It is taken over the meaning, not over the bytes: white space, the order of the JSON fields,
//! `1` or `1.0`, `traceId` and `clientTime` don't change what the buyer wants. User and key are
//! left out too, for they name the intent and are compared as such. The fields have a fixed
//! order and names, so a field added later can't make two different intents collide.

use std::fmt::{self, Write};

use sha2::{Digest, Sha256};

/// SHA-256 in lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint(String);

impl Fingerprint {
    pub fn of(product_id: i64, quantity: i32) -> Self {
        let canonical = format!("product={product_id}\nquantity={quantity}\n");
        let mut digits = String::with_capacity(64);
        for byte in Sha256::digest(canonical) {
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

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canonical_form_never_changes() {
        // sha256sum of "product=42\nquantity=1\n": stored rows and records depend on it.
        assert_eq!(
            Fingerprint::of(42, 1).as_str(),
            "b1ffacb74e02210e64e8821b3e092e22b03af427ac8b749b21f843c0926d2bc8"
        );
    }

    #[test]
    fn every_field_of_the_intent_counts() {
        assert_ne!(Fingerprint::of(42, 1), Fingerprint::of(42, 2));
        assert_ne!(Fingerprint::of(42, 1), Fingerprint::of(43, 1));
        assert_ne!(Fingerprint::of(1, 11), Fingerprint::of(11, 1));
    }

    #[test]
    fn products_above_2_to_the_53_stay_apart() {
        let id = 9_007_199_254_740_993;
        assert_ne!(Fingerprint::of(id, 1), Fingerprint::of(id - 1, 1));
    }
}
