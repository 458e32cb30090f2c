//! Mistakes in a profile (C..).

use super::Code;

/// All of them.
pub static MISTAKES: [&Code; 0] = [];
