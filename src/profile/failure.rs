//! What the errors look like that a fault gives a client: SQLSTATEs, and error lines of Redis.

use super::shape::{Problem, TextRule};
use crate::codes;

/// The first two characters are its class; 00, 01 and 02 are success, warnings and the end of the data.
/// Source: PostgreSQL's appendix A, <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
pub static SQLSTATE: TextRule = TextRule {
    wanted: "the SQLSTATE of an error",
    pattern: r"^([1-9A-Z][0-9A-Z]|0[3-9A-Z])[0-9A-Z]{3}$",
    code: &codes::FAILURE,
    problem: |text| {
        let told = |range, label: &str, help: &str| {
            Some(Problem { range, label: label.to_owned(), help: help.to_owned() })
        };
        let odd = |c: char| !c.is_ascii_digit() && !c.is_ascii_uppercase();
        if text.len() != 5 || text.contains(odd) {
            let help = "such as `40001` (serialization failure), `40P01` (deadlock) or `57P01` (shut down)";
            return told(0..text.len(), "not five digits or capitals", help);
        }
        if ["00", "01", "02"].contains(&&text[..2]) {
            let help = "errors begin with class 03: `40001` is a serialization failure";
            return told(0..2, "no class of errors", help);
        }
        None
    },
};

/// An error is a line whose first word is its code.
/// Source: <https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors>.
pub static REDIS_ERROR: TextRule = TextRule {
    wanted: "an error of Redis",
    pattern: r"^[A-Z][A-Z0-9]*( [^\u0000-\u001f\u007f]*)?$",
    code: &codes::FAILURE,
    problem: |text| {
        let told = |range, label: &str, help: String| {
            Some(Problem { range, label: label.to_owned(), help })
        };
        let such = "such as `READONLY You can't write against a read only replica.`";
        if let Some(rest) = text.strip_prefix('-') {
            return told(0..1, "the minus is part of the protocol", format!("write `{rest}`"));
        }
        let word = text.split(' ').next().unwrap_or_default();
        let is_right =
            |(at, c): (usize, char)| c.is_ascii_uppercase() || (at > 0 && c.is_ascii_digit());
        if word.is_empty() || !word.char_indices().all(is_right) {
            return told(
                0..word.len(),
                "an error begins with its code in capitals",
                such.to_owned(),
            );
        }
        let odd = text.find(|c: char| c.is_ascii_control())?;
        told(odd..odd + 1, "a control character", "write it as one plain line".to_owned())
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_from_what_is_none() {
        let sqlstate = |text: &str| (SQLSTATE.problem)(text).is_none();
        assert!(
            ["40001", "40P01", "57P01", "P0001", "XX000", "08006"].iter().all(|it| sqlstate(it))
        );
        assert!(
            !["", "4000", "40p01", "400011", "00000", "01000", "02000", "4000é"]
                .iter()
                .any(|it| sqlstate(it))
        );
        let redis = |text: &str| (REDIS_ERROR.problem)(text).is_none();
        assert!(
            ["READONLY", "ERR no such thing", "OOM command not allowed"].iter().all(|it| redis(it))
        );
        assert!(
            !["", "-ERR a", "err a", " ERR", "ERR a\r\nb", "ERR\tx"].iter().any(|it| redis(it))
        );
    }
}
