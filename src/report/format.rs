//! Numbers as people read them: three significant digits with a unit, thousands separated; names
//! as a shell reads them.

use std::time::Duration;

use crate::audit::span;
pub use crate::audit::{plural as counted, thousands};

/// `148 ms`, `1.25 s`, `431 us`.
pub fn duration_us(us: u64) -> String {
    span(Duration::from_micros(us))
}

/// A word as a shell takes it: quoted only where it must be.
pub fn shell(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+=:,@".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Words filled into lines; line ends of the text stay, and so does a line that is set in.
pub fn filled(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.trim_end().lines() {
        if paragraph.starts_with(' ') {
            lines.push(paragraph.to_owned());
            continue;
        }
        // Further lines of a point stand below its text, not below its dash.
        let indent = if paragraph.starts_with("- ") { "  " } else { "" };
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.len() + 1 + word.len() > width {
                lines.push(std::mem::replace(&mut line, indent.to_owned()));
            }
            if !line.trim().is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_significant_digits_and_a_unit() {
        let shown: Vec<_> = [0, 999, 1_000, 1_254, 12_540, 148_200, 999_960, 1_250_000, 14_049_000]
            .map(duration_us)
            .into();
        assert_eq!(
            shown,
            [
                "0 us", "999 us", "1.00 ms", "1.25 ms", "12.5 ms", "148 ms", "1.00 s", "1.25 s",
                "14.0 s"
            ]
        );
    }

    #[test]
    fn a_word_with_blanks_and_quotes_can_be_pasted_into_a_shell() {
        assert_eq!(shell("results/a-1.toml"), "results/a-1.toml");
        assert_eq!(shell("a b's"), r"'a b'\''s'");
        assert_eq!(shell(""), "''");
    }
}
