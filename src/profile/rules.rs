//! What texts in a profile must look like: names, columns, pointers, header values.
//!
//! Each rule says what is wrong and where, and carries a regular expression for editors; a test
//! holds the two together.

use super::shape::{Problem, TextRule};
use crate::codes;

pub use super::urls::{HOST, HTTP_URL, LISTEN_ADDRESS, POSTGRES_URL, REDIS_URL};

pub static LINE: TextRule = TextRule {
    wanted: "one line of text",
    pattern: r"^[^\u0000-\u001f\u007f]*[^\u0000-\u0020\u007f][^\u0000-\u001f\u007f]*$",
    code: &codes::MALFORMED_TEXT,
    problem: |text| {
        if text.chars().all(|c| c == ' ') {
            return problem(text, 0, "this is empty", "write a few words");
        }
        first(text, |_, c| !c.is_ascii_control())
            .and_then(|at| problem(text, at, "a control character", "write it as one plain line"))
    },
};

pub static REQUEST_NAME: TextRule = TextRule {
    wanted: "a request's name",
    pattern: r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$",
    code: &codes::MALFORMED_TEXT,
    problem: |text| {
        not_kebab(text).and_then(|at| {
            problem(text, at, "not kebab-case", "lower-case words joined by `-`, such as `place`")
        })
    },
};

pub static DEFECT: TextRule = TextRule {
    wanted: "a defect's name or number",
    pattern: r"^([a-z][a-z0-9]*(-[a-z0-9]+)*|D[0-9]{2})$",
    code: &codes::MALFORMED_TEXT,
    problem: |text| {
        let is_number = text.len() == 3
            && text.starts_with('D')
            && text[1..].bytes().all(|byte| byte.is_ascii_digit());
        not_kebab(text).filter(|_| !is_number).and_then(|at| {
            let help = "write its name (`unlock-before-commit`) or its number (`D01`)";
            problem(text, at, "not kebab-case", help)
        })
    },
};

pub static COLUMN: TextRule = TextRule {
    wanted: "a column's name",
    pattern: r"^[A-Za-z_][A-Za-z0-9_]*$",
    code: &codes::MALFORMED_TEXT,
    problem: |text| {
        not_identifier(text)
            .and_then(|at| problem(text, at, "only letters, digits and `_`", "such as `user_id`"))
    },
};

pub static TABLE: TextRule = TextRule {
    wanted: "a table's name",
    pattern: r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$",
    code: &codes::MALFORMED_TEXT,
    problem: |text| {
        let help = "such as `orders`, or with its schema `shop.orders`";
        let (first, second) = text.split_once('.').unwrap_or((text, "_"));
        let at = not_identifier(first)
            .or_else(|| not_identifier(second).map(|at| first.len() + 1 + at))?;
        problem(text, at, "only letters, digits and `_`", help)
    },
};

pub static HEADER_NAME: TextRule = TextRule {
    wanted: "a header's name",
    pattern: r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
    code: &codes::MALFORMED_TEXT,
    problem: |text| {
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if let Some(at) = first(text, |_, c| is_token(c)).or(text.is_empty().then_some(0)) {
            return problem(
                text,
                at,
                "not allowed in a header's name",
                "such as `Idempotency-Key`",
            );
        }
        let framing = ["connection", "content-length", "expect", "transfer-encoding"];
        framing.contains(&text.to_ascii_lowercase().as_str()).then(|| Problem {
            range: 0..text.len(),
            label: "written by dupeproof itself".to_owned(),
            help: "leave it out: it follows from the body and the connection".to_owned(),
        })
    },
};

pub static HEADER_VALUE: TextRule = TextRule {
    wanted: "a header's value",
    pattern: r"^[\t -~]*$",
    code: &codes::MALFORMED_TEXT,
    problem: |text| {
        first(text, |_, c| c == '\t' || (' '..='~').contains(&c)).and_then(|at| {
            problem(text, at, "not allowed in a header", "printable ASCII characters only")
        })
    },
};

pub static REQUEST_PATH: TextRule = TextRule {
    wanted: "a path",
    pattern: r##"^/[!"$-~]*$"##,
    code: &codes::MALFORMED_TEXT,
    problem: |text| {
        if !text.starts_with('/') {
            let help = "only path and query, such as `/orders`; the host is the target's";
            return problem(text, 0, "a path begins with `/`", help);
        }
        first(text, |_, c| ('!'..='~').contains(&c) && c != '#').and_then(|at| {
            let help = "write spaces and other special characters with `%`: `%20`";
            problem(text, at, "not allowed in a path", help)
        })
    },
};

/// A path without holes.
pub static URL_PATH: TextRule = TextRule {
    wanted: "a path",
    pattern: r##"^/[!"$-~]*$"##,
    code: &codes::MALFORMED_TEXT,
    problem: |text| (REQUEST_PATH.problem)(text),
};

pub static ENV_NAME: TextRule = TextRule {
    wanted: "the name of an environment variable",
    pattern: r"^[A-Za-z_][A-Za-z0-9_]*$",
    code: &codes::MALFORMED_TEXT,
    problem: |text| {
        not_identifier(text).and_then(|at| {
            problem(text, at, "only letters, digits and `_`", "such as `DATABASE_URL`")
        })
    },
};

/// A value of the environment: anything that a process can be given.
pub static ANY: TextRule = TextRule {
    wanted: "a text",
    pattern: r"^[^\u0000]*$",
    code: &codes::MALFORMED_TEXT,
    problem: |text| {
        first(text, |_, c| c != '\0').and_then(|at| problem(text, at, "a zero byte", "take it out"))
    },
};

