//! Numbers in sentences: thousands apart, the right plural, three significant digits.
//!
//! In one place, because "1 orders" in one line of a report makes a reader doubt the others.

use std::time::Duration;

/// `4,000`.
pub fn thousands(number: impl Into<i128>) -> String {
    let number = number.into();
    let digits = number.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if number < 0 {
        text.push('-');
    }
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 order`, `4,000 orders`.
pub fn plural(number: impl Into<i128>, one: &str, many: &str) -> String {
    let number = number.into();
    format!("{} {}", thousands(number), if number == 1 { one } else { many })
}

/// `1 of 3 keys`: the noun goes with the whole.
pub(super) fn share(count: u64, of: u64, one: &str, many: &str) -> String {
    format!("{} of {}", thousands(count), plural(of, one, many))
}

/// Verb or pronoun after such a share: `1 of 3 keys has`, `2 of 3 keys have`, `0 of 1 key has`.
pub(super) const fn after_share(
    count: u64,
    of: u64,
    one: &'static str,
    many: &'static str,
) -> &'static str {
    if of == 1 { one } else { verb(count, one, many) }
}

/// Verb or pronoun after a count: `1 unit was`, `2 units were`.
pub(super) const fn verb(count: u64, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

/// `two`, up to `twelve`; digits from there.
pub fn spelled(number: u64) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    WORDS.get(number as usize).map_or_else(|| thousands(number), |&word| word.to_owned())
}

/// How often, at the end of a title: nothing for once, else `, 22 times`.
pub fn times(number: u64) -> String {
    match number {
        0 | 1 => String::new(),
        2 => ", twice".to_owned(),
        _ => format!(", {} times", thousands(number)),
    }
}

/// `12.0 ms`, `431 ms`, `1.25 s`: three significant digits.
pub fn span(time: Duration) -> String {
    let micros = time.as_micros() as f64;
    let (value, unit) = match micros {
        below if below < 1_000.0 => return format!("{} us", time.as_micros()),
        below if below < 999_500.0 => (micros / 1_000.0, "ms"),
        _ => (micros / 1_000_000.0, "s"),
    };
    let decimals = match value {
        small if small < 9.995 => 2,
        middling if middling < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

/// `1417, 1423` and, past `most`, how many are left.
pub(super) fn list<T: AsRef<str>>(items: &[T], most: usize) -> String {
    let shown: Vec<&str> = items.iter().take(most).map(AsRef::as_ref).collect();
    let rest = items.len().saturating_sub(most);
    match rest {
        0 => shown.join(", "),
        _ => format!("{} and {} more", shown.join(", "), thousands(rest as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_thousands_apart() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (-4_000, "-4,000")]
        {
            assert_eq!(thousands(number), text);
        }
    }

    #[test]
    fn one_is_singular_and_everything_else_is_not() {
        assert_eq!(plural(0, "key", "keys"), "0 keys");
        assert_eq!(plural(1, "key", "keys"), "1 key");
        assert_eq!(plural(-1, "unit", "units"), "-1 units");
        for (count, of, text) in [
            (0, 1, "0 of 1 key has"),
            (1, 1, "1 of 1 key has"),
            (0, 3, "0 of 3 keys have"),
            (1, 3, "1 of 3 keys has"),
            (2, 3, "2 of 3 keys have"),
            (0, 0, "0 of 0 keys have"),
        ] {
            let share = share(count, of, "key", "keys");
            assert_eq!(format!("{share} {}", after_share(count, of, "has", "have")), text);
        }
        assert_eq!([verb(1, "was", "were"), verb(0, "was", "were")], ["was", "were"]);
        assert_eq!(spelled(2), "two");
        assert_eq!(spelled(1_300), "1,300");
        assert_eq!([times(1), times(2), times(22)], ["", ", twice", ", 22 times"]);
    }

    #[test]
    fn spans_have_three_digits() {
        for (micros, text) in [
            (340, "340 us"),
            (1_000, "1.00 ms"),
            (12_345, "12.3 ms"),
            (431_400, "431 ms"),
            (999_600, "1.00 s"),
            (1_254_000, "1.25 s"),
        ] {
            assert_eq!(span(Duration::from_micros(micros)), text);
        }
    }

    #[test]
    fn long_lists_say_how_long() {
        assert_eq!(list(&["a", "b"], 3), "a, b");
        assert_eq!(list(&["a", "b", "c", "d"], 2), "a, b and 2 more");
    }
}
