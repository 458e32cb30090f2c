//! History rules per key (R..).

use super::Code;

/// All of them.
pub static RULES: [&Code; 0] = [];
