//! JSON bodies with holes.
//!
//! Fields keep the order of the file: a body is rendered as its author wrote it, because services
//! that hash the raw bytes must be given the bytes that were meant.

use super::template::{Filling, Hole, TextTemplate};

/// A JSON body whose strings are templates. A string that is only `{product}` or `{quantity}`
/// becomes a number.
#[derive(Clone, Debug, PartialEq)]
pub enum BodyTemplate {
    Literal(serde_json::Value),
    Text(TextTemplate),
    Array(Vec<Self>),
    /// In the order of the file.
    Object(Vec<(String, Self)>),
}

impl BodyTemplate {
    /// Every text in it.
    pub fn texts(&self) -> Vec<&TextTemplate> {
        match self {
            Self::Literal(_) => Vec::new(),
            Self::Text(text) => vec![text],
            Self::Array(items) => items.iter().flat_map(Self::texts).collect(),
            Self::Object(fields) => fields.iter().flat_map(|(_, value)| value.texts()).collect(),
        }
    }

    /// Renders to JSON; object fields keep the order of the file only when written by
    /// [`BodyTemplate::render_text`].
    pub fn render(&self, filling: &Filling<'_>) -> serde_json::Value {
        match self {
            Self::Literal(value) => value.clone(),
            Self::Text(text) => match text.only_hole() {
                Some(Hole::Product) => filling.product.into(),
                Some(Hole::Quantity) => filling.quantity.into(),
                _ => text.render(filling).into(),
            },
            Self::Array(items) => items.iter().map(|item| item.render(filling)).collect(),
            Self::Object(fields) => serde_json::Value::Object(
                fields.iter().map(|(name, value)| (name.clone(), value.render(filling))).collect(),
            ),
        }
    }

    /// Renders to compact JSON text, fields in the order of the file.
    pub fn render_text(&self, filling: &Filling<'_>) -> String {
        let mut out = String::new();
        self.write_text(filling, &mut out);
        out
    }

    /// The value that a JSON pointer below this one leads to; `None` if nowhere, or to the whole.
    pub fn at(&self, pointer: &str) -> Option<&Self> {
        let steps = pointer.strip_prefix('/')?.split('/');
        steps.map(|step| step.replace("~1", "/").replace("~0", "~")).try_fold(self, |here, step| {
            match here {
                Self::Object(fields) => {
                    fields.iter().find(|(name, _)| *name == step).map(|(_, value)| value)
                }
                Self::Array(items) => items.get(step.parse::<usize>().ok()?),
                Self::Literal(_) | Self::Text(_) => None,
            }
        })
    }

    /// The value, if nothing has to be filled in.
    pub fn literal(&self) -> Option<serde_json::Value> {
        match self {
            Self::Literal(value) => Some(value.clone()),
            Self::Text(text) => text.literal().map(Into::into),
            Self::Array(items) => items.iter().map(Self::literal).collect(),
            Self::Object(fields) => {
                let field = |(name, value): &(String, Self)| Some((name.clone(), value.literal()?));
                fields.iter().map(field).collect::<Option<_>>().map(serde_json::Value::Object)
            }
        }
    }

    /// A JSON value as a template that renders to it.
    pub fn of(value: &serde_json::Value) -> Self {
        match value {
            serde_json::Value::String(text) => Self::Text(TextTemplate::plain(text)),
            serde_json::Value::Array(items) => Self::Array(items.iter().map(Self::of).collect()),
            serde_json::Value::Object(fields) => Self::Object(
                fields.iter().map(|(name, value)| (name.clone(), Self::of(value))).collect(),
            ),
            other => Self::Literal(other.clone()),
        }
    }

    /// The hole, when a value is nothing but one hole.
    pub fn only_hole(&self) -> Option<Hole> {
        match self {
            Self::Text(text) => text.only_hole(),
            _ => None,
        }
    }

    /// Whether any text in it has this hole.
    pub fn has(&self, hole: Hole) -> bool {
        self.texts().iter().any(|text| text.has(hole))
    }

    fn write_text(&self, filling: &Filling<'_>, out: &mut String) {
        match self {
            Self::Literal(_) | Self::Text(_) => out.push_str(&self.render(filling).to_string()),
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    item.write_text(filling, out);
                }
                out.push(']');
            }
            Self::Object(fields) => {
                out.push('{');
                for (index, (name, value)) in fields.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    out.push_str(&serde_json::Value::from(name.as_str()).to_string());
                    out.push(':');
                    value.write_text(filling, out);
                }
                out.push('}');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILLING: Filling<'_> = Filling {
        user: "u-1",
        key: "k-1",
        product: 42,
        quantity: 3,
        uuid: "0-0",
        order: "o-1",
        token: "t-1",
    };

    fn text(text: &str) -> BodyTemplate {
        BodyTemplate::Text(TextTemplate::parse(text).unwrap())
    }

    fn body() -> BodyTemplate {
        BodyTemplate::Object(vec![
            ("z".to_owned(), text("{product}")),
            ("a/b".to_owned(), text("p{product}")),
            ("n".to_owned(), BodyTemplate::Array(vec![text("{quantity}"), text("{user}")])),
        ])
    }

    #[test]
    fn a_lone_number_hole_becomes_a_number() {
        assert_eq!(body().render_text(&FILLING), r#"{"z":42,"a/b":"p42","n":[3,"u-1"]}"#);
        assert_eq!(body().render(&FILLING)["z"], 42);
    }

    #[test]
    fn pointers_lead_to_fields_and_items() {
        for there in ["/z", "/a~1b", "/n", "/n/1"] {
            assert!(body().at(there).is_some(), "{there}");
        }
        for nowhere in ["", "z", "/y", "/n/2", "/n/x", "/z/a"] {
            assert!(body().at(nowhere).is_none(), "{nowhere}");
        }
    }
}
