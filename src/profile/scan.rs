//! Splits a template into its tokens: text, holes, variables of the environment.
//!
//! `{{` and `}}` are braces, `$${NAME}` is the text `${NAME}`. Every mistake is found, not only the
//! first, because a profile is read to the end whatever is wrong in it.

use std::ops::Range;

use super::mistake::quoted;
use super::template::{Hole, TemplateMistake, TemplateMistakeKind};

/// A token of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Text(&'a str),
    Hole(Hole),
    /// `${NAME}`, with its place in the text.
    Variable(&'a str, Range<usize>),
}

/// All tokens that could be read, and all mistakes.
pub(super) fn scan(text: &str) -> (Vec<Token<'_>>, Vec<TemplateMistake>) {
    let (mut tokens, mut mistakes) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let (length, token) = next(rest);
        match token {
            Ok(Token::Variable(name, range)) => {
                tokens.push(Token::Variable(name, range.start + at..range.end + at));
            }
            Ok(token) => tokens.push(token),
            Err(mut mistake) => {
                mistake.range = mistake.range.start + at..mistake.range.end + at;
                mistakes.push(mistake);
            }
        }
        at += length;
    }
    (tokens, mistakes)
}

/// All tokens of a text that takes from the environment and has no holes: its braces are braces.
pub(super) fn variables(text: &str) -> (Vec<Token<'_>>, Vec<TemplateMistake>) {
    let (mut tokens, mut mistakes) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let end = rest.find('$').unwrap_or(rest.len());
        let (length, token) = match rest {
            _ if rest.starts_with("$${") => (3, Ok(Token::Text(&rest[1..3]))),
            _ if rest.starts_with("${") => variable_token(rest),
            _ if rest.starts_with('$') => (1, Ok(Token::Text(&rest[..1]))),
            _ => (end, Ok(Token::Text(&rest[..end]))),
        };
        match token {
            Ok(Token::Variable(name, range)) => {
                tokens.push(Token::Variable(name, range.start + at..range.end + at));
            }
            Ok(token) => tokens.push(token),
            Err(mut mistake) => {
                mistake.range = mistake.range.start + at..mistake.range.end + at;
                mistakes.push(mistake);
            }
        }
        at += length;
    }
    (tokens, mistakes)
}

/// Where a text that isn't a template would take from the environment.
pub(super) fn variable(text: &str) -> Option<Range<usize>> {
    let mut from = 0;
    while let Some(at) = text[from..].find("${").map(|at| at + from) {
        if !text[..at].ends_with('$') {
            let length = text[at..].find('}').map_or(2, |end| end + 1);
            return Some(at..at + length);
        }
        from = at + 2;
    }
    None
}

/// The next token or mistake, with the bytes it takes.
fn next(rest: &str) -> (usize, Result<Token<'_>, TemplateMistake>) {
    if rest.starts_with("{{") || rest.starts_with("}}") {
        return (2, Ok(Token::Text(&rest[..1])));
    }
    if rest.starts_with("$${") && !rest.starts_with("$${{") {
        let end = closed(&rest[2..]).filter(|&end| is_variable(&rest[3..2 + end]));
        let length = end.map_or(3, |end| end + 3);
        return (length, Ok(Token::Text(&rest[1..length])));
    }
    if rest.starts_with("${") && !rest.starts_with("${{") {
        return variable_token(rest);
    }
    if rest.starts_with(['{', '}']) {
        return hole_token(rest);
    }
    let first = rest.chars().next().map_or(1, char::len_utf8);
    let length = rest[first..].find(['{', '}', '$']).map_or(rest.len(), |end| end + first);
    (length, Ok(Token::Text(&rest[..length])))
}

fn variable_token(rest: &str) -> (usize, Result<Token<'_>, TemplateMistake>) {
    let kind = TemplateMistakeKind::VariableName;
    let Some(end) = closed(&rest[1..]) else {
        let what = "`${` without its `}`".to_owned();
        return (2, Err(TemplateMistake { range: 0..2, what, written: String::new(), kind }));
    };
    let (name, length) = (&rest[2..=end], end + 2);
    if is_variable(name) {
        return (length, Ok(Token::Variable(name, 0..length)));
    }
    let what = format!("{} is not the name of an environment variable", quoted(name));
    let written = name.to_owned();
    (length, Err(TemplateMistake { range: 0..length, what, written, kind }))
}

fn hole_token(rest: &str) -> (usize, Result<Token<'_>, TemplateMistake>) {
    let brace = &rest[..1];
    let Some(end) = closed(rest).filter(|_| brace == "{") else {
        let what = format!("a single `{brace}`; write `{brace}{brace}` for a brace");
        let kind = TemplateMistakeKind::Brace;
        return (1, Err(TemplateMistake { range: 0..1, what, written: String::new(), kind }));
    };
    let name = &rest[1..end];
    if let Some(hole) = Hole::ALL.into_iter().find(|hole| hole.word() == name) {
        return (end + 1, Ok(Token::Hole(hole)));
    }
    let what = format!("{} is not something a request can be filled with", quoted(&rest[..=end]));
    let kind = TemplateMistakeKind::Hole;
    (end + 1, Err(TemplateMistake { range: 0..end + 1, what, written: name.to_owned(), kind }))
}

/// Where the brace at the start is closed, before another one opens.
fn closed(text: &str) -> Option<usize> {
    let end = text.get(1..)?.find(['{', '}'])? + 1;
    text[end..].starts_with('}').then_some(end)
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_is_found_with_its_place() {
        let (tokens, mistakes) = scan("é{usr} {key} } ${a b} ${TOKEN}");
        assert_eq!(tokens.iter().filter(|token| !matches!(token, Token::Text(_))).count(), 2);
        let ranges: Vec<_> = mistakes.iter().map(|mistake| mistake.range.clone()).collect();
        assert_eq!(ranges, [2..7, 14..15, 16..22]);
    }

    #[test]
    fn two_dollars_make_a_text() {
        let text = |text| {
            let (tokens, mistakes) = scan(text);
            assert_eq!(mistakes, [], "{text}");
            let join = |token: &Token<'_>| match token {
                Token::Text(text) => (*text).to_owned(),
                other => format!("<{other:?}>"),
            };
            tokens.iter().map(join).collect::<String>()
        };
        assert_eq!(text("a $${NAME} b"), "a ${NAME} b");
        assert_eq!(text("$${{x}}"), "$${x}");
        assert_eq!(text("${{x}}"), "${x}");
        assert_eq!(text("5 $ and $$"), "5 $ and $$");
    }

    #[test]
    fn a_plain_text_tells_where_it_would_take_from_the_environment() {
        assert_eq!(variable("a ${B} c"), Some(2..6));
        assert_eq!(variable("a $${B} c"), None);
        assert_eq!(variable("${"), Some(0..2));
    }
}
