//! Troubles of the environment (E..).

use super::Code;

/// All of them.
pub static TROUBLES: [&Code; 0] = [];
