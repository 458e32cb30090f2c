//! What a text of SQL does, told by its words: its verb, and what it is done to.
//!
//! No parser: a step has to be named at the price of a look, whatever dialect or extension the text is
//! written in. Texts of several statements are named by their first effect.

/// What a text is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named<'a> {
    pub(super) verb: &'static str,
    /// A table, or a function that is called.
    pub(super) object: Option<&'a str>,
    /// Whether it only says something about the connection.
    pub(super) is_noise: bool,
}

/// Verbs that say something about the connection and nothing about data.
const NOISE: [&str; 9] =
    ["DEALLOCATE", "DISCARD", "SET", "SHOW", "RESET", "LISTEN", "UNLISTEN", "CLOSE", "EXPLAIN"];

/// Verbs that are told as they are; the second word is what they are done to.
const PLAIN: [&str; 22] = [
    "SAVEPOINT",
    "RELEASE",
    "TRUNCATE",
    "LOCK",
    "CALL",
    "DO",
    "NOTIFY",
    "VACUUM",
    "ANALYZE",
    "CREATE",
    "ALTER",
    "DROP",
    "GRANT",
    "REVOKE",
    "PREPARE",
    "EXECUTE",
    "DECLARE",
    "FETCH",
    "MOVE",
    "VALUES",
    "TABLE",
    "REFRESH",
];

/// Words between such a verb and the name.
const BEFORE_A_NAME: [&str; 10] = [
    "TABLE",
    "INDEX",
    "UNIQUE",
    "ONLY",
    "SAVEPOINT",
    "IF",
    "NOT",
    "EXISTS",
    "TEMP",
    "CONCURRENTLY",
];

/// None for a text whose first word isn't one of SQL's.
pub(super) fn named(sql: &str) -> Option<Named<'_>> {
    let mut words = Words { rest: sql };
    let mut first = None;
    loop {
        let Some(one) = statement(&mut words) else { return first };
        let is_effect = matches!(one.verb, "INSERT" | "UPDATE" | "DELETE" | "MERGE" | "COPY");
        if is_effect {
            return Some(one);
        }
        first = match first {
            // A transaction's ends, and what is said about the connection, matter less than the rest.
            Some(
                Named { verb: "BEGIN" | "COMMIT" | "ROLLBACK", .. } | Named { is_noise: true, .. },
            ) if !one.is_noise => Some(one),
            None => Some(one),
            first => first,
        };
    }
}

/// The next statement, up to its semicolon.
fn statement<'a>(words: &mut Words<'a>) -> Option<Named<'a>> {
    let first = loop {
        match words.next()? {
            Word::Name(word) => break word,
            Word::Sign(b';' | b'(') => {}
            Word::Sign(_) | Word::Other => return None,
        }
    };
    let mut named = match verb(first)? {
        "SELECT" => select(words),
        "INSERT" => effect(words, "INSERT", &["INTO"]),
        "MERGE" => effect(words, "MERGE", &["INTO"]),
        "DELETE" => effect(words, "DELETE", &["FROM", "ONLY"]),
        "UPDATE" => effect(words, "UPDATE", &["ONLY"]),
        "COPY" => effect(words, "COPY", &[]),
        "WITH" => with(words),
        "ROLLBACK" => rollback(words),
        verb @ ("BEGIN" | "COMMIT") => bare(verb),
        verb if NOISE.contains(&verb) => Named { is_noise: true, ..bare(verb) },
        verb => effect(words, verb, &BEFORE_A_NAME),
    };
    if named.verb == "SELECT" && named.object.is_some_and(|it| it == "pg_advisory_unlock_all") {
        named.is_noise = true;
    }
    words.skip_statement();
    Some(named)
}

const fn bare(verb: &'static str) -> Named<'static> {
    Named { verb, object: None, is_noise: false }
}

/// One name for each verb.
fn verb(word: &str) -> Option<&'static str> {
    const OTHERS: [(&str, &str); 14] = [
        ("SELECT", "SELECT"),
        ("INSERT", "INSERT"),
        ("UPDATE", "UPDATE"),
        ("DELETE", "DELETE"),
        ("BEGIN", "BEGIN"),
        ("START", "BEGIN"),
        ("COMMIT", "COMMIT"),
        ("END", "COMMIT"),
        ("ROLLBACK", "ROLLBACK"),
        ("ABORT", "ROLLBACK"),
        ("WITH", "WITH"),
        ("MERGE", "MERGE"),
        ("COPY", "COPY"),
        ("CHECKPOINT", "CHECKPOINT"),
    ];
    let is = |known: &&str| known.eq_ignore_ascii_case(word);
    let other = OTHERS.iter().find(|(known, _)| is(known)).map(|(_, verb)| *verb);
    other.or_else(|| NOISE.iter().chain(&PLAIN).find(|known| is(known)).copied())
}

