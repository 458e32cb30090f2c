//! Durations (`500ms`, `2s`, `24h`) and sizes (`64KiB`), read and written.
//!
//! One number, one unit: `1m30s` has no meaning here, so that what is written back is what was read.

use std::time::Duration;

const DURATIONS: [(&str, u64); 6] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

const SIZES: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

/// As regular expressions, for editors.
pub const DURATION_PATTERN: &str = "^[0-9]+(h|m|s|ms|us|ns)$";
pub const SIZE_PATTERN: &str = "^[0-9]+(GiB|MiB|KiB|B)$";

/// Reads `500ms`; the error says what would be right.
pub fn duration(text: &str) -> Result<Duration, String> {
    amount(text, &DURATIONS, "`500ms`, `2s`, `5m` or `24h`").map(Duration::from_nanos)
}

/// Reads `64KiB` to bytes; the error says what would be right.
pub fn size(text: &str) -> Result<u64, String> {
    amount(text, &SIZES, "`4096`, `\"64KiB\"` or `\"1MiB\"`")
}

pub fn write_duration(value: Duration) -> String {
    let nanos = u64::try_from(value.as_nanos()).unwrap_or(u64::MAX);
    written(nanos, &DURATIONS, "s")
}

pub fn write_size(bytes: u64) -> String {
    written(bytes, &SIZES, "B")
}

/// In the largest unit that divides it.
fn written(value: u64, units: &[(&str, u64)], of_zero: &str) -> String {
    let fits = |&&(_, scale): &&(&str, u64)| value.is_multiple_of(scale);
    match units.iter().find(fits).filter(|_| value > 0) {
        Some((unit, scale)) => format!("{}{unit}", value / scale),
        None => format!("0{of_zero}"),
    }
}

fn amount(text: &str, units: &[(&str, u64)], examples: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale = |wanted: &str| units.iter().find(|(name, _)| *name == wanted).map(|&(_, s)| s);
    if let (Ok(number), Some(scale)) = (number.parse::<u64>(), scale(unit)) {
        return number.checked_mul(scale).ok_or_else(|| "that is too much to count".to_owned());
    }
    Err(fraction(text, units)
        .or_else(|| tidy(text, number, units))
        .unwrap_or_else(|| format!("write a whole number and its unit: {examples}")))
}

/// `1.5s` is `1500ms`.
fn fraction(text: &str, units: &[(&str, u64)]) -> Option<String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let number = text[..end].parse::<f64>().ok()?;
    let (_, scale) = units.iter().find(|(name, _)| *name == text[end..].trim())?;
    let exact = number * (*scale as f64);
    (exact.fract() == 0.0 && exact < 9e15)
        .then(|| format!("whole numbers only: write `{}`", written(exact as u64, units, "s")))
}

/// `5 sec` is `5s`: blanks, capitals and long names of units.
fn tidy(text: &str, number: &str, units: &[(&str, u64)]) -> Option<String> {
    let unit = text[number.len()..].trim().to_ascii_lowercase();
    let short = match unit.as_str() {
        "sec" | "secs" | "second" | "seconds" => "s",
        "min" | "mins" | "minute" | "minutes" => "m",
        "hour" | "hours" | "hr" => "h",
        "msec" | "millis" | "milliseconds" => "ms",
        "µs" | "usec" | "micros" => "us",
        "k" | "kb" => "KiB",
        "mb" => "MiB",
        "g" | "gb" => "GiB",
        "m" if units.iter().any(|(name, _)| *name == "MiB") => "MiB",
        other => other,
    };
    let (unit, _) = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(short))?;
    (!number.is_empty()).then(|| format!("write `{number}{unit}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_the_same() {
        for nanos in [0, 1, 1_500, 1_000_000, 90_000_000_000, 86_400_000_000_000, 1_000_000_001] {
            let value = Duration::from_nanos(nanos);
            assert_eq!(duration(&write_duration(value)), Ok(value));
            assert_eq!(size(&write_size(nanos)), Ok(nanos));
        }
        assert_eq!(write_duration(Duration::from_secs(86_400)), "24h");
        assert_eq!(write_size(3 << 20), "3MiB");
    }

    #[test]
    fn near_misses_are_told_what_is_right() {
        assert_eq!(duration("1.5s").unwrap_err(), "whole numbers only: write `1500ms`");
        assert_eq!(duration("5 seconds").unwrap_err(), "write `5s`");
        assert_eq!(size("64kb").unwrap_err(), "write `64KiB`");
        for wrong in ["", "5", "s", "-1s", "1m30s", "ten", "99999999999999999999s", "9999999999h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
