//! Reads the durations of the command line: `5ms`, `2s`, `10m`, `24h`.
//!
//! Whole numbers with one unit, nothing else: a bare `5` is refused, because whoever types it
//! knows whether milliseconds or seconds were meant, and the program doesn't.

use std::time::Duration;

const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

/// A duration; zero is fine (a bound of zero means "try once").
pub fn parse(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
    let (number, unit) = text.split_at(digits);
    let ms_per_unit = UNITS.iter().find(|(name, _)| *name == unit);
    let (Ok(number), Some((_, ms_per_unit))) = (number.parse::<u64>(), ms_per_unit) else {
        return Err("a whole number with a unit is needed: 5ms, 2s, 10m, 24h".to_owned());
    };
    number
        .checked_mul(*ms_per_unit)
        .map(Duration::from_millis)
        .ok_or_else(|| "longer than a time can be".to_owned())
}

/// A duration of at least a millisecond, the shortest life that Redis can give a key.
pub fn parse_nonzero(text: &str) -> Result<Duration, String> {
    match parse(text)? {
        Duration::ZERO => Err("at least 1ms is needed".to_owned()),
        duration => Ok(duration),
    }
}

/// Whole milliseconds, as `PX` and `PEXPIRE` take them.
pub fn as_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_read() {
        assert_eq!(parse("5ms"), Ok(Duration::from_millis(5)));
        assert_eq!(parse("2s"), Ok(Duration::from_secs(2)));
        assert_eq!(parse("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(parse("24h"), Ok(Duration::from_secs(86_400)));
    }

    #[test]
    fn a_number_without_a_unit_and_a_unit_without_a_number_are_refused() {
        for text in [
            "5",
            "ms",
            "",
            "1.5s",
            "-1s",
            "5 ms",
            "5d",
            "99999999999999999h",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_lease_of_zero_is_refused_and_a_wait_of_zero_is_not() {
        assert!(parse_nonzero("0s").is_err());
        assert_eq!(parse("0s"), Ok(Duration::ZERO));
    }
}
