//! Step patterns: a step's name, or the beginning of one, `WIRE VERB OBJECT #n`.
//!
//! Beside the grammar stand the verbs that steps are known to have, so that a slip is told at once and
//! not by a fault that never fires. Redis has modules and HTTP has methods of its own: there only what is
//! nearly a known verb is a slip.

use std::ops::Range;

use super::fault::StepPattern;
use super::shape::{Problem, TextRule};
use super::suggest::closest;
use super::verbs::{ALIASES, HTTP, POSTGRES, POSTGRES_NOISE, REDIS, REDIS_NOISE};
use crate::codes;
use crate::history::Wire;

const HELP: &str = "its wire, its verb in capitals, what it is done to, which one of its intent: \
                    `postgres COMMIT`, `redis EVAL unlock`, `redis SET lock:stock #2`; `*` is any verb";

pub static STEP_PATTERN: TextRule = TextRule {
    wanted: "a step's name, or the beginning of one",
    pattern: r"^(\*|(redis|postgres|http) (\*|[A-Z][A-Z0-9._-]*)( [^\u0000-\u0020\u007f#]+)*( #[1-9][0-9]{0,8})?)$",
    code: &codes::STEP_PATTERN,
    problem,
};

/// Reads a pattern that the rule finds nothing wrong with; none where it is `*` alone.
pub fn read(text: &str) -> Option<StepPattern> {
    let (wire, rest) = text.split_once(' ')?;
    let wire = Wire::ALL.into_iter().find(|known| known.name() == wire)?;
    let (rest, number) = match rest.rsplit_once(" #") {
        Some((rest, number)) => (rest, number.parse().ok()),
        None => (rest, None),
    };
    let (verb, object) = rest.split_once(' ').map_or((rest, None), |(verb, to)| (verb, Some(to)));
    // The one verb of two words.
    let (verb, object) = match (wire, verb, object) {
        (Wire::Postgres, "ROLLBACK", Some("TO")) => ("ROLLBACK TO", None),
        (Wire::Postgres, "ROLLBACK", Some(to)) => match to.strip_prefix("TO ") {
            Some(savepoint) => ("ROLLBACK TO", Some(savepoint)),
            None => (verb, object),
        },
        _ => (verb, object),
    };
    Some(StepPattern {
        wire,
        verb: (verb != "*").then(|| verb.to_owned()),
        object: object.map(str::to_owned),
        number,
    })
}

fn problem(text: &str) -> Option<Problem> {
    if text == "*" {
        return None;
    }
    let (wire, rest) = text.split_once(' ').unwrap_or((text, ""));
    let Some(known) = Wire::ALL.into_iter().find(|known| known.name() == wire) else {
        return Some(no_wire(wire));
    };
    let start = text.len() - rest.len();
    let (verb, rest) = rest.split_once(' ').map_or((rest, None), |(verb, to)| (verb, Some(to)));
    if let Some((label, help)) = no_verb(known, verb) {
        return Some(Problem { range: start..start + verb.len(), label, help });
    }
    object(rest?, start + verb.len() + 1)
}

fn no_wire(wire: &str) -> Problem {
    let help = match closest(wire, Wire::ALL.map(Wire::name)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if wire.eq_ignore_ascii_case("payments") => {
            "steps of a payment provider begin with `http`".to_owned()
        }
        None => HELP.to_owned(),
    };
    Problem { range: 0..wire.len(), label: "not `redis`, `postgres` or `http`".to_owned(), help }
}

/// What is wrong with a verb, and what to do.
fn no_verb(wire: Wire, verb: &str) -> Option<(String, String)> {
    if verb == "*" {
        return None;
    }
    if verb.is_empty() {
        return Some((
            "its verb is missing".to_owned(),
            format!("`{} *` is any verb", wire.name()),
        ));
    }
    let (known, noise) = match wire {
        Wire::Redis => (REDIS, REDIS_NOISE),
        Wire::Postgres => (POSTGRES, POSTGRES_NOISE),
        Wire::Http => (HTTP, &[] as &[&str]),
    };
    let capitals = verb.to_ascii_uppercase();
    let is_right = |at: usize, c: char| match c {
        'A'..='Z' => true,
        '0'..='9' | '.' | '_' | '-' => at > 0,
        _ => false,
    };
    if verb.char_indices().any(|(at, c)| !is_right(at, c)) {
        let help = match known.contains(&&*capitals) {
            true => format!("write `{capitals}`"),
            false => HELP.to_owned(),
        };
        return Some(("not a verb in capitals".to_owned(), help));
    }
    if known.contains(&verb) {
        return None;
    }
    if noise.contains(&verb) {
        let help = "no fault can fire at it: name a step that does something".to_owned();
        return Some(("this only keeps a connection going".to_owned(), help));
    }
    let mut aliases = ALIASES.iter().filter(|(_, name)| known.contains(name));
    if let Some((_, name)) = aliases.find(|(alias, _)| *alias == verb) {
        return Some((format!("its steps are called `{name}`"), format!("write `{name}`")));
    }
    match closest(verb, known.iter().copied()) {
        Some(meant) => Some(("not a verb".to_owned(), format!("did you mean `{meant}`?"))),
        None if wire == Wire::Postgres => Some(("not a verb of SQL".to_owned(), HELP.to_owned())),
        None => None,
    }
}

