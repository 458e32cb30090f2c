//! Equal texts, once in memory.
//!
//! A large run names an order id or a status a million times. Whoever reads its files hands the same
//! set to all of them, and drops it when they are read. A text that is there already is looked up as it
//! stands in the line, so that it costs no memory even for a moment.

use std::borrow::Cow;
use std::sync::Arc;

use foldhash::HashSet;
use serde::Deserialize;

/// The texts that have been seen.
#[derive(Debug, Default)]
pub struct Strings(HashSet<Arc<str>>);

/// A text as it stands in a line, not shared yet.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Written<'a>(#[serde(borrow)] Cow<'a, str>);

impl Strings {
    /// The text that is equal to this one.
    pub(super) fn shared(&mut self, text: &Written<'_>) -> Arc<str> {
        let text: &str = &text.0;
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let fresh: Arc<str> = text.into();
        self.0.insert(Arc::clone(&fresh));
        fresh
    }

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
