//! Numbers as people read them: three significant digits with a unit, thousands separated.

/// `148 ms`, `1.25 s`, `431 us`.
pub fn duration_us(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} us"),
        1_000..1_000_000 => format!("{} ms", three_digits(us as f64 / 1e3)),
        _ => format!("{} s", three_digits(us as f64 / 1e6)),
    }
}

fn three_digits(value: f64) -> String {
    if value >= 99.95 {
        thousands(value.round() as u64)
    } else if value >= 9.995 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// `4,000`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 order`, `2 orders`, `0 orders`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { many })
}

/// A word as a shell takes it: quoted only where it must be.
pub fn shell(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+=:,@".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
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
                "0 us", "999 us", "1.00 ms", "1.25 ms", "12.5 ms", "148 ms", "1,000 ms", "1.25 s",
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

    #[test]
    fn thousands_are_separated_and_plurals_right() {
        assert_eq!(thousands(4_000), "4,000");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(counted(1, "user", "users"), "1 user");
        assert_eq!(counted(22, "user", "users"), "22 users");
    }
}
