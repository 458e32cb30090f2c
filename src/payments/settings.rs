//! What the command line says: where the provider listens, what it remembers in, how it misbehaves.
//!
//! Shares are drawn for each request of an id from the seed, the id and its number among the
//! requests of that id. So a run with the same seed meets the same fates in whatever order the
//! requests arrive, and a retry is drawn anew.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::Args;

/// Serve the payment provider stub.
#[derive(Debug, Clone, Args)]
pub struct PaymentsArgs {
    /// Where to serve charges, on loopback; port 0 takes a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8090")]
    pub listen: SocketAddr,

    /// Where to take orders about the next charges, on loopback
    #[arg(long, value_name = "ADDRESS")]
    pub control_listen: Option<SocketAddr>,

    /// Where every request and effect is a JSON line; read back at the start
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,

    #[command(flatten)]
    pub habits: Habits,
}

/// How charges are met that nothing was ordered for.
#[derive(Debug, Clone, Args)]
pub struct Habits {
    /// How long every charge takes
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = parse_duration)]
    pub delay: Duration,

    /// The share of charges answered with 500, without an effect
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = parse_share)]
    pub fail_share: f64,

    /// The share of charges answered with 500 although they took effect
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = parse_share)]
    pub fail_after_share: f64,

    /// The share of charges that take effect and whose connection is then dropped
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = parse_share)]
    pub drop_share: f64,

    /// The share of charges that are declined
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = parse_share)]
    pub decline_share: f64,

    /// Decides which charges those are
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

const UNITS: [(&str, u64); 3] = [("ms", 1), ("s", 1_000), ("m", 60_000)];

/// `200ms`, `2s`, `1m`.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
    let (number, unit) = text.split_at(digits);
    let ms_per_unit = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, ms)| ms);
    number
        .parse::<u64>()
        .ok()
        .zip(ms_per_unit)
        .and_then(|(number, ms)| number.checked_mul(*ms))
        .map(Duration::from_millis)
        .ok_or_else(|| "a whole number with a unit is needed: 200ms, 2s, 1m".to_owned())
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("a share is a number from 0 to 1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_has_a_unit_and_a_share_is_a_part_of_one() {
        assert_eq!(parse_duration("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(parse_duration("2s"), Ok(Duration::from_secs(2)));
        for text in ["5", "ms", "", "1.5s", "5h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        assert_eq!(parse_share("0.25"), Ok(0.25));
        for text in ["1.1", "-0.1", "NaN", "half"] {
            assert!(parse_share(text).is_err(), "{text}");
        }
    }
}
