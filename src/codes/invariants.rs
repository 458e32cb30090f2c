//! Invariants of the data and of the replies (I..).

use super::Code;

/// All of them.
pub static INVARIANTS: [&Code; 0] = [];