/// The name that follows the verb and these words.
fn effect<'a>(words: &mut Words<'a>, verb: &'static str, between: &[&str]) -> Named<'a> {
    let object = words.find_map_while(|word| match word {
        Word::Name(name) if between.iter().any(|it| it.eq_ignore_ascii_case(name)) => Look::On,
        Word::Name(name) => Look::Found(name),
        _ => Look::Stop,
    });
    Named { verb, object, is_noise: false }
}

fn rollback<'a>(words: &mut Words<'a>) -> Named<'a> {
    let to = words.find_map_while(|word| match word {
        Word::Name(name)
            if ["WORK", "TRANSACTION"].iter().any(|it| it.eq_ignore_ascii_case(name)) =>
        {
            Look::On
        }
        Word::Name(name) if name.eq_ignore_ascii_case("TO") => Look::Found(name),
        _ => Look::Stop,
    });
    match to {
        Some(_) => effect(words, "ROLLBACK TO", &["SAVEPOINT"]),
        None => bare("ROLLBACK"),
    }
}

/// The first table that it reads, or the first function that it calls.
fn select<'a>(words: &mut Words<'a>) -> Named<'a> {
    let (mut last, mut function, mut is_from) = (None, None, false);
    let mut is_bare = true;
    let table = words.find_map_while(|word| match word {
        Word::Sign(b';') => Look::Stop,
        Word::Name(name) if is_from && !name.eq_ignore_ascii_case("ONLY") => Look::Found(name),
        Word::Name(name) => {
            is_bare = false;
            is_from |= name.eq_ignore_ascii_case("FROM");
            last = Some(name);
            Look::On
        }
        Word::Sign(b'(') => {
            // FROM a function, or a query within.
            if let Some(name) = last.take() {
                function.get_or_insert(name);
            }
            is_from = false;
            Look::On
        }
        Word::Sign(_) | Word::Other => {
            last = None;
            Look::On
        }
    });
    Named { verb: "SELECT", object: table.or(function), is_noise: is_bare && table.is_none() }
}

/// Named by the first effect within, or by what it selects from in the end.
fn with<'a>(words: &mut Words<'a>) -> Named<'a> {
    let start = words.rest;
    while let Some(word) = words.next() {
        match word {
            Word::Name(name) if name.eq_ignore_ascii_case("INSERT") => {
                return effect(words, "INSERT", &["INTO"]);
            }
            Word::Name(name) if name.eq_ignore_ascii_case("UPDATE") => {
                return effect(words, "UPDATE", &["ONLY"]);
            }
            Word::Name(name) if name.eq_ignore_ascii_case("DELETE") => {
                return effect(words, "DELETE", &["FROM", "ONLY"]);
            }
            Word::Sign(b';') => break,
            _ => {}
        }
    }
    words.rest = start;
    Named { is_noise: false, ..select(words) }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word<'a> {
    /// A key word or a name, with its schema, without quotes where it is quoted as a whole.
    Name(&'a str),
    Sign(u8),
    /// A literal, a number or a parameter.
    Other,
}

enum Look<'a> {
    On,
    Found(&'a str),
    Stop,
}

struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    fn find_map_while(&mut self, mut look: impl FnMut(Word<'a>) -> Look<'a>) -> Option<&'a str> {
        loop {
            let before = self.rest;
            match look(self.next()?) {
                Look::On => {}
                Look::Found(name) => return Some(name),
                Look::Stop => {
                    self.rest = before;
                    return None;
                }
            }
        }
    }

    fn skip_statement(&mut self) {
        let _ = self.find(|word| *word == Word::Sign(b';'));
    }

    fn take(&mut self, count: usize) -> &'a str {
        let mut end = count.min(self.rest.len());
        while !self.rest.is_char_boundary(end) {
            end += 1;
        }
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn skip_space(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            if self.rest.starts_with("--") {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.take(end);
            } else if self.rest.starts_with("/*") {
                let end = self.rest.find("*/").map_or(self.rest.len(), |at| at + 2);
                self.take(end);
            } else {
                return;
            }
        }
    }

    /// A text up to its closing quote; doubled ones stand for themselves.
    fn quoted(&mut self, quote: u8) -> &'a str {
        let bytes = self.rest.as_bytes();
        let mut at = 1;
        while at < bytes.len() {
            if bytes[at] == quote {
                if bytes.get(at + 1) != Some(&quote) {
                    break;
                }
                at += 1;
            }
            at += 1;
        }
        self.take(at + 1)
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        self.skip_space();
        let first = *self.rest.as_bytes().first()?;
        let is_part =
            |byte: u8| byte.is_ascii_alphanumeric() || b"_$.\"".contains(&byte) || byte >= 128;
        Some(match first {
            b'\'' => {
                self.quoted(b'\'');
                Word::Other
            }
            b'$' if self.rest.as_bytes().get(1).is_some_and(|byte| !byte.is_ascii_digit()) => {
                // A text between dollar signs: its end has the same tag.
                let tag = self.rest[1..].find('$').map_or(1, |end| end + 2);
                let tag = self.take(tag);
                let end = self.rest.find(tag).map_or(self.rest.len(), |at| at + tag.len());
                self.take(end);
                Word::Other
            }
            b'0'..=b'9' | b'$' => {
                let end = self.rest.bytes().position(|byte| !is_part(byte));
                self.take(end.unwrap_or(self.rest.len()).max(1));
                Word::Other
            }
            b'"' => {
                let name = self.quoted(b'"');
                if self.rest.starts_with('.') {
                    // A schema: the table's name tells more.
                    self.take(1);
                    return self.next();
                }
                Word::Name(name.trim_matches('"'))
            }
            byte if is_part(byte) => {
                let end = self.rest.bytes().position(|byte| !is_part(byte) || byte == b'"');
                let name = self.take(end.unwrap_or(self.rest.len()).max(1));
                if name.ends_with('.') && self.rest.starts_with('"') {
                    return self.next();
                }
                Word::Name(name)
            }
            sign => {
                self.take(1);
                Word::Sign(sign)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_named_by_what_they_do_and_to_what() {
        for (sql, verb, object) in [
            ("BEGIN", "BEGIN", ""),
            ("begin;", "BEGIN", ""),
            ("START TRANSACTION ISOLATION LEVEL SERIALIZABLE", "BEGIN", ""),
            ("END", "COMMIT", ""),
            ("ROLLBACK", "ROLLBACK", ""),
            ("ROLLBACK WORK TO SAVEPOINT a", "ROLLBACK TO", "a"),
            ("/* hint */ -- more\n insert INTO \"Orders\" (id) VALUES ($1)", "INSERT", "Orders"),
            ("UPDATE ONLY shop.stock SET n = n - 1", "UPDATE", "shop.stock"),
            ("UPDATE \"shop\".\"stock\" SET n = 1", "UPDATE", "stock"),
            ("DELETE FROM orders WHERE id = 1", "DELETE", "orders"),
            ("SELECT a, count(*) FROM orders o JOIN x USING (id)", "SELECT", "orders"),
            ("SELECT * FROM (SELECT id FROM inner_one) AS i", "SELECT", "inner_one"),
            ("SELECT pg_advisory_xact_lock($1)", "SELECT", "pg_advisory_xact_lock"),
            ("SELECT 'from here' , extract(year from now())", "SELECT", "now"),
            (
                "WITH a AS (SELECT 1), b AS (UPDATE stock SET n = 0 RETURNING n) INSERT INTO o SELECT 1",
                "UPDATE",
                "stock",
            ),
            ("WITH a AS (SELECT id FROM stock) SELECT * FROM a", "SELECT", "stock"),
            ("BEGIN; INSERT INTO orders VALUES (1); COMMIT", "INSERT", "orders"),
            ("BEGIN; SELECT n FROM stock", "SELECT", "stock"),
            ("COPY pgbench_accounts FROM STDIN", "COPY", "pgbench_accounts"),
            ("CREATE UNIQUE INDEX one ON orders (id)", "CREATE", "one"),
            ("CREATE TABLE IF NOT EXISTS orders (id bigint)", "CREATE", "orders"),
            ("DO $x$ BEGIN RAISE; END $x$; SELECT 1", "DO", ""),
            ("CALL place_order($1)", "CALL", "place_order"),
        ] {
            let named = named(sql).unwrap_or_else(|| panic!("{sql}"));
            assert_eq!((named.verb, named.object.unwrap_or("")), (verb, object), "{sql}");
            assert!(!named.is_noise, "{sql}");
        }
    }

    #[test]
    fn what_is_said_about_the_connection_is_noise() {
        for sql in [
            "SELECT 1",
            "DEALLOCATE ALL",
            "SET search_path = shop",
            "SELECT pg_advisory_unlock_all();\nCLOSE ALL;\nUNLISTEN *;\nRESET ALL;",
            "show server_version",
        ] {
            assert!(named(sql).is_some_and(|named| named.is_noise), "{sql}");
        }
    }

    #[test]
    fn whatever_is_sent_is_no_error() {
        for sql in ["", ";", "dupeproof injected", "'", "$$", "$a", "\"", "$1", "/*", "é€", "WITH"]
        {
            let _ = named(sql);
        }
        assert_eq!(named("dupeproof injected"), None);
    }
}
