//! Text with holes: `{user}`, `{key}`, `{product}`, `{quantity}`, `{uuid}`, `{order}`, `{token}`.
//!
//! A template is parsed once, when the profile is read, so that an unknown hole is a mistake with a
//! place in the file and not a surprise in the middle of a burst. `{{` and `}}` are braces.
//! `${NAME}` takes from the environment; such a piece remembers its name, and shows nothing else to
//! whoever prints it.

use std::fmt::{self, Write};

use super::scan::{Token, scan};

/// A hole of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hole {
    User,
    Key,
    Product,
    Quantity,
    /// A fresh UUID for each rendering.
    Uuid,
    /// The order that a racing request acts on.
    Order,
    /// What a login or a token request answered.
    Token,
}

impl Hole {
    pub const ALL: [Self; 7] = [
        Self::User,
        Self::Key,
        Self::Product,
        Self::Quantity,
        Self::Uuid,
        Self::Order,
        Self::Token,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Key => "key",
            Self::Product => "product",
            Self::Quantity => "quantity",
            Self::Uuid => "uuid",
            Self::Order => "order",
            Self::Token => "token",
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
    /// Empty where there is none.
    pub order: &'a str,
    /// Empty where there is none.
    pub token: &'a str,
}

/// A value from the environment. `Debug` shows its name only.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Variable {
    name: String,
    pub(super) value: String,
}

impl fmt::Debug for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${{{}}}", self.name)
    }
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Hole(Hole),
    Secret(Variable),
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
    /// The name of the hole or variable as it was written, for a suggestion.
    pub written: String,
    pub kind: TemplateMistakeKind,
}

/// What a mistake in a template is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateMistakeKind {
    Brace,
    Hole,
    /// It has no value, or one that can't be sent.
    Variable,
    VariableName,
}

impl TextTemplate {
    /// Reads a template without an environment; the first mistake is returned.
    pub fn parse(text: &str) -> Result<Self, TemplateMistake> {
        Self::read(text, &|_| None).map_err(|mistakes| {
            mistakes.into_iter().next().expect("a template that can't be read has a mistake")
        })
    }

    /// Reads a template; `${NAME}` takes from `env`. All mistakes are returned.
    pub fn read(
        text: &str,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Vec<TemplateMistake>> {
        let (tokens, mut mistakes) = scan(text);
        let mut template = Self::default();
        for token in tokens {
            match token {
                Token::Text(text) => template.push_text(text),
                Token::Hole(hole) => template.pieces.push(Piece::Hole(hole)),
                Token::Variable(name, range) => match look_up(name, env) {
                    Ok(secret) => template.pieces.push(Piece::Secret(secret)),
                    Err(what) => mistakes.push(TemplateMistake {
                        range,
                        what,
                        written: name.to_owned(),
                        kind: TemplateMistakeKind::Variable,
                    }),
                },
            }
        }
        mistakes.sort_by_key(|mistake| mistake.range.start);
        if mistakes.is_empty() { Ok(template) } else { Err(mistakes) }
    }

    fn push_text(&mut self, text: &str) {
        if let Some(Piece::Text(last)) = self.pieces.last_mut() {
            last.push_str(text);
        } else {
            self.pieces.push(Piece::Text(text.to_owned()));
        }
    }

    pub fn render(&self, filling: &Filling<'_>) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Secret(secret) => out.push_str(&secret.value),
                Piece::Hole(Hole::User) => out.push_str(filling.user),
                Piece::Hole(Hole::Key) => out.push_str(filling.key),
                Piece::Hole(Hole::Uuid) => out.push_str(filling.uuid),
                Piece::Hole(Hole::Order) => out.push_str(filling.order),
                Piece::Hole(Hole::Token) => out.push_str(filling.token),
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

    /// The template as a profile writes it, with `${NAME}` where it took from the environment.
    pub fn written(&self) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.replace('{', "{{").replace('}', "}}"),
            Piece::Hole(hole) => format!("{{{}}}", hole.word()),
            Piece::Secret(secret) => format!("${{{}}}", secret.name),
        };
        self.pieces.iter().map(piece).collect()
    }

