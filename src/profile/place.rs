//! Places inside a TOML string: from a byte of its value to the byte of the file it came from.
//!
//! Escapes and line continuations make the two differ. Where this reading and the parser's don't
//! agree, the answer is the whole string: a place that is too wide beats a wrong one.

use std::ops::Range;

/// The places of one string, worked out once for all mistakes in it.
pub struct Places {
    /// The string with its quotes.
    token: Range<usize>,
    /// For each character of the value, and for its end: its byte there, and its byte in the
    /// token. `None` if the token doesn't read as the value.
    characters: Option<Vec<(usize, usize)>>,
}

impl Places {
    /// The places of the value `decoded`, written at `token` in `source`.
    pub fn of(source: &str, token: &Range<usize>, decoded: &str) -> Self {
        let text = source.get(token.clone()).filter(|_| !decoded.is_empty());
        let characters = text.and_then(|text| characters(text, decoded));
        Self { token: token.clone(), characters }
    }

    /// What of the source the bytes `range` of the value came from.
    pub fn part(&self, range: &Range<usize>) -> Range<usize> {
        let Some(characters) = &self.characters else { return self.token.clone() };
        let before = characters.partition_point(|&(at, _)| at <= range.start);
        let start = characters[before.saturating_sub(1)].1;
        if range.is_empty() {
            return self.token.start + start..self.token.start + start;
        }
        let end = characters.partition_point(|&(at, _)| at < range.end);
        let end = characters[end.min(characters.len() - 1)].1;
        self.token.start + start..self.token.start + end
    }
}

fn characters(token: &str, decoded: &str) -> Option<Vec<(usize, usize)>> {
    let (quote, escapes) = match token {
        _ if token.starts_with("\"\"\"") => ("\"\"\"", true),
        _ if token.starts_with("'''") => ("'''", false),
        _ if token.starts_with('"') => ("\"", true),
        _ if token.starts_with('\'') => ("'", false),
        _ => return None,
    };
    let mut at = quote.len();
    let end = token.len().checked_sub(quote.len()).filter(|&end| end >= at)?;
    if quote.len() == 3 {
        at += line_break(&token[at..end]);
    }
    let (mut places, mut value) = (Vec::new(), String::new());
    while at < end {
        let rest = token.get(at..end)?;
        let (length, character) =
            if escapes && rest.starts_with('\\') { escape(rest)? } else { plain(rest)? };
        if let Some(character) = character {
            places.push((value.len(), at));
            value.push(character);
        }
        at += length;
    }
    places.push((value.len(), end));
    (value == decoded).then_some(places)
}

fn plain(rest: &str) -> Option<(usize, Option<char>)> {
    let character = rest.chars().next()?;
    Some((character.len_utf8(), Some(character)))
}

/// The bytes of an escape, and what it stands for; a line continuation stands for nothing.
fn escape(rest: &str) -> Option<(usize, Option<char>)> {
    let hexadecimal = |digits: usize| {
        let code = u32::from_str_radix(rest.get(2..2 + digits)?, 16).ok()?;
        Some((2 + digits, Some(char::from_u32(code)?)))
    };
    let character = match rest.as_bytes().get(1)? {
        b'b' => '\u{8}',
        b't' => '\t',
        b'n' => '\n',
        b'f' => '\u{c}',
        b'r' => '\r',
        b'e' => '\u{1b}',
        b'"' => '"',
        b'\\' => '\\',
        b'x' => return hexadecimal(2),
        b'u' => return hexadecimal(4),
        b'U' => return hexadecimal(8),
        _ => {
            let blank = |c: char| c.is_ascii_whitespace();
            return Some((rest[1..].find(|c| !blank(c)).unwrap_or(rest.len() - 1) + 1, None));
        }
    };
    Some((2, Some(character)))
}

fn line_break(text: &str) -> usize {
    match text {
        _ if text.starts_with("\r\n") => 2,
        _ if text.starts_with('\n') => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(token: &str, decoded: &str, range: Range<usize>) -> Range<usize> {
        Places::of(token, &(0..token.len()), decoded).part(&range)
    }

    /// What of `token` the text `part` of its value came from.
    fn origin<'a>(token: &'a str, decoded: &str, part: &str) -> &'a str {
        let start = decoded.find(part).unwrap();
        &token[inside(token, decoded, start..start + part.len())]
    }

    #[test]
    fn escapes_and_quotes_are_stepped_over() {
        assert_eq!(origin(r#""a {b}""#, "a {b}", "{b}"), "{b}");
        assert_eq!(origin(r#""é\t\u00e9 {b}""#, "é\té {b}", "{b}"), "{b}");
        assert_eq!(origin(r#""a\u007Bb}""#, "a{b}", "{b}"), r"\u007Bb}");
        assert_eq!(origin("'''\n\\t{b}'''", "\\t{b}", "{b}"), "{b}");
        assert_eq!(origin("\"\"\"\r\na \\\n   {b}\"\"\"", "a {b}", "{b}"), "{b}");
    }

    #[test]
    fn what_does_not_read_the_same_is_told_as_a_whole() {
        assert_eq!(inside("\"abc\"", "xyz", 1..2), 0..5);
        assert_eq!(inside("", "x", 0..1), 0..0);
        assert_eq!(inside("''", "", 0..0), 0..2);
    }
}
