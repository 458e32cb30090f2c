//! The checked values of a profile, each with its place, before they become types.
//!
//! A value that was wrong is `Broken`: whoever compares values with each other skips what isn't
//! sound, so that one mistake isn't told twice and doesn't hide another one.

use std::ops::Range;
use std::time::Duration;

use super::body::BodyTemplate;
use super::target::Secret;
use super::template::TextTemplate;

/// A checked value. One that was left out has the place of its table.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) value: Value,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Broken,
    Text(String),
    Word(&'static str),
    /// Counts and sizes.
    Count(u64),
    Share(f64),
    Flag(bool),
    Duration(Duration),
    Template(TextTemplate),
    Secret(Secret),
    /// A JSON value whose texts are templates.
    JsonTemplate(BodyTemplate),
    /// A JSON value as it stands.
    Json(serde_json::Value),
    List(Vec<Node>),
    /// In the order of the file.
    Table(Vec<Entry>),
}

/// A key of a table and its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    /// The place of the key; that of the table where it was left out.
    pub(super) key: Range<usize>,
    pub(super) node: Node,
}

impl Node {
    pub(super) fn is_broken(&self) -> bool {
        matches!(self.value, Value::Broken)
    }

    /// The value of a key, if it is there and sound.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        self.entry(name).map(|entry| &entry.node).filter(|node| !node.is_broken())
    }

    pub(super) fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.name == name)
    }

    /// Whether a key is there, sound or not.
    pub(super) fn mentions(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }

    /// The entries of a table; none of anything else.
    pub(super) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Table(entries) => entries,
            _ => &[],
        }
    }

    /// Whether the file has a key of this table, and not only its default.
    pub(super) fn writes(&self, name: &str) -> bool {
        self.entry(name).is_some_and(|entry| self.is_written(entry))
    }

    /// Whether an entry of this table stands in the file: defaults have the place of their table.
    pub(super) fn is_written(&self, entry: &Entry) -> bool {
        entry.key != self.span
    }

    /// The items of a list; none of anything else.
    pub(super) fn items(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(super) fn word(&self) -> Option<&'static str> {
        match self.value {
            Value::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(super) fn count(&self) -> Option<u64> {
        match self.value {
            Value::Count(count) => Some(count),
            _ => None,
        }
    }

    pub(super) fn share(&self) -> Option<f64> {
        match self.value {
            Value::Share(share) => Some(share),
            _ => None,
        }
    }

    pub(super) fn duration(&self) -> Option<Duration> {
        match self.value {
            Value::Duration(duration) => Some(duration),
            _ => None,
        }
    }

    pub(super) fn template(&self) -> Option<&TextTemplate> {
        match &self.value {
            Value::Template(template) => Some(template),
            _ => None,
        }
    }

    pub(super) fn json(&self) -> Option<&BodyTemplate> {
        match &self.value {
            Value::JsonTemplate(body) => Some(body),
            _ => None,
        }
    }

    pub(super) fn plain_json(&self) -> Option<&serde_json::Value> {
        match &self.value {
            Value::Json(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn secret(&self) -> Option<&Secret> {
        match &self.value {
            Value::Secret(secret) => Some(secret),
            _ => None,
        }
    }

    pub(super) fn flag(&self) -> Option<bool> {
        match self.value {
            Value::Flag(flag) => Some(flag),
            _ => None,
        }
    }
}
