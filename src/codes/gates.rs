//! Gates (G..): a miss makes a run inconclusive, never passed.

use super::Code;

/// All of them.
pub static GATES: [&Code; 0] = [];
