//! Equal texts, once in memory.
//!
//! A large run names an order id or a status a million times. Whoever reads its files hands the same
//! set to all of them, and drops it when they are read.

use std::collections::HashSet;
use std::sync::Arc;

/// The texts that have been seen.
#[derive(Debug, Default)]
pub struct Strings(HashSet<Arc<str>>);

impl Strings {
    /// Replaces a text by the equal one that was there first.
    pub(super) fn share(&mut self, text: &mut Arc<str>) {
        match self.0.get(text) {
            Some(known) => *text = Arc::clone(known),
            None => {
                self.0.insert(Arc::clone(text));
            }
        }
    }
}