/// What the step is done to and its number; `begins` is their place.
fn object(text: &str, begins: usize) -> Option<Problem> {
    let at = |range: Range<usize>, label: &str, help: &str| {
        Some(Problem { range, label: label.to_owned(), help: help.to_owned() })
    };
    let mut start = begins;
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        let range = start..start + word.len();
        start = range.end + 1;
        if word.is_empty() {
            let blank = range.start - 1..range.start;
            return at(blank, "a blank too many", "one blank between two words, none at the end");
        }
        if let Some(number) = word.strip_prefix('#') {
            let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            if !digits || number.starts_with('0') || number.len() > 9 {
                let help = "`#1` is the first such step of its intent, `#2` the second";
                return at(range, "not the number of a step", help);
            }
            if words.peek().is_some() {
                return at(range, "a number in the middle", "the number comes last");
            }
        } else if let Some(odd) = word.find(|c: char| c.is_control() || c == '#') {
            let odd = range.start + odd..range.start + odd + 1;
            return at(odd, "not in the name of any step", HELP);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_the_same() {
        for text in [
            "postgres COMMIT",
            "postgres COMMIT #2",
            "postgres UPDATE product_stock #1",
            "postgres ROLLBACK TO sp #3",
            "postgres ROLLBACK TO",
            "redis *",
            "redis * lock:stock",
            "redis * #2",
            "redis EVAL unlock lock:stock",
            "redis JSON.SET cart",
            "http POST /orders/{}/pay",
        ] {
            assert_eq!(problem(text), None, "{text}");
            assert_eq!(read(text).expect("a pattern").to_string(), text);
        }
        assert_eq!((problem("*"), read("*")), (None, None));
    }

    #[test]
    fn a_pattern_fits_names_that_begin_with_it() {
        let fits = |pattern: &str, verb: &str, object: Option<&str>| {
            let pattern = read(pattern).expect("a pattern");
            pattern.fits(pattern.wire, verb, object)
        };
        assert!(fits("redis EVAL unlock", "EVAL", Some("unlock lock:stock")));
        assert!(fits("redis * lock", "SET", Some("lock:stock")));
        assert!(!fits("redis * lock", "SET", Some("locked")));
        assert!(fits("postgres ROLLBACK TO sp", "ROLLBACK TO", Some("sp")));
        assert!(!fits("postgres ROLLBACK", "ROLLBACK TO", Some("sp")));
        assert!(!fits("postgres UPDATE stock", "UPDATE", None));
    }

    #[test]
    fn slips_are_told_at_their_place() {
        for (text, place, told) in [
            ("reids SET lock", "reids", "did you mean `redis`?"),
            ("payments POST /charges", "payments", "begin with `http`"),
            ("redis", "", "`redis *`"),
            ("redis set lock", "set", "write `SET`"),
            ("redis SETT lock", "SETT", "did you mean `SET`?"),
            ("redis EVALSHA unlock", "EVALSHA", "write `EVAL`"),
            ("redis PING", "PING", "no fault can fire"),
            ("postgres COMIT", "COMIT", "did you mean `COMMIT`?"),
            ("postgres END", "END", "write `COMMIT`"),
            ("postgres FROBNICATE", "FROBNICATE", "its wire"),
            ("postgres SHOW", "SHOW", "no fault can fire"),
            ("postgres COMMIT #0", "#0", "`#1` is the first"),
            ("postgres COMMIT #1 x", "#1", "comes last"),
            ("postgres INSERT  orders", " ", "one blank"),
            ("redis SET a#b", "#", "its wire"),
        ] {
            let problem = problem(text).unwrap_or_else(|| panic!("{text} is right"));
            assert_eq!(text.get(problem.range.clone()), Some(place), "{text}");
            assert!(problem.help.contains(told), "{text}: {}", problem.help);
        }
    }
}
