//! The vocabulary that describes a profile: every key with its meaning, its shape and its default.
//!
//! One description (`keys/`) serves the check, the conversion and the JSON Schema, so that they
//! can't disagree. Defaults and examples are TOML as a user would write it: a default goes through
//! the same check as a value from the file.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

use toml::de::DeValue;

use crate::codes::Code;

/// A table with known keys.
#[derive(Debug)]
pub struct Table {
    /// As messages name it: `[[phase]]`.
    pub head: &'static str,
    /// What it describes, with its article: `a phase`.
    pub noun: &'static str,
    pub fields: &'static [Field],
}

/// A key of a table.
#[derive(Debug)]
pub struct Field {
    pub name: &'static str,
    /// One or two sentences for editors and the reference.
    pub doc: &'static str,
    pub shape: Shape,
    pub presence: Presence,
    /// A value, as TOML; or, where that reads better, whole lines which give the key its value.
    /// Fields without one show their default.
    example: &'static str,
}

/// What happens when a key is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Optional,
    Required,
    /// This value, as TOML.
    Default(&'static str),
    /// Exactly one of the alternatives of a table must be there: so an enumeration is a key, and
    /// the place of a mistake in it stays exact.
    Alternative,
}

/// What a value may be.
#[derive(Debug)]
pub enum Shape {
    Table(&'static Table),
    /// A table whose keys the profile makes up.
    Map {
        names: &'static TextRule,
        values: &'static Shape,
    },
    List {
        items: &'static Shape,
        at_least: usize,
    },
    Text(&'static TextRule),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number, both ends included.
    Count {
        min: u64,
        max: u64,
    },
    /// 0 to 1.
    Share,
    /// `true` or `false`.
    Flag,
    Duration {
        min: Duration,
        max: Duration,
    },
    /// Bytes.
    Size {
        min: u64,
        max: u64,
    },
    /// Text with holes; may take from the environment.
    Template(&'static TextRule),
    /// Text without holes that may take from the environment.
    Secret(&'static TextRule),
    /// A JSON value whose texts are templates.
    JsonTemplate,
    /// A JSON value as it stands.
    Json,
    /// One of these words, or something else.
    WordOr {
        words: &'static [&'static str],
        or: &'static Self,
        /// Both, with an article.
        wanted: &'static str,
    },
}

/// What a text must look like.
#[derive(Debug)]
pub struct TextRule {
    /// With its article: `a JSON pointer`.
    pub wanted: &'static str,
    /// The rule as a regular expression, for editors.
    pub pattern: &'static str,
    pub code: &'static Code,
    /// The first thing wrong with a text.
    pub problem: fn(&str) -> Option<Problem>,
}

/// What is wrong with a text, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Bytes of the text.
    pub range: Range<usize>,
    pub label: String,
    pub help: String,
}

impl Field {
    /// An optional key.
    pub const fn new(name: &'static str, doc: &'static str, shape: Shape) -> Self {
        Self { name, doc, shape, presence: Presence::Optional, example: "" }
    }

    pub const fn required(mut self, example: &'static str) -> Self {
        self.presence = Presence::Required;
        self.example = example;
        self
    }

    pub const fn alternative(mut self, example: &'static str) -> Self {
        self.presence = Presence::Alternative;
        self.example = example;
        self
    }

    pub const fn default(mut self, value: &'static str) -> Self {
        self.presence = Presence::Default(value);
        self
    }

    pub const fn example(mut self, value: &'static str) -> Self {
        self.example = value;
        self
    }

    /// A value to show, as TOML; `None` if there is none worth it.
    pub fn sample(&self) -> Option<&'static str> {
        let sample = match self.presence {
            Presence::Default(value) if self.example.is_empty() => value,
            _ => self.example,
        };
        let is_value = !is_lines(self.name, sample) && !matches!(sample, "" | "{}");
        is_value.then_some(sample)
    }

    /// Lines to show which give the key a value, as TOML.
    pub fn sample_lines(&self) -> String {
        match self.sample() {
            Some(value) => format!("{} = {value}", self.name),
            None if is_lines(self.name, self.example) => self.example.to_owned(),
            None => format!("[{}]", self.name),
        }
    }
}

fn is_lines(name: &str, sample: &str) -> bool {
    sample.starts_with("[[") || sample.starts_with(name)
}

impl Table {
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|field| field.name)
    }

    pub fn alternatives(&self) -> impl Iterator<Item = &'static Field> {
        self.fields.iter().filter(|field| field.presence == Presence::Alternative)
    }

    /// Every key of this table and those below it, with the heads of the tables that have it.
    pub fn places(&'static self) -> HashMap<&'static str, Vec<&'static str>> {
        let mut places: HashMap<_, Vec<_>> = HashMap::new();
        self.visit(&mut |table| {
            for name in table.names() {
                let heads = places.entry(name).or_default();
                if !heads.contains(&table.head) {
                    heads.push(table.head);
                }
            }
        });
        places
    }

    /// Shows this table and every one below it, in the order of the description.
    pub fn visit(&'static self, show: &mut dyn FnMut(&'static Self)) {
        show(self);
        for field in self.fields {
            if let Some(table) = field.shape.table_inside() {
                table.visit(show);
            }
        }
    }
}

impl Shape {
    /// What the value must be, with its article.
    pub const fn wanted(&self) -> &'static str {
        match self {
            Self::Table(_) | Self::Map { .. } => "a table",
            Self::List { items: Self::Table(_), .. } => "a list of tables",
            Self::List { .. } => "a list",
            Self::Text(_) | Self::Template(_) | Self::Secret(_) => "a text",
            Self::Word(_) => "a word in quotes",
            Self::Count { .. } => "a whole number",
            Self::Share => "a number from 0 to 1",
            Self::Flag => "`true` or `false`",
            Self::Duration { .. } => "a duration in quotes",
            Self::Size { .. } => "a number of bytes, or a size in quotes",
            Self::JsonTemplate => "a table that becomes JSON",
            Self::Json => "a value that JSON can carry",
            Self::WordOr { wanted, .. } => wanted,
        }
    }

    /// Whether its values are texts.
    pub const fn is_text(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Template(_) | Self::Secret(_) | Self::Duration { .. })
    }

    /// Whether a value is at least of this shape's type.
    pub const fn takes(&self, value: &DeValue<'_>) -> bool {
        matches!(
            (self, value),
            (Self::Table(_) | Self::Map { .. }, DeValue::Table(_))
                | (Self::List { .. }, DeValue::Array(_))
                | (Self::Count { .. }, DeValue::Integer(_))
        )
    }

    /// The table with known keys that this shape is, lists or names.
    const fn table_inside(&self) -> Option<&'static Table> {
        match self {
            Self::Table(table) => Some(table),
            Self::Map { values, .. } => values.table_inside(),
            Self::WordOr { or, .. } => or.table_inside(),
            Self::List { items, .. } => items.table_inside(),
            _ => None,
        }
    }
}
