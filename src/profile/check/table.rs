//! Tables: known keys, missing keys, alternatives, defaults.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::super::keys::PROFILE;
use super::super::mistake::{Mistake, quoted};
use super::super::node::{Entry, Node, Value};
use super::super::shape::{Field, Presence, Shape, Table, TextRule};
use super::super::suggest::{closest, listed};
use super::{About, Check};
use crate::codes;

/// Which tables have a key of this name.
static PLACES: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| PROFILE.places());

/// Of the tables that have a key, so many are named.
const NAMED: usize = 4;

type Key<'a, 'i> = (&'a Spanned<DeString<'i>>, &'a Spanned<DeValue<'i>>);

impl Check<'_> {
    /// Checks a table with known keys. Keys that were left out get their defaults.
    pub(in crate::profile) fn table(
        &mut self,
        table: &'static Table,
        toml: &DeTable<'_>,
        span: Range<usize>,
    ) -> Node {
        let mut entries = Vec::new();
        let mut meant = Vec::new();
        for (key, value) in in_file_order(toml) {
            let name = key.get_ref();
            if let Some(field) = table.field(name) {
                let about = About { name: field.name, sample: &field.sample_lines() };
                let node = self.value(&field.shape, about, value);
                entries.push(Entry { name: field.name.to_owned(), key: self.place(key), node });
            } else {
                meant.extend(self.unknown_key(table, name, key.span()));
                let node = Node { span: value.span(), value: Value::Broken };
                entries.push(Entry { name: name.to_string(), key: key.span(), node });
            }
        }
        let mut node = Node { span, value: Value::Table(entries) };
        if table.alternatives().next().is_some() {
            self.one_of(table, &node);
        }
        for field in table.fields {
            if !node.mentions(field.name) && !meant.contains(&field.name) {
                self.left_out(table, field, &mut node);
            }
        }
        node
    }

    /// Checks a table whose keys the profile makes up.
    pub(super) fn map(
        &mut self,
        names: &'static TextRule,
        values: &'static Shape,
        about: About<'_>,
        toml: &DeTable<'_>,
    ) -> Value {
        let mut entries = Vec::new();
        for (key, value) in in_file_order(toml) {
            let name = key.get_ref().as_ref();
            if let Some(problem) = (names.problem)(name) {
                let what = format!("{} can't be {}", quoted(name), names.wanted);
                self.report(
                    Mistake::new(names.code, key.span(), what)
                        .label(problem.label)
                        .help(problem.help),
                );
            }
            let sample = match values {
                Shape::Table(_) => format!("[{}.{name}]", about.name),
                _ => format!("{name} = \"...\""),
            };
            let about = About { name, sample: &sample };
            let node = self.value(values, about, value);
            entries.push(Entry { name: name.to_owned(), key: self.place(key), node });
        }
        Value::Table(entries)
    }

    /// Reports a key that means nothing here, and returns the sibling that was probably meant.
    fn unknown_key(
        &mut self,
        table: &'static Table,
        name: &str,
        span: Range<usize>,
    ) -> Option<&'static str> {
        let what = format!("unknown key {} in {}", quoted(name), table.head);
        let mut mistake = Mistake::new(&codes::UNKNOWN_KEY, span, what)
            .label(format!("not a key of {}", table.noun));
        let elsewhere = PLACES.get(name).map(Vec::as_slice).unwrap_or_default();
        let sibling = closest(name, table.names());
        if !elsewhere.is_empty() {
            let places = elsewhere.iter().take(NAMED).map(|head| head.trim_matches('`'));
            let places = match elsewhere.len().saturating_sub(NAMED) {
                0 => listed(places, "or"),
                more => format!("{} and {more} more", listed(places, "or")),
            };
            mistake = mistake.help(format!("`{name}` belongs in {places}"));
        }
        if let Some(sibling) = sibling {
            mistake = mistake.help(format!("did you mean `{sibling}`?"));
        }
        if mistake.help.is_empty() {
            let known = listed(table.names(), "and");
            mistake = mistake.help(match table.fields {
                [] => format!("{} has no keys: write `{{}}`", table.noun),
                _ => format!("the keys of {} are {known}", table.noun),
            });
        }
        self.report(mistake);
        sibling
    }

    fn one_of(&mut self, table: &'static Table, node: &Node) {
        let given: Vec<&Entry> = node
            .entries()
            .iter()
            .filter(|entry| table.alternatives().any(|field| field.name == entry.name))
            .collect();
        let names = || listed(table.alternatives().map(|field| field.name), "or");
        match given.as_slice() {
            [_] => {}
            [] if node.entries().iter().any(|entry| table.field(&entry.name).is_none()) => {}
            [] => {
                let only = table.alternatives().count() == 1;
                let needed = if only { names() } else { format!("one of {}", names()) };
                let sample = table.alternatives().next().map(Field::sample_lines);
                self.report(
                    Mistake::new(
                        &codes::ONE_OF,
                        node.span.clone(),
                        format!("{} needs {needed}", table.noun),
                    )
                    .label("nothing of that is here")
                    .help(format!("for example `{}`", sample.unwrap_or_default())),
                );
            }
            [first, second, ..] => {
                let what = format!("{} has `{}` and `{}`", table.noun, first.name, second.name);
                self.report(
                    Mistake::new(&codes::ONE_OF, second.key.clone(), what)
                        .label(format!("`{}` is there already", first.name))
                        .help(format!("exactly one of {}: take one out", names())),
                );
            }
        }
    }

    fn left_out(&mut self, table: &'static Table, field: &'static Field, node: &mut Node) {
        match field.presence {
            Presence::Optional | Presence::Alternative => {}
            Presence::Required => {
                let what = format!("`{}` is missing in {}", field.name, table.head);
                self.report(
                    Mistake::new(&codes::MISSING_KEY, node.span.clone(), what)
                        .label(format!("{} needs `{}`", table.noun, field.name))
                        .help(example(field)),
                );
            }
            Presence::Default(literal) => {
                let toml = DeValue::parse(literal).expect("a test reads every default");
                let outer = self.left_out_of.replace(node.span.clone());
                let about = About { name: field.name, sample: "" };
                let value = self.value(&field.shape, about, &toml);
                self.left_out_of = outer;
                if let Value::Table(entries) = &mut node.value {
                    let key = node.span.clone();
                    entries.push(Entry { name: field.name.to_owned(), key, node: value });
                }
            }
        }
    }
}

/// What to write for a key that is missing: on the line itself, or below it if it takes several.
fn example(field: &Field) -> String {
    let lines = field.sample_lines();
    if lines.contains('\n') {
        format!("for example\n{lines}")
    } else {
        format!("for example `{lines}`")
    }
}

/// The parser sorts keys by name; people read files from the top.
pub(super) fn in_file_order<'a, 'i>(toml: &'a DeTable<'i>) -> Vec<Key<'a, 'i>> {
    let mut entries: Vec<_> = toml.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}