    pub fn has(&self, wanted: Hole) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Hole(hole) if *hole == wanted))
    }

    /// The values that it takes from the environment: name and value.
    pub fn secrets(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Secret(secret) => Some((secret.name.as_str(), secret.value.as_str())),
            Piece::Text(_) | Piece::Hole(_) => None,
        })
    }

    /// Whether its renderings contain a value from the environment and must not be shown.
    pub fn is_secret(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Secret(_)))
    }

    /// A text without holes.
    pub(super) fn plain(text: &str) -> Self {
        let mut template = Self::default();
        if !text.is_empty() {
            template.push_text(text);
        }
        template
    }

    /// The text, when there is nothing to be filled in.
    pub(super) fn literal(&self) -> Option<String> {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => Some(text.clone()),
            Piece::Hole(_) | Piece::Secret(_) => None,
        };
        self.pieces.iter().map(piece).collect()
    }

    /// How many characters stand around a hole. Other holes and values from the environment count
    /// nothing.
    pub(super) fn around(&self, wanted: Hole) -> usize {
        let length = |piece: &Piece| match piece {
            Piece::Text(text) => text.chars().count(),
            Piece::Secret(_) | Piece::Hole(_) => 0,
        };
        if self.has(wanted) { self.pieces.iter().map(length).sum() } else { 0 }
    }

    /// Whether it has any hole.
    pub fn has_holes(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Hole(_)))
    }

    /// The hole, when the template is nothing but one hole: such a value keeps its JSON type.
    pub fn only_hole(&self) -> Option<Hole> {
        match self.pieces.as_slice() {
            [Piece::Hole(hole)] => Some(*hole),
            _ => None,
        }
    }
}

/// Line breaks and their kin are refused everywhere: no header, path or token has them, and a
/// header would break apart.
pub(super) fn look_up(
    name: &str,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Variable, String> {
    let value = env(name).ok_or_else(|| format!("`{name}` is not set in the environment"))?;
    if value.is_empty() {
        return Err(format!("`{name}` is set, but empty"));
    }
    if value.contains(|c: char| c.is_control()) {
        return Err(format!("the value of `{name}` has a line break or another control character"));
    }
    Ok(Variable { name: name.to_owned(), value })
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

    #[test]
    fn holes_are_filled_and_doubled_braces_are_braces() {
        let template = TextTemplate::parse("/users/{user}/{{{product}}}").unwrap();
        assert_eq!(template.render(&FILLING), "/users/u-1/{42}");
        let template = TextTemplate::parse("/orders/{order}?t={token}").unwrap();
        assert_eq!(template.render(&FILLING), "/orders/o-1?t=t-1");
    }

    #[test]
    fn an_unknown_hole_is_told_with_its_place() {
        let mistake = TextTemplate::parse("a {usr} b").unwrap_err();
        assert_eq!((mistake.range, mistake.written.as_str()), (2..7, "usr"));
        assert!(TextTemplate::parse("a } b").is_err());
        assert!(TextTemplate::parse("a {user").is_err());
    }

    #[test]
    fn a_secret_is_sent_and_never_shown() {
        let env = |name: &str| (name == "TOKEN").then(|| "s3cr{et}".to_owned());
        let template = TextTemplate::read("Bearer ${TOKEN}", &env).unwrap();
        assert_eq!(template.render(&FILLING), "Bearer s3cr{et}");
        assert_eq!(template.written(), "Bearer ${TOKEN}");
        assert!(template.is_secret());
        assert!(!format!("{template:?}").contains("s3cr"));
    }

    #[test]
    fn a_secret_that_would_break_a_header_is_refused_unseen() {
        let env = |_: &str| Some("s3cret\r\nX-Evil: 1".to_owned());
        let mistakes = TextTemplate::read("${TOKEN}", &env).unwrap_err();
        assert_eq!((mistakes.len(), mistakes[0].range.clone()), (1, 0..8));
        assert!(!format!("{mistakes:?}").contains("s3cret"));
    }

    #[test]
    fn what_is_written_reads_the_same() {
        for text in ["", "{user}-{{x}}", "$${A} ${{b}} $ {key}", "}}{{", "$$${A}"] {
            let template = TextTemplate::parse(text).unwrap();
            assert_eq!(TextTemplate::parse(&template.written()).unwrap(), template, "{text}");
        }
    }
}
