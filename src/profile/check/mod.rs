//! The check: walks the profile's TOML beside its description and collects every mistake.
//!
//! Nothing stops the walk. A value that is wrong becomes `Broken` and the walk goes on beside it.

mod json;
mod scalar;
mod secret;
mod table;
mod text;

use std::collections::HashSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;

use super::mistake::{Mistake, quoted};
use super::node::{Node, Value};
use super::shape::Shape;
use crate::codes;

pub(super) use scalar::thousands;

/// What is being checked, as messages name it.
#[derive(Clone, Copy, Debug)]
struct About<'a> {
    name: &'a str,
    /// What would be right, as TOML: `seed = 1`.
    sample: &'a str,
}

/// The walk with what it has found.
pub(super) struct Check<'a> {
    source: &'a str,
    env: &'a dyn Fn(&str) -> Option<String>,
    mistakes: Vec<Mistake>,
    /// While a default is read: the place of the table that left it out.
    left_out_of: Option<Range<usize>>,
}

impl<'a> Check<'a> {
    pub(super) fn new(source: &'a str, env: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { source, env, mistakes: Vec::new(), left_out_of: None }
    }

    pub(super) fn into_mistakes(self) -> Vec<Mistake> {
        self.mistakes
    }

    fn report(&mut self, mistake: Mistake) -> Value {
        self.mistakes.push(mistake);
        Value::Broken
    }

    fn place<T>(&self, spanned: &Spanned<T>) -> Range<usize> {
        self.left_out_of.clone().unwrap_or_else(|| spanned.span())
    }

    fn value(
        &mut self,
        shape: &'static Shape,
        about: About<'_>,
        toml: &Spanned<DeValue<'_>>,
    ) -> Node {
        let span = self.place(toml);
        let value = match (shape, toml.get_ref()) {
            (Shape::Table(table), DeValue::Table(entries)) => {
                return self.table(table, entries, span);
            }
            (Shape::Map { names, values }, DeValue::Table(entries)) => {
                self.map(names, values, about, entries)
            }
            (Shape::List { items, at_least }, DeValue::Array(array)) => {
                self.list(items, *at_least, about, array, &span)
            }
            (Shape::WordOr { words, or, .. }, DeValue::String(text)) => {
                match words.iter().find(|word| ***word == **text) {
                    Some(word) => Value::Word(word),
                    None if or.is_text() => return self.value(or, about, toml),
                    None => {
                        let broken = self.word(words, about, text, &span);
                        if let Some(told) = self.mistakes.last_mut() {
                            told.help.push(format!("or {}", or.wanted()));
                        }
                        broken
                    }
                }
            }
            (Shape::WordOr { or, .. }, other) if or.takes(other) => {
                return self.value(or, about, toml);
            }
            (Shape::Flag, DeValue::Boolean(flag)) => Value::Flag(*flag),
            (Shape::Secret(rule), DeValue::String(text)) => self.secret(rule, about, text, &span),
            (Shape::Json, _) => self.plain_json(about, toml),
            (Shape::JsonTemplate, DeValue::Table(_) | DeValue::Array(_)) => self.json(toml),
            (Shape::Text(rule), DeValue::String(text)) => self.text(rule, about, text, &span),
            (Shape::Template(rule), DeValue::String(text)) => {
                self.template(Some(rule), about, text, &span)
            }
            (Shape::Word(words), DeValue::String(text)) => self.word(words, about, text, &span),
            (Shape::Duration { min, max }, DeValue::String(text)) => {
                self.duration(*min..=*max, about, text, &span)
            }
            (Shape::Size { min, max }, DeValue::String(text)) => {
                self.size(*min..=*max, about, text, &span)
            }
            (Shape::Count { min, max } | Shape::Size { min, max }, DeValue::Integer(number)) => {
                self.count(*min..=*max, about, number, &span)
            }
            (Shape::Share, DeValue::Integer(_) | DeValue::Float(_)) => {
                self.share(about, toml.get_ref(), &span)
            }
            (shape, other) => self.wrong_type(shape, about, other, &span),
        };
        Node { span, value }
    }

