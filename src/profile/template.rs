//! Text with holes: `{user}`, `{key}`, `{product}`, `{quantity}`, `{uuid}`.
//!
//! A template is parsed once, when the profile is read, so that an unknown hole is a mistake with a
//! place in the file and not a surprise in the middle of a burst. `{{` and `}}` are braces.

use std::fmt::Write;

/// A hole of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hole {
    User,
    Key,
    Product,
    Quantity,
    /// A fresh UUID for each rendering.
    Uuid,
}

impl Hole {
    pub const ALL: [Self; 5] = [Self::User, Self::Key, Self::Product, Self::Quantity, Self::Uuid];

    pub const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Key => "key",
            Self::Product => "product",
            Self::Quantity => "quantity",
            Self::Uuid => "uuid",
        }
    }
}

/// What fills the holes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filling<'a> {
    pub user: &'a str,
    pub key: &'a str,
    pub product: i64,
    pub quantity: u32,
    pub uuid: &'a str,
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Hole(Hole),
}

/// Text with holes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextTemplate {
    pieces: Vec<Piece>,
}

/// A mistake in a template, with its byte range within the template's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateMistake {
    pub range: std::ops::Range<usize>,
    pub what: String,
    /// The hole's name as it was written, for a suggestion.
    pub written: String,
}

impl TextTemplate {
    /// Reads a template; the first mistake is returned.
    pub fn parse(text: &str) -> Result<Self, TemplateMistake> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let here = text.len() - rest.len() + at;
            let brace = &rest[at..=at];
            if rest[at + 1..].starts_with(brace) {
                plain.push_str(brace);
                rest = &rest[at + 2..];
                continue;
            }
            let closed = if brace == "{" { rest[at..].find('}') } else { None };
            let Some(length) = closed else {
                return Err(TemplateMistake {
                    range: here..here + 1,
                    what: format!("a single `{brace}`; write `{brace}{brace}` for a brace"),
                    written: String::new(),
                });
            };
            let name = &rest[at + 1..at + length];
            let Some(hole) = Hole::ALL.into_iter().find(|hole| hole.word() == name) else {
                return Err(TemplateMistake {
                    range: here..here + length + 1,
                    what: format!("`{{{name}}}` is not something a request can be filled with"),
                    written: name.to_owned(),
                });
            };
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::Hole(hole));
            rest = &rest[at + length + 1..];
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self { pieces })
    }

    pub fn render(&self, filling: &Filling<'_>) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Hole(Hole::User) => out.push_str(filling.user),
                Piece::Hole(Hole::Key) => out.push_str(filling.key),
                Piece::Hole(Hole::Uuid) => out.push_str(filling.uuid),
                Piece::Hole(Hole::Product) => {
                    write!(out, "{}", filling.product).expect("a String takes everything");
                }
                Piece::Hole(Hole::Quantity) => {
                    write!(out, "{}", filling.quantity).expect("a String takes everything");
                }
            }
        }
        out
    }

    /// The hole, when the template is nothing but one hole: such a value keeps its JSON type.
    fn only_hole(&self) -> Option<Hole> {
        match self.pieces.as_slice() {
            [Piece::Hole(hole)] => Some(*hole),
            _ => None,
        }
    }
}

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

    const FILLING: Filling<'_> =
        Filling { user: "u-1", key: "k-1", product: 42, quantity: 3, uuid: "0-0" };

    #[test]
    fn holes_are_filled_and_doubled_braces_are_braces() {
        let template = TextTemplate::parse("/users/{user}/{{{product}}}").unwrap();
        assert_eq!(template.render(&FILLING), "/users/u-1/{42}");
    }

    #[test]
    fn an_unknown_hole_is_told_with_its_place() {
        let mistake = TextTemplate::parse("a {usr} b").unwrap_err();
        assert_eq!((mistake.range, mistake.written.as_str()), (2..7, "usr"));
        assert!(TextTemplate::parse("a } b").is_err());
        assert!(TextTemplate::parse("a {user").is_err());
    }

    #[test]
    fn a_lone_number_hole_becomes_a_number() {
        let text = |text: &str| BodyTemplate::Text(TextTemplate::parse(text).unwrap());
        let body = BodyTemplate::Object(vec![
            ("z".to_owned(), text("{product}")),
            ("a".to_owned(), text("p{product}")),
            ("n".to_owned(), BodyTemplate::Array(vec![text("{quantity}"), text("{user}")])),
        ]);
        assert_eq!(body.render_text(&FILLING), r#"{"z":42,"a":"p42","n":[3,"u-1"]}"#);
        assert_eq!(body.render(&FILLING)["z"], 42);
    }
}
