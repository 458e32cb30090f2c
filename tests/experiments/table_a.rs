//! Pairs of experiments that hold a step: X05 to X08, X18, X23, X24.

use super::table::{Pair, violated};

pub const PAIRS: &[Pair] = &[
    violated("x05-d01-unlock-before-commit", "I02"),
    violated("x05-d46-claim-get-then-set", "I02"),
    violated("x23-d62-token-check-then-delete", "I02"),
];
