//! The names of things within one run.
//!
//! A [`RunId`] is 64 random bits that never come from the seed: two runs with one seed must not
//! share a user or a key, or the second would be answered with the first one's orders and pass.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Crockford's alphabet in lower case: no letter that reads as a digit.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// 64 random bits, written as 13 characters. Part of every user and key that the run makes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunId(u64);

impl RunId {
    /// A fresh id from the operating system's random source.
    pub fn fresh() -> Self {
        Self(rand::random())
    }

    /// The id with these bits; for reading a run back and for tests.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The first product of the run: a number below 9.1e14, so that every product (at most
    /// 90,000 a run) also survives a JSON parser that knows only doubles.
    pub const fn first_product(self) -> i64 {
        ((self.0 % 9_000_000_000) as i64 + 1_000_000_000) * 90_000
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [b'0'; 13];
        let mut rest = self.0;
        for place in text.iter_mut().rev() {
            *place = ALPHABET[(rest & 31) as usize];
            rest >>= 5;
        }
        out.write_str(std::str::from_utf8(&text).expect("the alphabet is ASCII"))
    }
}

impl FromStr for RunId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a run id (13 characters of 0-9 and a-z)");
        if text.len() != 13 {
            return Err(wrong());
        }
        let mut bits: u64 = 0;
        for (place, letter) in text.bytes().enumerate() {
            let digit =
                ALPHABET.iter().position(|&known| known == letter).ok_or_else(wrong)? as u64;
            if place == 0 && digit > 15 {
                return Err(wrong());
            }
            bits = (bits << 5) | digit;
        }
        Ok(Self(bits))
    }
}

impl Serialize for RunId {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RunId {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

macro_rules! number_within_a_run {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(out)
            }
        }
    };
}

number_within_a_run!(
    /// A phase of the profile, counted from 0.
    PhaseId(u16)
);
number_within_a_run!(
    /// An intent of the run, counted from 0 over all phases.
    IntentId(u32)
);
number_within_a_run!(
    /// An attempt of the run, counted from 0 in the order of planning.
    AttemptId(u32)
);
number_within_a_run!(
    /// A distinct response body: equal bytes have one id, so that 4,000 replays cost one body.
    BodyId(u32)
);
number_within_a_run!(
    /// Other bytes of an intent, counted from 0 over the run.
    VariantId(u32)
);
number_within_a_run!(
    /// An instance of the target, counted from 0.
    InstanceId(u16)
);
number_within_a_run!(
    /// A connection through a proxy, counted from 0 over all of them.
    LinkId(u32)
);
number_within_a_run!(
    /// A text of SQL that was seen on a wire, counted from 0.
    StatementId(u32)
);
number_within_a_run!(
    /// A fault of the profile, counted from 0 over all phases.
    FaultId(u16)
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_id_survives_being_written_and_read() {
        for bits in [0, 1, 31, 32, u64::MAX, 0x7c1e_0000_dead_beef] {
            let id = RunId::from_bits(bits);
            assert_eq!(id.to_string().len(), 13);
            assert_eq!(id.to_string().parse(), Ok(id));
        }
    }

    #[test]
    fn what_is_not_a_run_id_is_refused() {
        for text in ["", "7c1e", "zzzzzzzzzzzzz", "7c1e7c1e7c1eu", "7C1E7C1E7C1E7"] {
            assert!(text.parse::<RunId>().is_err(), "{text}");
        }
    }

    #[test]
    fn every_product_is_a_whole_number_for_a_parser_of_doubles() {
        for bits in [0, 8_999_999_999, u64::MAX] {
            let last = RunId::from_bits(bits).first_product() + 90_000;
            assert!(last < 1 << 53);
            assert_eq!(last as f64 as i64, last);
        }
    }
}
