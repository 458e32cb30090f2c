//! A prepared statement, and which names a text of SQL gives back.

use crate::wire::Part;

use super::request::Types;

const VERB: &[u8] = b"deallocate";

/// What a Parse said, as far as it was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statement {
    pub sql: Vec<u8>,
    /// Whether that is all of the SQL.
    pub is_whole: bool,
    /// OIDs of its parameters, from the Parse or the server's description; 0 is not known.
    pub types: Vec<u32>,
    /// What its execution ends.
    pub(super) ends: Vec<Vec<u8>>,
}

impl Statement {
    /// Its SQL as far as it was kept.
    pub(super) fn text(&self) -> Part<'_> {
        Part { bytes: &self.sql, is_whole: self.is_whole }
    }

    pub(super) fn of(sql: Part<'_>, types: Types<'_>) -> Self {
        Self {
            sql: sql.bytes.to_vec(),
            is_whole: sql.is_whole,
            types: types.collect(),
            ends: deallocated(sql.bytes),
        }
    }
}

/// The names that the DEALLOCATEs of a text end, in order; those of DEALLOCATE ALL are none. The
/// server's answer, and not this, says whether they were executed.
pub(super) fn deallocated(sql: &[u8]) -> Vec<Vec<u8>> {
    let mut names = Vec::new();
    // Nearly all texts have none, and this is asked of each.
    let is_there = |at: usize| {
        sql.get(at..at + VERB.len()).is_some_and(|word| word.eq_ignore_ascii_case(VERB))
    };
    if !memchr::memchr2_iter(b'd', b'D', sql).any(is_there) {
        return names;
    }
    let mut words = Words { rest: sql };
    let mut statement: Vec<Word> = Vec::new();
    loop {
        let word = words.next();
        match word {
            Some(Word::Text(_)) => {
                // A DEALLOCATE has three words at most.
                if statement.len() < 4 {
                    statement.extend(word);
                }
            }
            Some(Word::End) | None => {
                names.extend(deallocated_by(&statement));
                statement.clear();
                if word.is_none() {
                    return names;
                }
            }
        }
    }
}

fn deallocated_by(statement: &[Word]) -> Option<Vec<u8>> {
    let texts: Vec<&[u8]> = statement.iter().filter_map(Word::text).collect();
    match texts.as_slice() {
        [verb, name] | [verb, b"prepare", name] if *verb == VERB && *name != b"all" => {
            Some(name.to_vec())
        }
        _ => None,
    }
}

#[derive(Debug)]
enum Word {
    /// Folded to lower case where it isn't quoted.
    Text(Vec<u8>),
    /// The semicolon.
    End,
}

impl Word {
    fn text(&self) -> Option<&[u8]> {
        match self {
            Self::Text(text) => Some(text),
            Self::End => None,
        }
    }
}

struct Words<'a> {
    rest: &'a [u8],
}

impl Iterator for Words<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        self.rest = self.rest.trim_ascii_start();
        let first = *self.rest.first()?;
        if first == b';' {
            self.rest = &self.rest[1..];
            return Some(Word::End);
        }
        if first == b'"' || first == b'\'' {
            return Some(Word::Text(self.quoted(first)));
        }
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b';' | b'"' | b'\'');
        let end = self.rest.iter().position(is_end).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(Word::Text(word.to_ascii_lowercase()))
    }
}

impl Words<'_> {
    /// What stands between quotes; two of them within are one.
    fn quoted(&mut self, quote: u8) -> Vec<u8> {
        let mut text = Vec::new();
        self.rest = &self.rest[1..];
        while let Some((byte, rest)) = self.rest.split_first() {
            self.rest = rest;
            if *byte != quote {
                text.push(*byte);
            } else if rest.first() == Some(&quote) {
                text.push(quote);
                self.rest = &rest[1..];
            } else {
                break;
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::deallocated;

    fn names(sql: &str) -> Vec<String> {
        let names = deallocated(sql.as_bytes());
        names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    }

    #[test]
    fn names_are_found_as_the_server_reads_them() {
        assert_eq!(names("DEALLOCATE S_1"), ["s_1"]);
        assert_eq!(
            names("deallocate prepare \"A;\"\"b\"; SELECT ';'; DEALLOCATE c;"),
            ["A;\"b", "c"]
        );
        assert_eq!(names("DEALLOCATE ALL; SELECT 'DEALLOCATE x'"), [""; 0]);
        assert_eq!(names("DEALLOCATE \"open"), ["open"]);
        assert_eq!(names(";;'"), [""; 0]);
    }
}