    fn list(
        &mut self,
        items: &'static Shape,
        at_least: usize,
        about: About<'_>,
        array: &[Spanned<DeValue<'_>>],
        span: &Range<usize>,
    ) -> Value {
        if array.len() < at_least {
            let what = format!("`{}` needs at least one item", about.name);
            return self.report(
                Mistake::new(&codes::OUT_OF_RANGE, span.clone(), what)
                    .label("this list is empty")
                    .help(format!("for example `{}`", about.sample)),
            );
        }
        let nodes: Vec<Node> = array.iter().map(|item| self.value(items, about, item)).collect();
        let mut seen = HashSet::new();
        for node in &nodes {
            if identity(node).is_some_and(|identity| !seen.insert(identity)) {
                let what = format!("`{}` lists the same thing twice", about.name);
                self.report(
                    Mistake::new(&codes::GIVEN_TWICE, node.span.clone(), what)
                        .label("this stands in the list already")
                        .help("take it out"),
                );
            }
        }
        Value::List(nodes)
    }

    fn wrong_type(
        &mut self,
        shape: &Shape,
        about: About<'_>,
        found: &DeValue<'_>,
        span: &Range<usize>,
    ) -> Value {
        let what = format!("`{}` must be {}", about.name, shape.wanted());
        let mistake = Mistake::new(&codes::WRONG_TYPE, span.clone(), what)
            .label(format!("this is {}", kind(found)));
        self.report(mistake.help(cure_of_type(shape, about, found)))
    }
}

/// What makes an item of a list the same as another; tables are never the same.
fn identity(node: &Node) -> Option<String> {
    let number = || node.count().map(|count| count.to_string());
    let json = || node.plain_json().map(ToString::to_string);
    let secret = || node.secret().map(|secret| secret.written().to_owned());
    node.text().map(str::to_owned).or_else(number).or_else(json).or_else(secret)
}

/// What a value is, with its article.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "a flag (`true` or `false`)",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn cure_of_type(shape: &Shape, About { name, sample }: About<'_>, found: &DeValue<'_>) -> String {
    match (shape, found) {
        (Shape::List { items: Shape::Table(_), .. }, DeValue::Table(_)) => {
            format!("a list of tables has two pairs of brackets: `[[{name}]]`")
        }
        (Shape::Table(_), DeValue::Array(_)) => {
            format!("there is only one `{name}`: `[{name}]`, with one pair of brackets")
        }
        (Shape::List { items: Shape::Count { .. }, .. }, DeValue::Integer(number)) => {
            format!("put it in brackets: `{name} = [{number}]`")
        }
        (
            Shape::List { items: Shape::Text(_) | Shape::Word(_) | Shape::Secret(_), .. },
            DeValue::String(text),
        ) => {
            let item = quoted(text).replace('`', "");
            format!("put it in brackets: `{name} = [\"{item}\"]`")
        }
        (Shape::Count { .. } | Shape::Share, DeValue::String(text))
            if text.parse::<f64>().is_ok_and(f64::is_finite) =>
        {
            format!("take away the quotes: `{name} = {text}`")
        }
        (Shape::Duration { .. }, DeValue::Integer(number)) => {
            format!("with its unit, in quotes: `\"{number}ms\"` or `\"{number}s\"`")
        }
        (Shape::Table(_) | Shape::Map { .. }, _) if sample.starts_with('[') => {
            format!("write it as a table: `{sample}`, and its keys below")
        }
        _ => format!("for example `{sample}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::keys::PROFILE;
    use super::super::shape::Presence;
    use super::*;

    /// Reads a value of the description, which must be right.
    fn read(shape: &'static Shape, name: &str, toml: &str) {
        let mut check = Check::new(toml, &|_| None);
        let value = DeValue::parse(toml).unwrap_or_else(|error| panic!("{name}: {error}"));
        check.value(shape, About { name, sample: "" }, &value);
        assert_eq!(check.into_mistakes(), [], "{name} = {toml}");
    }

    #[test]
    fn every_default_and_example_of_the_description_is_right() {
        PROFILE.visit(&mut |table| {
            for field in table.fields {
                if let Presence::Default(literal) = field.presence {
                    read(&field.shape, field.name, literal);
                }
                if let Some(sample) = field.sample() {
                    read(&field.shape, field.name, sample);
                }
                let lines = field.sample_lines();
                assert!(toml::de::DeTable::parse(&lines).is_ok(), "{lines}");
            }
        });
    }
}
