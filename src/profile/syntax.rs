//! What the TOML parser complains about, in words for people who don't write parsers.
//!
//! The parser goes on after a mistake and then often stumbles over its own recovery: the first
//! complaint of a line is shown, and no more than three lines. A bracket that is never closed
//! explains all of them, and is found by counting.

use std::ops::Range;

use super::mistake::Mistake;
use crate::codes;

const SHOWN: usize = 3;

/// The parser's complaints as mistakes.
pub(super) fn mistakes(source: &str, errors: &[toml::de::Error]) -> Vec<Mistake> {
    let mut complaints: Vec<_> =
        errors.iter().map(|error| (error.span().unwrap_or(0..0), error.message())).collect();
    complaints.sort_by_key(|(span, _)| span.start);
    let mut found: Vec<Mistake> = match unclosed(source, &complaints) {
        Some(bracket) => vec![bracket],
        None => first_of_each_line(source, complaints)
            .map(|(span, message)| {
                let is_empty = source.get(span.clone()).unwrap_or_default().trim().is_empty();
                let (what, expected) = message.split_once(", expected ").unwrap_or((message, ""));
                let [what, label, help] = explained(what, expected, is_empty);
                Mistake::new(&codes::SYNTAX, span, format!("not TOML: {what}"))
                    .label(label)
                    .help(help)
            })
            .collect(),
    };
    if let Some(last) = found.last_mut() {
        last.help.push("more mistakes may show up once the file can be read".to_owned());
    }
    found
}

fn first_of_each_line<'a>(
    source: &'a str,
    complaints: Vec<(Range<usize>, &'a str)>,
) -> impl Iterator<Item = (Range<usize>, &'a str)> {
    let mut last: Option<usize> = None;
    let mut is_first = move |at: usize| {
        let between = last.replace(at).and_then(|last| source.get(last..at));
        between.is_none_or(|between| between.contains('\n'))
    };
    complaints.into_iter().filter(move |(span, _)| is_first(span.start)).take(SHOWN)
}

/// The innermost bracket that is open where the parser began to complain, if it ended up missing
/// one. One that begins a line is more likely the next `[table]` than a value.
fn unclosed(source: &str, complaints: &[(Range<usize>, &str)]) -> Option<Mistake> {
    complaints.iter().find(|(_, message)| message.starts_with("unclosed"))?;
    let (first, _) = complaints.first()?;
    let open = open_brackets(source.get(..first.start)?);
    let begins_line = |at: usize| {
        let line = source[..at].rfind('\n').map_or(0, |newline| newline + 1);
        source[line..at].chars().all(|c| matches!(c, ' ' | '\t' | '['))
    };
    let at = *open.iter().rfind(|&&at| !begins_line(at)).or(open.first())?;
    let closing = if source[at..].starts_with('[') { ']' } else { '}' };
    Some(
        Mistake::new(&codes::SYNTAX, at..at + 1, "not TOML: a bracket is never closed")
            .label(format!("its `{closing}` is missing"))
            .help(format!("write `{closing}` where this ends")),
    )
}

/// The places of all brackets that are still open at the end of a text. Strings and comments are
/// stepped over.
fn open_brackets(text: &str) -> Vec<usize> {
    let mut open = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let length = match rest.as_bytes()[0] {
            b'#' => rest.find('\n').unwrap_or(rest.len()),
            b'"' | b'\'' => string_length(rest),
            bracket @ (b'[' | b'{' | b']' | b'}') => {
                if matches!(bracket, b'[' | b'{') {
                    open.push(at);
                } else {
                    open.pop();
                }
                1
            }
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        at += length;
    }
    open
}

/// The bytes of the string that a text begins with, quotes included.
fn string_length(text: &str) -> usize {
    let quote = &text[..1];
    let triple = quote.repeat(3);
    let (quote, stops_at_line) =
        if text.starts_with(&triple) { (triple.as_str(), false) } else { (quote, true) };
    let mut at = quote.len();
    while at < text.len() && !text[at..].starts_with(quote) {
        let rest = &text[at..];
        if stops_at_line && rest.starts_with('\n') {
            return at;
        }
        let escaped = rest.starts_with('\\') && quote.starts_with('"');
        at += rest.chars().take(1 + usize::from(escaped)).map(char::len_utf8).sum::<usize>();
    }
    (at + quote.len()).min(text.len())
}

/// What, label and help.
fn explained(what: &str, expected: &str, is_empty: bool) -> [String; 3] {
    match (what, expected) {
        ("string values must be quoted", _) if is_empty => {
            ["a value is missing", "nothing stands here", "write a value after the `=`"]
        }
        ("string values must be quoted", _) => [
            "a text without quotes",
            "not a number, not `true` or `false`",
            "put it in quotes: `\"...\"`",
        ],
        ("duplicate key", _) => [
            "a key given twice",
            "this key was given before",
            "keep one of them; two tables of one name become one table",
        ],
        ("key with no value", _) => [what, "a value is missing", "write `key = value`"],
        ("invalid basic string" | "invalid literal string", "`\"`" | "`'`") => [
            "a text that isn't closed",
            "its closing quote is missing",
            "a text ends on its line; three quotes open one of several lines",
        ],
        (_, "" | "nothing") => [what, "here", "see https://toml.io for how values are written"],
        _ => {
            let label = format!("expected {expected}");
            return [what, &label, "see https://toml.io for how values are written"]
                .map(str::to_owned);
        }
    }
    .map(str::to_owned)
}
