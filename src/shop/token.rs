//! A token that proves ownership: of a lease, or of an idempotency record.
//!
//! 128 random bits from the operating system's generator, fresh for every acquisition. A token
//! per process, or one derived from the request, would let a holder whose lease ran out pass
//! for the next holder. These tokens are the service's own secret, hence not from a drill's seed.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    pub fn fresh() -> Self {
        Self(format!("{:032x}", rand::random::<u128>()))
    }

    /// A token that was read back from Redis.
    pub fn read(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_acquisitions_never_share_a_token() {
        let (one, other) = (Token::fresh(), Token::fresh());
        assert_ne!(one, other);
        assert_eq!(one.as_str().len(), 32);
    }
}