pub static SQL: TextRule = TextRule {
    wanted: "an SQL statement",
    pattern: r"^[^\u0000]*[^\u0000\s][^\u0000]*$",
    code: &codes::MALFORMED_TEXT,
    problem: |text| {
        if text.trim().is_empty() {
            let help = "write a statement, or take the item out";
            return problem(text, 0, "this is empty", help);
        }
        first(text, |_, c| c != '\0').and_then(|at| problem(text, at, "a zero byte", "take it out"))
    },
};

pub static POINTER: TextRule = TextRule {
    wanted: "a JSON pointer",
    pattern: r"^(/([^~/]|~[01])*)+$",
    code: &codes::POINTER,
    problem: |text| {
        if !text.starts_with('/') {
            let help = match text.strip_prefix("$.").unwrap_or(text) {
                "" => "such as `/orderId`".to_owned(),
                bare => format!("write `/{}`", bare.replace('.', "/")),
            };
            return problem(text, 0, "a JSON pointer begins with `/`", &help);
        }
        let escaped = |at: usize, c| c != '~' || text[at + 1..].starts_with(['0', '1']);
        first(text, escaped).and_then(|at| {
            let help = "RFC 6901 writes `~` as `~0`, and `/` inside a name as `~1`";
            problem(text, at, "a `~` that means nothing", help)
        })
    },
};

/// What a key of Redis may be made from.
const KEY_HOLES: [&str; 3] = ["user", "key", "product"];

/// A key of Redis with holes.
pub static REDIS_KEY: TextRule = TextRule {
    wanted: "a key of Redis with holes",
    pattern: r"^([!-z|~]|\{(user|key|product)\})+$",
    code: &codes::TEMPLATE,
    problem: |text| {
        let help = "the holes are `{user}`, `{key}` and `{product}`: `lock:stock:{product}`";
        if text.is_empty() {
            return problem(text, 0, "this is empty", help);
        }
        let mut at = 0;
        while let Some(length) =
            text[at..].find(|c: char| !c.is_ascii_graphic() || "{}".contains(c))
        {
            at += length;
            let hole = KEY_HOLES.iter().find_map(|name| {
                text[at..].strip_prefix('{')?.strip_prefix(name)?.strip_prefix('}')?;
                Some(name.len() + 2)
            });
            match hole {
                Some(length) => at += length,
                None => return problem(text, at, "not a character or a hole of a key", help),
            }
        }
        None
    },
};

pub static STEP_NAME: TextRule = TextRule {
    wanted: "a step's name",
    pattern: r"^(redis|postgres|http) [A-Z][A-Z0-9._-]*( [^\u0000-\u0020\u007f#][^\u0000-\u001f\u007f#]*)?$",
    code: &codes::MALFORMED_TEXT,
    problem: |text| {
        let help = "its wire, its verb in capitals and what it is done to: `redis SET lease:stock`";
        let (wire, rest) = text.split_once(' ').unwrap_or((text, ""));
        if !["redis", "postgres", "http"].contains(&wire) {
            return problem(text, 0, "not `redis`, `postgres` or `http`", help);
        }
        let (verb, object) =
            rest.split_once(' ').map_or((rest, None), |(verb, to)| (verb, Some(to)));
        let is_right = |at: usize, c: char| match c {
            'A'..='Z' => true,
            '0'..='9' | '.' | '_' | '-' => at > 0,
            _ => false,
        };
        let wrong = first(verb, is_right).or(verb.is_empty().then_some(0));
        if let Some(at) = wrong {
            let at = (wire.len() + 1 + at).min(text.len());
            return problem(text, at, "not a verb in capitals", help);
        }
        let object = object?;
        let begins = wire.len() + verb.len() + 2;
        if let Some(at) = object.find('#') {
            let help = "a role is for all steps of this name: leave the number out";
            return problem(text, begins + at, "the number of one step", help);
        }
        first(object, |at, c| !c.is_ascii_control() && (at > 0 || c != ' '))
            .or(object.is_empty().then_some(0))
            .and_then(|at| {
                problem(text, (begins + at).min(text.len()), "nothing that a step is done to", help)
            })
    },
};

/// The place of the first character that isn't as it should be.
fn first(text: &str, is_right: impl Fn(usize, char) -> bool) -> Option<usize> {
    text.char_indices().find(|&(at, c)| !is_right(at, c)).map(|(at, _)| at)
}

fn not_identifier(text: &str) -> Option<usize> {
    let starts = |c: char| c.is_ascii_alphabetic() || c == '_';
    first(text, |at, c| starts(c) || (at > 0 && c.is_ascii_digit()))
        .or(text.is_empty().then_some(0))
}

fn not_kebab(text: &str) -> Option<usize> {
    let is_right = |at: usize, c: char| match c {
        'a'..='z' => true,
        '0'..='9' => at > 0,
        '-' => at > 0 && text[at + 1..].starts_with(|c: char| c.is_ascii_alphanumeric()),
        _ => false,
    };
    first(text, is_right).or(text.is_empty().then_some(0))
}

/// A problem with the character at `at`.
fn problem(text: &str, at: usize, label: &str, help: &str) -> Option<Problem> {
    let length = text[at..].chars().next().map_or(0, char::len_utf8);
    Some(Problem { range: at..at + length, label: label.to_owned(), help: help.to_owned() })
}
